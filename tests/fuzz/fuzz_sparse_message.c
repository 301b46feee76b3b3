/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_sparse_message.c: any bytes as a message of blocks. What sparse_check() accepts is decoded, merged into elements and merged
 * with a message of our own, in memory of exactly the promised sizes; all ways must give the operator's own results.
 *
 * Input: type and operator (2 bytes), elements, elements of a block, kernels' side (1 byte each), then the message.
 */
#include "fuzz.h"
#include "sparse_block.h"

#define MOST 300

struct sides {
    struct sparse_layout layout;
    const uint8_t *message;
    size_t length, bytes;
    unsigned char *theirs, *ours; /* elements */
};

static void *room(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    FUZZ_CHECK(memory != NULL);
    return memset(memory, 0, bytes + 1);
}

/** Elements of which most are the same. */
static void fill_ours(struct sides *s)
{
    size_t size = s->layout.operator->size;
    for (size_t i = 0; i < s->layout.count; i++)
        for (size_t b = 0; b < size; b++) s->ours[i * size + b] = (unsigned char)(i % 11 == 3 ? i + b : 0);
}

/** Padding is not data: where it may differ, it is made the same by a round trip into zeros. */
static void check_same(const struct sides *s, const void *a, const void *b)
{
    unsigned char *messages = room(sparse_bound(&s->layout, 0, s->layout.blocks)), *x = room(s->bytes), *y = room(s->bytes);
    (void)sparse_encode(&s->layout, 0, s->layout.blocks, a, true, messages, NULL);
    sparse_decode(&s->layout, 0, s->layout.blocks, messages, x);
    (void)sparse_encode(&s->layout, 0, s->layout.blocks, b, true, messages, NULL);
    sparse_decode(&s->layout, 0, s->layout.blocks, messages, y);
    FUZZ_CHECK(memcmp(x, y, s->bytes) == 0);
    free(messages);
    free(x);
    free(y);
}

/** Their elements on the left or on the right of ours, in every way there is. */
static void merge(struct sides *s, int right)
{
    size_t bound = sparse_bound(&s->layout, 0, s->layout.blocks), blocks = s->layout.blocks;
    unsigned char *expected = room(s->bytes), *dense = room(s->bytes), *own = room(bound), *out = room(bound);
    memcpy(expected, right ? s->theirs : s->ours, s->bytes);
    s->layout.operator->apply(right ? s->ours : s->theirs, expected, s->layout.count, NULL);
    memcpy(dense, s->ours, s->bytes);
    sparse_merge_dense(&s->layout, 0, blocks, s->message, right, dense, NULL);
    check_same(s, dense, expected);
    const void *left = right ? own : (const void *)s->message, *other = right ? (const void *)s->message : own;
    for (int forced = 0; forced < 4; forced++) {
        (void)sparse_encode(&s->layout, 0, blocks, s->ours, forced & 1, own, NULL);
        size_t length = sparse_merge(&s->layout, 0, blocks, left, other, forced >> 1, out, NULL);
        FUZZ_CHECK(length <= bound && sparse_check(&s->layout, 0, blocks, out, length));
        sparse_decode(&s->layout, 0, blocks, out, dense);
        check_same(s, dense, expected);
    }
    free(expected);
    free(dense);
    free(own);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct sparse_operator operator;
    struct sides s = {0};
    enum sparse_type type = (enum sparse_type)(fuzz_byte(&input) % SPARSE_OPAQUE);
    enum sparse_op op = (enum sparse_op)(fuzz_byte(&input) % SPARSE_USER);
    if (!sparse_operator_predefined(op, type, &operator)) return 0;
    size_t count = fuzz_byte(&input) % MOST, block = fuzz_byte(&input) + 1;
    int right = (int)fuzz_byte(&input) & 1;
    s.layout = (struct sparse_layout){
        .operator = &operator, .count = count, .block = block, .blocks = count / block + (count % block != 0)};
    s.bytes = count * operator.size;
    s.length = input.left;
    uint8_t *message = room(s.length); /* ends where its memory ends */
    if (s.length > 0) memcpy(message + 1, input.byte, s.length);
    s.message = message + 1;
    if (sparse_check(&s.layout, 0, s.layout.blocks, s.message, s.length)) {
        FUZZ_CHECK(sparse_span(&s.layout, s.message, s.layout.blocks) == s.length);
        s.theirs = room(s.bytes);
        s.ours = room(s.bytes);
        fill_ours(&s);
        sparse_decode_past(&s.layout, 0, s.layout.blocks, s.message, s.theirs);
        sparse_decode(&s.layout, 0, s.layout.blocks, s.message, s.ours);
        check_same(&s, s.theirs, s.ours);
        fill_ours(&s);
        merge(&s, right);
        free(s.theirs);
        free(s.ours);
    }
    free(message);
    return 0;
}
