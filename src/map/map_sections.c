/* SPDX-License-Identifier: BSD-3-Clause
 * map_sections.c: recursive multisection along the tree: the vertices are divided among the outermost groups with a small
 * cut, exactly as many to each as it has leaves, then within each group among the next inner ones.
 *
 * A division into k groups is made of bisections (halves of the list of groups) and then refined between neighbouring
 * groups. Cost: O(edges * log(leaves)).
 * Source: Schulz and Träff, "Better process mapping and sparse quadratic assignment", SEA 2017 (top-down multisection).
 */
#include "map_sections.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "map_bisect.h"
#include "map_pairs.h"

/** A part of the problem: some vertices, and the leaves first ... first + graph.n - 1. */
struct section {
    const struct map_tree *tree;
    const struct map_effort *effort;
    struct map_graph graph;
    const int *id;  /* [vertex]: its number in the whole */
    int first;
    int level;
    int threads;
    struct map_random random;
    int *leaf; /* result, by number in the whole */
    int rc;
};

static int solve(struct section *s);

/** Work on two halves, by two threads if there are any to spare. */
static void *run(void *section)
{
    struct section *s = section;
    s->rc = solve(s);
    return NULL;
}

/** A division under way: groups low ... high - 1 of a list whose bounds (in vertices) are bound[]. */
struct division {
    const struct map_effort *effort;
    struct map_graph graph;
    const int *id; /* [vertex]: its number in the divided graph */
    const int *bound;
    int low, high;
    int threads;
    struct map_random random;
    int *block; /* result, by number in the divided graph */
    int rc;
};

static int divide(struct division *d);

static void *run_division(void *division)
{
    struct division *d = division;
    d->rc = divide(d);
    return NULL;
}

/** Runs two tasks, concurrently if `threads` allows it. */
static void run_both(void *(*task)(void *), void *a, void *b, int threads)
{
    pthread_t thread;
    if (threads > 1 && pthread_create(&thread, NULL, task, a) == 0) {
        task(b);
        (void)pthread_join(thread, NULL);
        return;
    }
    task(a);
    task(b);
}

/** The half of d with side == k, as a division of its own; its arrays are the caller's to free. */
static int half(const struct division *d, const signed char *side, int k, int *position, struct division *part)
{
    int n = 0;
    int *ids = malloc((size_t)d->graph.n * 3 * sizeof *ids), *list = ids + d->graph.n, *member = list + d->graph.n;
    if (!ids) return -1;
    for (int v = 0; v < d->graph.n; v++) {
        member[v] = side[v];
        if (side[v] != k) continue;
        list[n] = v;
        ids[n++] = d->id[v];
    }
    *part = *d;
    part->id = ids;
    part->random = map_random_child(d->random, (uint64_t)k + 1);
    part->threads = d->threads > 1 ? d->threads / 2 : 1;
    return map_graph_induce(&d->graph, list, n, position, member, k, &part->graph);
}

static void free_half(struct division *part)
{
    map_graph_free(&part->graph);
    free((void *)part->id);
}

static int divide(struct division *d)
{
    int n = d->graph.n;
    if (d->high - d->low == 1) {
        for (int v = 0; v < n; v++) d->block[d->id[v]] = d->low;
        return 0;
    }
    int middle = (d->low + d->high) / 2, rc = -1;
    signed char *side = malloc((size_t)n);
    int *position = malloc((size_t)n * sizeof *position);
    struct division part[2] = {{.id = NULL}, {.id = NULL}};
    int size = d->bound[middle] - d->bound[d->low];
    if (side && position && map_bisect(&d->graph, size, d->effort->starts, d->random, side) == 0 &&
        half(d, side, 0, position, &part[0]) == 0 && half(d, side, 1, position, &part[1]) == 0) {
        part[0].high = part[1].low = middle;
        run_both(run_division, &part[0], &part[1], d->threads);
        rc = part[0].rc || part[1].rc ? -1 : 0;
    }
    free_half(&part[0]);
    free_half(&part[1]);
    free(side);
    free(position);
    return rc;
}

