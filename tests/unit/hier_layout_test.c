/* SPDX-License-Identifier: BSD-3-Clause
 * hier_layout_test.c: node groups, leaders, hashes and trees of coll/hier.
 */
#include "unit.h"

#include "hier_layout.h"

enum { MOST = 40 };

static void test_scattered(void **state)
{
    static const int node[] = {7, 7, 2, 7, 2, 9};
    hier_layout_t *layout = hier_layout_create(node, 6, 3);
    assert_non_null(layout);
    assert_int_equal(layout->nodes, 3);
    static const int node_of[] = {0, 0, 1, 0, 1, 2}, member[] = {0, 1, 3, 2, 4, 5};
    static const int index_of[] = {0, 1, 0, 2, 1, 0}, first[] = {0, 3, 5, 6};
    assert_memory_equal(layout->node_of, node_of, sizeof node_of);
    assert_memory_equal(layout->member, member, sizeof member);
    assert_memory_equal(layout->index_of, index_of, sizeof index_of);
    assert_memory_equal(layout->first, first, sizeof first);
    assert_false(layout->balanced);
    assert_false(layout->consecutive);
    assert_int_equal(hier_layout_leader(layout, 0, 5), 0);
    assert_int_equal(hier_layout_leader(layout, 0, 3), 3);
    assert_int_equal(hier_layout_leader(layout, 1, 3), 2);
    assert_false(hier_layout_flat(layout));
    hier_layout_destroy(layout);
}

/* The same tables in somebody else's memory: they serve as well, and stay. */
static void test_borrowed(void **state)
{
    static const int node[] = {0, 1, 0, 1, 1};
    hier_layout_t *layout = hier_layout_create(node, 5, 2), *same = hier_layout_create(node, 5, 4);
    size_t bytes = hier_layout_table_bytes(layout);
    assert_int_equal(bytes, (15 + 3) * sizeof(int));
    assert_memory_equal(layout->tables, same->tables, bytes);
    void *kept = malloc(bytes);
    memcpy(kept, same->tables, bytes);
    hier_layout_borrow(layout, kept);
    assert_int_equal(layout->member[2], 1);
    assert_int_equal(hier_node_size(layout, 1), 3);
    assert_int_equal(hier_layout_leader(layout, 1, 0), 1);
    hier_layout_destroy(layout);
    assert_memory_equal(kept, same->tables, bytes);
    hier_layout_destroy(same);
    free(kept);
}

static hier_layout_t *of(const char *nodes, int rank)
{
    int node[MOST], size = (int)strlen(nodes);
    for (int i = 0; i < size; i++) node[i] = nodes[i] - '0';
    return hier_layout_create(node, size, rank);
}

static uint64_t hash_of(const char *nodes, int rank)
{
    hier_layout_t *layout = of(nodes, rank);
    uint64_t hash = layout->hash;
    hier_layout_destroy(layout);
    return hash;
}

/* Names of nodes do not matter, who sits with whom does; all ranks have the same hash. */
static void test_hash(void **state)
{
    assert_true(hash_of("0011", 0) == hash_of("5522", 3));
    assert_true(hash_of("0011", 0) != hash_of("0101", 0));
    assert_true(hash_of("0011", 0) != hash_of("00112", 0));
    assert_true(hash_of("0001", 0) != hash_of("0011", 0));
}

static void test_kinds(void **state)
{
    static const struct {
        const char *nodes;
        bool flat, balanced, consecutive;
    } kinds[] = {{"000", true, true, true},   {"012", true, true, true},    {"0", true, true, true},
                 {"0011", false, true, true}, {"0101", false, true, false}, {"00111", false, false, true},
                 {"10010", false, false, false}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        hier_layout_t *layout = of(kinds[i].nodes, 0);
        assert_int_equal(hier_layout_flat(layout), kinds[i].flat);
        assert_int_equal(layout->balanced, kinds[i].balanced);
        assert_int_equal(layout->consecutive, kinds[i].consecutive);
        hier_layout_destroy(layout);
    }
    int unknown[] = {0, -1, 0};
    assert_null(hier_layout_create(unknown, 3, 0));
}

