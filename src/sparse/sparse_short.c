/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_short.h. */
#include "sparse_short.h"

/* A dense call takes some tenths of a microsecond longer for being looked up, and for those of them that are looked at. That is a few parts in
 * a hundred of this, and for so many looks in a row only: then it is given up. */
static const double long_enough = 10e-6;
enum { DENSE_LOOKS = 24 };

bool sparse_short_worth(double seconds)
{
    return seconds >= long_enough;
}

_Static_assert(SPARSE_SHORT_LEAST << SPARSE_SHORT_SIZES == SPARSE_SHORT_MOST, "all sizes");

bool sparse_short_unsettled(const struct sparse_short *s, const struct sparse_parameters *parameters, size_t bytes)
{
    const bool free = !parameters->always && parameters->algorithm == SPARSE_LIBRARY && parameters->clock;
    return bytes >= SPARSE_SHORT_LEAST && bytes < parameters->short_bytes && parameters->short_measured && free && !s->settled;
}

static unsigned size_of(size_t bytes)
{
    unsigned size = 0;
    while (size + 1 < SPARSE_SHORT_SIZES && bytes >= (size_t)SPARSE_SHORT_LEAST << (size + 1)) size++;
    return size;
}

bool sparse_short_begin(struct sparse_short *s, size_t bytes, double now)
{
    if (s->calls >= SPARSE_SHORT_CALLS) return true;
    s->calls++;
    s->size = size_of(bytes);
    s->since = now;
    return false;
}

void sparse_short_end(struct sparse_short *s, double now)
{
    const double took = now - s->since;
    double *least = &s->least[s->size];
    if (s->since > 0 && (*least == 0 || took < *least)) *least = took;
    s->since = 0;
}

/* Of several calls the quickest counts: it has waited least for others. */
size_t sparse_short_bytes(const struct sparse_short *s)
{
    for (unsigned size = 0; size < SPARSE_SHORT_SIZES; size++)
        if (sparse_short_worth(s->least[size])) return (size_t)SPARSE_SHORT_LEAST << size;
    return SPARSE_SHORT_MOST;
}

int sparse_short_settle(struct sparse_short *s, const struct sparse_transport *transport, int tag,
                        const struct sparse_surroundings *surroundings, struct sparse_parameters *parameters)
{
    uint64_t bytes = sparse_short_bytes(s);
    int rc = sparse_measure_tell(transport, tag, surroundings, &bytes, sizeof bytes);
    s->settled = true;
    if (!rc) parameters->short_bytes = (size_t)bytes;
    return rc;
}

bool sparse_short_gives_up(struct sparse_short *s, double density, enum sparse_worth worth)
{
    const bool sparse = density < 0.5;
    if (density < 0 || (!sparse && worth == SPARSE_OPEN)) return false;
    s->dense = sparse || worth == SPARSE_WORTH ? 0 : s->dense + 1;
    return s->dense == DENSE_LOOKS;
}
