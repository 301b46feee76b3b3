/* SPDX-License-Identifier: BSD-3-Clause
 * matrix_read_test.c: what is read from Matrix Market files, and what is refused, with the line and the reason.
 */
#include "matrix_read.h"

#include "unit.h"

struct entries {
    int n, row[8], column[8];
    uint64_t value[8];
};

static void keep(int row, int column, uint64_t value, void *arg)
{
    struct entries *e = arg;
    assert_true(e->n < 8);
    e->row[e->n] = row;
    e->column[e->n] = column;
    e->value[e->n++] = value;
}

static int read_text(const char *text, int *size, struct entries *e, char *why)
{
    char nothing = 0; /* an empty stream cannot be made of no memory */
    size_t length = strlen(text);
    FILE *stream = fmemopen(length ? (void *)text : &nothing, length ? length : 1, "r");
    assert_non_null(stream);
    if (length == 0) (void)fgetc(stream);
    *e = (struct entries){0};
    int rc = lucid_matrix_read_mtx(stream, size, keep, e, why, 100);
    fclose(stream);
    return rc;
}

static void check(const char *text, int size, struct entries expected)
{
    struct entries e;
    char why[100] = "";
    int read = -7;
    if (read_text(text, &read, &e, why) != 0) fail_msg("refused (%s): %s", why, text);
    assert_int_equal(read, size);
    assert_int_equal(e.n, expected.n);
    assert_memory_equal(e.row, expected.row, sizeof e.row);
    assert_memory_equal(e.column, expected.column, sizeof e.column);
    assert_memory_equal(e.value, expected.value, sizeof e.value);
}

static void test_kinds(void **state)
{
    check("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 7\n3 1 18446744073709551615\n", 3,
          (struct entries){2, {0, 2}, {1, 0}, {7, UINT64_MAX}});
    check("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.5\n1 2 1e3\n2 1 2\n2 2 .4\n", 2,
          (struct entries){4, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 1000, 2, 0}});
    check("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n", 2, (struct entries){1, {1}, {0}, {1}});
    check("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 2 4\n3 1 5\n", 3,
          (struct entries){3, {1, 2, 0}, {1, 0, 2}, {4, 5, 5}});
    check("%%MatrixMarket matrix coordinate integer general\n2147483647 2147483647 0\n", 2147483647, (struct entries){0});
}

static void test_looks(void **state)
{
    check("%%matrixmarket MATRIX Coordinate Integer GENERAL\r\n% about\n\n  \t\n2 2\t1\r\n%\n\n1\t2  3\r\n", 2,
          (struct entries){1, {0}, {1}, {3}});
    check("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3", 2, (struct entries){1, {0}, {1}, {3}});
    check("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n2 2 9\n", 2, (struct entries){1, {0}, {1}, {3}});
}

#define HEAD "%%MatrixMarket matrix coordinate integer general\n"

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 0: the file is empty"},
        {"1 2 3\n", "line 1: not a Matrix Market file"},
        {"%%MatrixMarket matrix coordinate integer\n", "line 1: not a Matrix Market file"},
        {"%%MatrixMarket matrix array real general\n", "line 1: only coordinate"},
        {"%%MatrixMarket vector coordinate real general\n", "line 1: only coordinate"},
        {"%%MatrixMarket matrix coordinate complex general\n", "line 1: only coordinate"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "line 1: only coordinate"},
        {HEAD, "line 1: not the size"},
        {HEAD "3 3\n", "line 2: not the size"},
        {HEAD "3 4 1\n", "line 2: not the size"},
        {HEAD "0 0 0\n", "line 2: not the size"},
        {HEAD "-1 -1 0\n", "line 2: not the size"},
        {HEAD "2147483648 2147483648 0\n", "line 2: not the size"},
        {HEAD "2 2 99999999999999999999999\n", "line 2: not the size"},
        {HEAD "2 2 2\n1 1 1\n", "line 3: the file ends before"},
        {HEAD "2 2 1\n3 1 1\n", "line 3: not a row and a column"},
        {HEAD "2 2 1\n1 0 1\n", "line 3: not a row and a column"},
        {HEAD "2 2 1\nx 1 1\n", "line 3: not a row and a column"},
        {HEAD "2 2 1\n1 1\n", "line 3: not a value"},
        {HEAD "2 2 1\n1 1 -4\n", "line 3: not a value"},
        {HEAD "2 2 1\n1 1 nan\n", "line 3: not a value"},
        {HEAD "2 2 1\n1 1 1e30\n", "line 3: not a value"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct entries e;
        char why[100] = "";
        int size;
        if (read_text(cases[i].text, &size, &e, why) != -1) fail_msg("accepted: %s", cases[i].text);
        if (strncmp(why, cases[i].why, strlen(cases[i].why)) != 0) fail_msg("%s: because of %s", cases[i].text, why);
        assert_null(strchr(why, '\n'));
    }
}

static void test_long_line(void **state)
{
    char text[4000], why[100] = "";
    struct entries e;
    int size;
    size_t head = strlen(HEAD);
    memcpy(text, HEAD, head);
    memset(text + head, '1', sizeof text - head);
    text[sizeof text - 1] = '\0';
    assert_int_equal(read_text(text, &size, &e, why), -1);
    assert_non_null(strstr(why, "line 2: too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
