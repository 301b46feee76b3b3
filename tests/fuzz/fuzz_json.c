/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_json.c: any bytes as keys and strings, in any nesting. The text must be UTF-8 and JSON: a small reader of its own,
 * written from RFC 8259 and RFC 3629, takes it apart.
 *
 * Input: operations, a byte each; a string takes the following bytes up to a 0.
 */
#include "fuzz.h"
#include "json.h"

/* The reader. Returns behind what it has read; stops the run where it cannot. */

/** A code point, by decoding rather than by ranges of bytes. */
static const uint8_t *read_utf8(const uint8_t *p, const uint8_t *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    FUZZ_CHECK(length > 0 && (size_t)(end - p) >= length);
    uint32_t code = length == 1 ? *p : *p & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++) {
        FUZZ_CHECK(p[i] >> 6 == 2);
        code = code << 6 | (p[i] & 63);
    }
    FUZZ_CHECK(code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff));
    return p + length;
}

static const uint8_t *read_string(const uint8_t *p, const uint8_t *end)
{
    FUZZ_CHECK(p < end && *p == '"');
    for (p++; p < end && *p != '"';) {
        FUZZ_CHECK(*p >= 0x20);
        if (*p != '\\') {
            p = read_utf8(p, end);
            continue;
        }
        FUZZ_CHECK(end - p >= 2 && p[1] && strchr("\"\\/bfnrtu", p[1]));
        if (p[1] == 'u') FUZZ_CHECK(end - p >= 6 && strspn((const char *)p + 2, "0123456789abcdefABCDEF") >= 4);
        p += p[1] == 'u' ? 6 : 2;
    }
    FUZZ_CHECK(p < end);
    return p + 1;
}

static const uint8_t *skip_space(const uint8_t *p)
{
    while (*p == ' ' || *p == '\n') p++;
    return p;
}

static const uint8_t *read_number(const uint8_t *p)
{
    const uint8_t *first = p;
    while (*p >= '0' && *p <= '9') p++;
    FUZZ_CHECK(p > first && (*first != '0' || p == first + 1));
    if (*p != '.') return p;
    for (first = ++p; *p >= '0' && *p <= '9';) p++;
    FUZZ_CHECK(p > first);
    return p;
}

static const uint8_t *read_value(const uint8_t *p, const uint8_t *end);

static const uint8_t *read_container(const uint8_t *p, const uint8_t *end)
{
    const uint8_t close = *p == '{' ? '}' : ']';
    p = skip_space(p + 1);
    if (*p == close) return p + 1;
    for (;; p++) {
        p = skip_space(p);
        if (close == '}') {
            p = skip_space(read_string(p, end));
            FUZZ_CHECK(*p == ':');
            p = skip_space(p + 1);
        }
        p = skip_space(read_value(p, end));
        if (*p == close) return p + 1;
        FUZZ_CHECK(*p == ',');
    }
}

static const uint8_t *read_value(const uint8_t *p, const uint8_t *end)
{
    static const char *const words[] = {"null", "true", "false"};
    FUZZ_CHECK(p < end);
    if (*p == '{' || *p == '[') return read_container(p, end);
    if (*p == '"') return read_string(p, end);
    for (int i = 0; i < 3; i++)
        if (strncmp((const char *)p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
    return read_number(p);
}

/* The writer, driven by the input. */

static char *take_string(struct fuzz_input *input)
{
    const uint8_t *zero = input->left ? memchr(input->byte, 0, input->left) : NULL;
    size_t length = zero ? (size_t)(zero - input->byte) : input->left;
    char *text = fuzz_text(input->byte, length);
    input->byte += length + (zero != NULL);
    input->left -= length + (zero != NULL);
    return text;
}

static double any_double(struct fuzz_input *input)
{
    uint64_t bits = fuzz_number(input, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** One element; `nesting` has the brackets that are open. */
static void write_element(struct lucid_json *json, struct fuzz_input *input, char *nesting)
{
    unsigned op = fuzz_byte(input) % 9;
    char *key = json->depth > 0 && nesting[json->depth] == '{' ? take_string(input) : NULL;
    if (op < 2 && json->depth < LUCID_JSON_DEPTH) {
        lucid_json_open(json, key, "{["[op]);
        nesting[json->depth] = "{["[op];
    } else if (op == 2) {
        lucid_json_uint(json, key, fuzz_number(input, 8));
    } else if (op == 3) {
        lucid_json_int_or_null(json, key, (int)fuzz_number(input, 4));
    } else if (op == 4) {
        lucid_json_seconds(json, key, any_double(input));
    } else if (op == 5) {
        lucid_json_bool(json, key, fuzz_byte(input) & 1);
    } else if (op == 6 && !key) {
        uint64_t row[3] = {fuzz_number(input, 1), fuzz_number(input, 8), 0};
        lucid_json_row(json, (unsigned)(row[0] % 4), row);
    } else {
        char *value = take_string(input);
        lucid_json_string(json, key, op == 7 ? NULL : value);
        free(value);
    }
    free(key);
}

static void write_document(struct lucid_json *json, struct fuzz_input *input)
{
    char nesting[LUCID_JSON_DEPTH + 1];
    lucid_json_open(json, NULL, '{');
    nesting[1] = '{';
    while (input->left > 0) {
        if (json->depth > 1 && *input->byte >= 192) {
            (void)fuzz_byte(input);
            lucid_json_close(json, nesting[json->depth] == '{' ? '}' : ']');
        } else {
            write_element(json, input, nesting);
        }
    }
    while (json->depth > 0) lucid_json_close(json, nesting[json->depth] == '{' ? '}' : ']');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char *text = NULL;
    size_t length = 0;
    struct lucid_json json = {.stream = open_memstream(&text, &length)};
    FUZZ_CHECK(json.stream != NULL);
    write_document(&json, &input);
    FUZZ_CHECK(fclose(json.stream) == 0);
    const uint8_t *begin = (const uint8_t *)text, *end = begin + length;
    FUZZ_CHECK(length > 0 && end[-1] == '\n' && strlen(text) == length);
    FUZZ_CHECK(skip_space(read_value(begin, end)) == end);
    free(text);
    return 0;
}
