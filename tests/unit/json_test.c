/* SPDX-License-Identifier: BSD-3-Clause
 * json_test.c: the text that the writer makes, byte by byte. That Python reads it is formats_test.py's matter.
 */
#include <locale.h>
#include <math.h>

#include "json.h"
#include "unit.h"

static char *text;
static size_t length;

static struct lucid_json begin(void)
{
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    return (struct lucid_json){.stream = stream};
}

static void check_text(struct lucid_json *json, const char *expected)
{
    assert_int_equal(fclose(json->stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void check_string(const char *value, const char *expected)
{
    struct lucid_json json = begin();
    lucid_json_string(&json, NULL, value);
    check_text(&json, expected);
}

static void test_escapes(void **state)
{
    check_string("", "\"\"");
    check_string("plain", "\"plain\"");
    check_string("a \"b\" c:\\d /e", "\"a \\\"b\\\" c:\\\\d /e\"");
    check_string("\b\t\n\f\r\x01\x1f\x7f ~", "\"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0001\\u001f\\u007f ~\"");
    check_string(NULL, "null");
}

static void test_utf8(void **state)
{
    check_string("\xc2\x80 \xdf\xbf", "\"\xc2\x80 \xdf\xbf\"");
    check_string("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf", "\"\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf\"");
    check_string("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", "\"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"");
}

/** Each byte that belongs to nothing becomes one replacement character; what follows is kept. */
static void test_not_utf8(void **state)
{
#define BAD "\\ufffd"
    check_string("\x80x", "\"" BAD "x\"");                                    /* continuation alone */
    check_string("\xc0\xaf\xc1\xbf", "\"" BAD BAD BAD BAD "\"");              /* overlong, two bytes */
    check_string("\xe0\x9f\xbf!", "\"" BAD BAD BAD "!\"");                    /* overlong, three */
    check_string("\xf0\x8f\xbf\xbf!", "\"" BAD BAD BAD BAD "!\"");            /* overlong, four */
    check_string("\xed\xa0\x80", "\"" BAD BAD BAD "\"");                      /* surrogate */
    check_string("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");              /* beyond U+10FFFF */
    check_string("\xf5\xff\xfe", "\"" BAD BAD BAD "\"");
    check_string("\xe2\x82", "\"" BAD BAD "\"");                              /* cut off at the end */
    check_string("\xe2\x82\"\xf0\x90\x80", "\"" BAD BAD "\\\"" BAD BAD BAD "\"");
    check_string("\xc3", "\"" BAD "\"");
}

static void test_numbers(void **state)
{
    struct lucid_json json = begin();
    lucid_json_open(&json, NULL, '{');
    lucid_json_uint(&json, "most", UINT64_MAX);
    lucid_json_uint(&json, "least", 0);
    lucid_json_int_or_null(&json, "int", 2147483647);
    lucid_json_int_or_null(&json, "zero", 0);
    lucid_json_int_or_null(&json, "none", -1);
    lucid_json_bool(&json, "yes", true);
    lucid_json_bool(&json, "no", false);
    lucid_json_close(&json, '}');
    check_text(&json, "{\n \"most\": 18446744073709551615,\n \"least\": 0,\n \"int\": 2147483647,\n \"zero\": 0,\n \"none\": null,\n"
                  " \"yes\": true,\n \"no\": false}\n");
}

static void check_seconds(double value, const char *expected)
{
    struct lucid_json json = begin();
    lucid_json_seconds(&json, NULL, value);
    check_text(&json, expected);
}

static void test_seconds(void **state)
{
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is there, its comma stays out */
    check_seconds(0, "0.000000");
    check_seconds(12.5, "12.500000");
    check_seconds(0.0000004, "0.000000");
    check_seconds(0.0000006, "0.000001");
    check_seconds(0.9999999, "1.000000");
    check_seconds(86400.000001, "86400.000001");
    check_seconds(-1, "0.000000");
    check_seconds((double)NAN, "0.000000");
    check_seconds((double)INFINITY, "1000000000000.000000");
    check_seconds(1e300, "1000000000000.000000");
    (void)setlocale(LC_ALL, "C");
}

static void test_nesting(void **state)
{
    struct lucid_json json = begin();
    lucid_json_open(&json, NULL, '{');
    lucid_json_open(&json, "empty", '[');
    lucid_json_close(&json, ']');
    lucid_json_open(&json, "none", '{');
    lucid_json_close(&json, '}');
    lucid_json_open(&json, "rows", '[');
    lucid_json_row(&json, 3, (uint64_t[]){1, 2, UINT64_MAX});
    lucid_json_row(&json, 0, NULL);
    lucid_json_row(&json, 1, (uint64_t[]){7});
    lucid_json_close(&json, ']');
    lucid_json_open(&json, "deep", '[');
    lucid_json_open(&json, NULL, '{');
    lucid_json_string(&json, "a\"b", "c");
    lucid_json_string(&json, "d", "e");
    lucid_json_close(&json, '}');
    lucid_json_close(&json, ']');
    lucid_json_close(&json, '}');
    assert_int_equal(json.depth, 0);
    check_text(&json, "{\n \"empty\": [],\n \"none\": {},\n \"rows\": [\n  [1, 2, 18446744073709551615],\n  [],\n  [7]],\n"
                  " \"deep\": [\n  { \"a\\\"b\": \"c\", \"d\": \"e\"}]}\n");
}

static void test_depth(void **state)
{
    char expected[4 * LUCID_JSON_DEPTH] = "[\n [\n  [";
    struct lucid_json json = begin();
    for (int i = 0; i < LUCID_JSON_DEPTH; i++) lucid_json_open(&json, NULL, '[');
    for (int i = 0; i < LUCID_JSON_DEPTH; i++) lucid_json_close(&json, ']');
    for (int i = 3; i < LUCID_JSON_DEPTH; i++) strcat(expected, " [");
    for (int i = 0; i < LUCID_JSON_DEPTH; i++) strcat(expected, "]");
    strcat(expected, "\n");
    check_text(&json, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_utf8),    cmocka_unit_test(test_not_utf8), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_seconds), cmocka_unit_test(test_nesting), cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