/** Where the groups of `level` begin within the section: bound[0] = 0 ... bound[groups] = n. Returns their number, or -1. */
static int find_groups(const struct section *s, int **bound)
{
    const int *group = s->tree->group[s->level] + s->first;
    int n = s->graph.n, groups = 0;
    *bound = malloc(((size_t)n + 1) * sizeof **bound);
    if (!*bound) return -1;
    for (int i = 0; i < n; i++)
        if (i == 0 || group[i] != group[i - 1]) (*bound)[groups++] = i;
    (*bound)[groups] = n;
    return groups;
}

/** Hands the groups low ... high - 1 down to the next level, halves of the list to different threads. */
struct descent {
    const struct section *s;
    const int *bound, *block, *order; /* order: vertices by block */
    int low, high;
    int threads;
    int rc;
};

static int descend_one(const struct descent *d)
{
    const struct section *s = d->s;
    int begin = d->bound[d->low], n = d->bound[d->low + 1] - begin, rc = -1;
    int *position = malloc((size_t)s->graph.n * sizeof *position), *id = malloc((size_t)n * sizeof *id);
    struct section inner = *s;
    inner.first = s->first + begin;
    inner.level = s->level + 1;
    inner.threads = d->threads;
    inner.random = map_random_child(s->random, (uint64_t)d->low + 3);
    inner.id = id;
    if (position && id) {
        for (int i = 0; i < n; i++) id[i] = s->id[d->order[begin + i]];
        rc = map_graph_induce(&s->graph, d->order + begin, n, position, d->block, d->low, &inner.graph);
        if (rc == 0) {
            rc = solve(&inner);
            map_graph_free(&inner.graph);
        }
    }
    free(position);
    free(id);
    return rc;
}

static void *descend(void *descent)
{
    struct descent *d = descent;
    d->rc = 0;
    if (d->high - d->low == 1) {
        d->rc = descend_one(d);
    } else if (d->high > d->low) {
        struct descent part[2] = {*d, *d};
        part[0].high = part[1].low = (d->low + d->high) / 2;
        part[0].threads = part[1].threads = d->threads > 1 ? d->threads / 2 : 1;
        run_both(descend, &part[0], &part[1], d->threads);
        d->rc = part[0].rc || part[1].rc ? -1 : 0;
    }
    return NULL;
}

static int divide_section(struct section *s, const int *bound, int groups, int *block, int *order)
{
    for (int v = 0; v < s->graph.n; v++) order[v] = v;
    struct division d = {.effort = s->effort, .graph = s->graph, .id = order, .bound = bound, .high = groups,
                         .threads = s->threads, .random = map_random_child(s->random, 0), .block = block};
    if (divide(&d) != 0) return -1;
    if (map_pairs_refine(&s->graph, block, groups, s->effort->rounds, map_random_child(s->random, 1)) != 0) return -1;
    int *fill = malloc((size_t)groups * sizeof *fill);
    if (!fill) return -1;
    memcpy(fill, bound, (size_t)groups * sizeof *fill);
    for (int v = 0; v < s->graph.n; v++) order[fill[block[v]]++] = v;
    free(fill);
    return 0;
}

static int solve(struct section *s)
{
    int n = s->graph.n;
    if (s->level == s->tree->levels - 1) { /* the last level separates all leaves, at the same cost */
        for (int v = 0; v < n; v++) s->leaf[s->id[v]] = s->first + v;
        return 0;
    }
    int *bound, groups = find_groups(s, &bound);
    int *block = malloc((size_t)n * 2 * sizeof *block), *order = block ? block + n : NULL;
    int rc = groups > 0 && block ? divide_section(s, bound, groups, block, order) : -1;
    if (rc == 0) {
        struct descent all = {s, bound, block, order, 0, groups, s->threads, 0};
        descend(&all);
        rc = all.rc;
    }
    free(block);
    free(bound);
    return rc;
}

int map_sections(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf)
{
    int *id = malloc((size_t)(graph->n ? graph->n : 1) * sizeof *id);
    if (!id) return -1;
    for (int v = 0; v < graph->n; v++) id[v] = v;
    struct section all = {.tree = tree, .effort = effort, .graph = *graph, .id = id, .threads = effort->threads,
                          .random = {effort->seed}, .leaf = leaf};
    run(&all);
    free(id);
    return all.rc;
}
