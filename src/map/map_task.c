/* SPDX-License-Identifier: BSD-3-Clause
 * map_task.c: see map_task.h.
 */
#include "map_task.h"

#include <stdlib.h>

#include "map_cost.h"

int map_task_fix(const struct map_task *task, int *leaf)
{
    int n = task->graph->n, *vertex;
    if (!task->fixed) return MAP_DONE;
    vertex = malloc((size_t)(n ? n : 1) * sizeof *vertex);
    if (!vertex) return MAP_NO_MEMORY;
    for (int v = 0; v < n; v++) vertex[leaf[v]] = v;
    for (int place = 0; place < n; place++) {
        int wanted = task->fixed[place], there = vertex[place];
        if (wanted < 0 || wanted == there) continue;
        int from = leaf[wanted];
        leaf[there] = from;
        leaf[wanted] = place;
        vertex[from] = there;
        vertex[place] = wanted;
    }
    free(vertex);
    return MAP_DONE;
}

int map_task_run(const struct map_task *task, const struct map_algorithm *algorithm, const struct map_effort *effort, int *leaf,
                 double *cost)
{
    int rc = algorithm->place(task->graph, task->tree, effort, leaf);
    if (rc == MAP_DONE) rc = map_task_fix(task, leaf);
    if (rc == MAP_DONE && task->fixed && algorithm != &map_identity)
        rc = map_swaps(task->graph, task->tree, effort->rounds, task->movable, leaf);
    if (rc == MAP_DONE) *cost = map_cost_of_graph(task->graph, task->tree, leaf);
    return rc;
}

int map_task_polish(const struct map_task *task, int rounds, int *leaf, double *cost)
{
    int rc = map_swaps(task->graph, task->tree, rounds, task->movable, leaf);
    if (rc == MAP_DONE) *cost = map_cost_of_graph(task->graph, task->tree, leaf);
    return rc;
}
