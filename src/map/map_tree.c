/* SPDX-License-Identifier: BSD-3-Clause
 * map_tree.c: see map_tree.h.
 */
#include "map_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_LIMIT = 4096, LEAVES_LIMIT = 1 << 24 };

int map_tree_make(struct map_tree *tree, int leaves, int levels)
{
    *tree = (struct map_tree){.leaves = leaves, .levels = levels};
    for (int level = 0; level < levels; level++) {
        tree->group[level] = calloc((size_t)(leaves ? leaves : 1), sizeof *tree->group[level]);
        if (tree->group[level]) continue;
        map_tree_free(tree);
        return -1;
    }
    return 0;
}

void map_tree_free(struct map_tree *tree)
{
    for (int level = 0; level < tree->levels; level++) free(tree->group[level]);
    *tree = (struct map_tree){0};
}

/** One level of the text. */
struct level {
    char name[16];
    double cost; /* < 0: not given */
    int counts;
    int *count;
};

struct parser {
    const char *at;
    char *why;
    size_t why_size;
};

static int complain(const struct parser *parser, const char *what)
{
    snprintf(parser->why, parser->why_size, "topology: %s at \"%.20s\" (expected e.g. \"node:64 numa:2 core:16\")", what,
             parser->at);
    return -1;
}

static int parse_name(struct parser *parser, struct level *level)
{
    size_t n = 0;
    while (isalpha((unsigned char)parser->at[n]) || parser->at[n] == '_') n++;
    if (n == 0 || n >= sizeof level->name) return complain(parser, "a level's name is missing or too long");
    memcpy(level->name, parser->at, n);
    level->name[n] = '\0';
    parser->at += n;
    return 0;
}

static int parse_cost(struct parser *parser, struct level *level)
{
    char *end;
    level->cost = -1;
    if (*parser->at != '=') return 0;
    level->cost = strtod(++parser->at, &end);
    if (end == parser->at || !(level->cost >= 0 && level->cost < 1e12)) return complain(parser, "not a cost");
    parser->at = end;
    return 0;
}

static int parse_counts(struct parser *parser, struct level *level)
{
    if (*parser->at != ':') return complain(parser, "a ':' is missing");
    level->count = malloc(COUNTS_LIMIT * sizeof *level->count);
    if (!level->count) return complain(parser, "out of memory");
    do {
        char *end;
        errno = 0;
        long count = isdigit((unsigned char)*++parser->at) ? strtol(parser->at, &end, 10) : 0;
        if (count < 1 || count > LEAVES_LIMIT || errno != 0) return complain(parser, "not a number of 1 or more");
        if (level->counts == COUNTS_LIMIT) return complain(parser, "too many numbers");
        level->count[level->counts++] = (int)count;
        parser->at = end;
    } while (*parser->at == ',');
    if (*parser->at && !isspace((unsigned char)*parser->at)) return complain(parser, "unexpected character");
    return 0;
}

/** Groups of the innermost level, one after the other, with the group of each outer level; -1 if there are too many. */
static int expand(struct map_tree *tree, const struct level *level, int levels)
{
    long groups = 1, inner = 0;
    for (int l = 0; l < levels; l++, groups = inner) {
        inner = 0;
        for (long g = 0; g < groups && inner <= LEAVES_LIMIT; g++) inner += level[l].count[g % level[l].counts];
        if (inner > LEAVES_LIMIT) return -1;
    }
    if (map_tree_make(tree, (int)groups, levels) != 0) return -1;
    int *parent = malloc((size_t)groups * sizeof *parent), *child = malloc((size_t)groups * sizeof *child);
    if (!parent || !child) {
        free(parent);
        free(child);
        map_tree_free(tree);
        return -1;
    }
    /* from the inside outwards: who is whose parent, by counting the groups again from the outside */
    for (int target = 0; target < levels; target++) {
        int n = 1;
        parent[0] = 0;
        for (int l = 0; l < levels; l++) {
            int made = 0;
            for (int g = 0; g < n; g++)
                for (int c = 0; c < level[l].count[g % level[l].counts]; c++, made++)
                    child[made] = l <= target ? made : parent[g];
            memcpy(parent, child, (size_t)made * sizeof *parent);
            n = made;
        }
        memcpy(tree->group[target], parent, (size_t)n * sizeof *parent);
    }
    free(parent);
    free(child);
    return 0;
}

static void set_costs(struct map_tree *tree, const struct level *level)
{
    double cost = 1;
    for (int l = tree->levels - 1; l >= 0; l--) {
        tree->cost[l] = level[l].cost >= 0 ? level[l].cost : cost;
        cost = tree->cost[l] * 10;
        memcpy(tree->name[l], level[l].name, sizeof tree->name[l]);
    }
}

int map_tree_parse(struct map_tree *tree, const char *text, char *why, size_t why_size)
{
    struct level level[MAP_TREE_LEVELS] = {0};
    struct parser parser = {text, why, why_size};
    int levels = 0, rc = 0;
    while (rc == 0) {
        while (isspace((unsigned char)*parser.at)) parser.at++;
        if (!*parser.at) break;
        if (levels == MAP_TREE_LEVELS) {
            rc = complain(&parser, "too many levels");
            break;
        }
        struct level *l = &level[levels++];
        rc = parse_name(&parser, l);
        if (rc == 0) rc = parse_cost(&parser, l);
        if (rc == 0) rc = parse_counts(&parser, l);
    }
    if (rc == 0 && levels == 0) rc = complain(&parser, "no level");
    if (rc == 0 && expand(tree, level, levels) != 0) rc = complain(&parser, "more leaves than memory allows, or than 2^24");
    if (rc == 0) set_costs(tree, level);
    for (int l = 0; l < levels; l++) free(level[l].count);
    return rc;
}