static void test_sockets(void **state)
{
    hier_layout_t *layout = of("0000001", 1);
    int mixed[] = {3, 8, 3, 8, 8, 3}, one[] = {1, 1, 1, 1, 1, 1}, own[] = {0, 1, 2, 3, 4, 5}, unknown[] = {0, 0, 1, -1, 1, 1};
    assert_true(hier_layout_set_sockets(layout, mixed));
    static const int groups[] = {0, 1, 0, 1, 1, 0};
    assert_memory_equal(layout->socket_of, groups, sizeof groups);
    uint64_t hash = hier_layout_socket_hash(layout);
    int *none[] = {one, own, unknown};
    for (int i = 0; i < 3; i++) {
        assert_true(hier_layout_set_sockets(layout, none[i]));
        assert_null(layout->socket_of);
        assert_true(hier_layout_socket_hash(layout) != hash);
    }
    hier_layout_destroy(layout);
}

/* Every place has one parent, whose child it is, and all hang together below 0. */
static void test_trees(void **state)
{
    for (int n = 1; n <= MOST; n++) {
        for (int radix = 1; radix <= n + 1; radix++) {
            int parent_of[MOST], parent, child[MOST], children = 0;
            for (int v = 0; v < n; v++) parent_of[v] = -2;
            for (int v = 0; v < n; v++) {
                int count = hier_tree(n, radix, v, &parent, child);
                children += count;
                assert_true(v == 0 ? parent == -1 : parent >= 0 && parent < v);
                if (v > 0) assert_int_equal(parent_of[v], parent); /* told by the parent, which comes before */
                for (int i = 0; i < count; i++) parent_of[child[i]] = v;
            }
            assert_int_equal(children, n - 1);
        }
    }
}

/* The tree over all ranks, with and without sockets: all reach the root, and the children know their parents. */
static void test_links(void **state)
{
    uint64_t random = 4711;
    for (int round = 0; round < 500; round++) {
        int size = 1 + (int)(unit_random(&random) % MOST), node[MOST], parent[MOST], told[MOST];
        int root = (int)(unit_random(&random) % (unsigned)size);
        int radix = 1 + (int)(unit_random(&random) % 5), up = 1 + (int)(unit_random(&random) % 5), sockets = round % 2;
        for (int i = 0; i < size; i++) node[i] = (int)(unit_random(&random) % 5);
        for (int i = 0; i < size; i++) told[i] = -1;
        for (int i = 0; i < size; i++) {
            int socket[MOST];
            hier_links_t links;
            hier_layout_t *layout = hier_layout_create(node, size, i);
            for (int k = 0; k < MOST; k++) socket[k] = k * 5 % 3;
            if (sockets) assert_true(hier_layout_set_sockets(layout, socket));
            assert_true(hier_links_all(layout, root, up, radix, &links));
            parent[i] = links.parent;
            for (int k = 0; k < links.count; k++) {
                assert_int_equal(told[links.child[k]], -1);
                told[links.child[k]] = i;
            }
            hier_links_cleanup(&links);
            hier_layout_destroy(layout);
        }
        int crossings = 0, nodes_seen = 0;
        for (int i = 0; i < size; i++) {
            int steps = 0, at = i;
            assert_int_equal(parent[i], told[i]);
            for (; parent[at] >= 0 && steps <= size; steps++) at = parent[at];
            assert_int_equal(at, root);
            crossings += parent[i] >= 0 && node[parent[i]] != node[i];
        }
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < size; i++)
                if (node[i] == k) {
                    nodes_seen++;
                    break;
                }
        assert_int_equal(crossings, nodes_seen - 1); /* every node is entered once */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_scattered), cmocka_unit_test(test_hash),  cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_sockets),   cmocka_unit_test(test_trees), cmocka_unit_test(test_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
