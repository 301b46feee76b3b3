/* SPDX-License-Identifier: BSD-3-Clause */
/* From elements to a message. A block comes from memory once: the scan leaves its mask on the stack and its elements in L2, the
 * format follows from their number, and the exceptions are then picked by the mask. The background of the block before is tried
 * first, because looking for one costs cache misses; it is kept while it covers half of a block, for then nothing is more common. The
 * first block begins with a guess. */
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_sample.h"
#include "sparse_types.h"

#define STEP ((size_t)4096) /* elements scanned before asking whether it is still worth it */
#define TOO_MANY SIZE_MAX
#define ALIKE ((size_t)4) /* elements for a guess */

struct encoder {
    const struct sparse_operator *operator;
    const struct sparse_moves *moves;
    bool padded, known;
    unsigned char *positions; /* where a list of them would begin; NULL: none is made during the scan */
    _Alignas(64) unsigned char background[SPARSE_MAX_SIZE];
    _Alignas(64) uint64_t mask[SPARSE_MAX_WORDS];
};

/* The scan for elements with padding: on a copy in which it is zero. */
static size_t scan_padded(const struct encoder *encoder, const unsigned char *dense, size_t count, const void *background,
                          uint64_t *mask)
{
    struct sparse_scratch copy;
    size_t size = encoder->operator->size, piece = sparse_piece(size), found = 0;
    for (size_t start = 0; start < count; start += piece) {
        size_t n = count - start < piece ? count - start : piece;
        memcpy(copy.bytes, dense + start * size, n * size);
        sparse_clear_padding(encoder->operator, copy.bytes, n);
        found += encoder->moves->scan(copy.bytes, n, size, background, mask + start / 64);
    }
    return found;
}

/* The exceptions, or TOO_MANY as soon as there are more than `most`. */
static size_t scan(struct encoder *encoder, const unsigned char *dense, size_t count, const void *background, size_t most)
{
    size_t size = encoder->operator->size, found = 0;
    for (size_t start = 0; start < count; start += STEP) {
        size_t n = count - start < STEP ? count - start : STEP;
        uint64_t *mask = encoder->mask + start / 64;
        const unsigned char *at = dense + start * size;
        if (encoder->positions) found += encoder->moves->list(at, n, size, background, start, mask, encoder->positions + 2 * found);
        else found += encoder->padded ? scan_padded(encoder, at, n, background, mask) : encoder->moves->scan(at, n, size, background, mask);
        if (found > most) return TOO_MANY;
    }
    return found;
}

/* The most exceptions with which something is shorter than dense. */
static size_t most_exceptions(size_t count, size_t size)
{
    size_t low = 0, high = count; /* dense with `high` */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(sparse_shortest(count, middle, size) == SPARSE_DENSE ? &high : &low) = middle;
    }
    return low;
}

/* Leaves the background in the encoder and returns the exceptions, or TOO_MANY for a block that is dense. */
static size_t find_exceptions(struct encoder *encoder, const unsigned char *dense, size_t count)
{
    unsigned char background[SPARSE_MAX_SIZE];
    size_t size = encoder->operator->size;
    if (encoder->known) {
        size_t found = scan(encoder, dense, count, encoder->background, count / 2);
        if (found != TOO_MANY) return found;
        encoder->known = false;
    }
    if (sparse_background(encoder->operator, dense, count, background) == 0) return TOO_MANY;
    size_t found = scan(encoder, dense, count, background, most_exceptions(count, size));
    if (found == TOO_MANY) return TOO_MANY;
    memcpy(encoder->background, background, size);
    encoder->known = found <= count / 2;
    return found;
}

/* What the vector begins with, several times over. */
static void guess(struct encoder *encoder, const unsigned char *dense, size_t count)
{
    size_t size = encoder->operator->size;
    encoder->known = !encoder->padded && count >= ALIKE && memcmp(dense, dense + size, (ALIKE - 1) * size) == 0;
    if (encoder->known) memcpy(encoder->background, dense, size);
}

static struct sparse_view write_dense(const struct encoder *encoder, const void *dense, size_t count, void *message)
{
    struct sparse_view view = sparse_view_begin(SPARSE_DENSE, count, count, encoder->operator->size, message);
    memcpy((void *)view.values, dense, count * encoder->operator->size);
    sparse_clear_padding(encoder->operator, (void *)view.values, count);
    return view;
}

/* A list is made during the scan where the blocks before had enough exceptions (with fewer it takes longer) and not too many (then a
 * bitmap is shorter), and where there is room for a list of every element. */
static void expect(struct encoder *encoder, const struct sparse_tally *before, size_t count, unsigned char *message)
{
    size_t size = encoder->operator->size;
    bool lists = before->exceptions >= before->elements / 256 && before->exceptions < before->elements / 16;
    bool room = size + 2 * count <= count * size;
    encoder->positions = encoder->moves->list && !encoder->padded && room && lists ? message + SPARSE_HEADER + size : NULL;
}

static struct sparse_view encode_block(struct encoder *encoder, const void *dense, size_t count, bool force_dense, void *message)
{
    const struct sparse_operator *operator = encoder->operator;
    size_t found = force_dense ? TOO_MANY : find_exceptions(encoder, dense, count);
    enum sparse_format format = found == TOO_MANY ? SPARSE_DENSE : sparse_shortest(count, found, operator->size);
    if (format == SPARSE_DENSE) return write_dense(encoder, dense, count, message);
    struct sparse_view view = sparse_view_begin(format, count, found, operator->size, message);
    memcpy((void *)view.background, encoder->background, operator->size);
    if (format == SPARSE_CONSTANT) return view;
    if (format == SPARSE_POSITIONS) {
        if (!encoder->positions) sparse_kernels()->locate(encoder->mask, sparse_words(count), found, (void *)view.where);
        encoder->moves->take(dense, view.where, found, operator->size, (void *)view.values);
    } else {
        memcpy((void *)view.where, encoder->mask, 8 * sparse_words(count));
        encoder->moves->compress(dense, count, operator->size, encoder->mask, found, (void *)view.values);
    }
    sparse_clear_padding(operator, (void *)view.values, found);
    return view;
}

size_t sparse_encode(const struct sparse_layout *layout, size_t first, size_t blocks, const void *dense, bool force_dense,
                     void *message, struct sparse_tally *tally)
{
    struct encoder encoder;
    const unsigned char *from = dense;
    unsigned char *to = message;
    encoder.operator = layout->operator;
    encoder.moves = sparse_moves(layout->operator->size);
    encoder.padded = sparse_padded(layout->operator);
    struct sparse_tally here = {0}, *so_far = tally ? tally : &here;
    guess(&encoder, dense, blocks > 0 ? sparse_block_elements(layout, first) : 0);
    for (size_t i = first; i < first + blocks; i++) {
        size_t count = sparse_block_elements(layout, i);
        expect(&encoder, so_far, count, to);
        struct sparse_view view = encode_block(&encoder, from, count, force_dense, to);
        sparse_tally_written(so_far, &view);
        from += count * layout->operator->size;
        to += view.bytes;
    }
    return (size_t)(to - (unsigned char *)message);
}
