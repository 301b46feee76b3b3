/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_matrix_market.c: lucid_matrix_read_mtx() on any text: what it passes on lies in the matrix, there are as many entries as the
 * file says if it is read to its end, and a file that is refused is refused with a reason on one line.
 */
#include "fuzz.h"
#include "matrix_read.h"

struct seen {
    int size;
    unsigned long entries;
};

static void entry(int row, int column, uint64_t value, void *arg)
{
    struct seen *seen = arg;
    (void)value;
    FUZZ_CHECK(seen->size > 0 && row >= 0 && row < seen->size && column >= 0 && column < seen->size);
    seen->entries++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {0, 0};
    char why[128] = "";
    if (size == 0) return 0;
    FILE *stream = fmemopen((void *)data, size, "r");
    FUZZ_CHECK(stream != NULL);
    int rc = lucid_matrix_read_mtx(stream, &seen.size, entry, &seen, why, sizeof why);
    FUZZ_CHECK(fclose(stream) == 0);
    if (rc == 0) {
        FUZZ_CHECK(seen.size > 0 && why[0] == '\0' && seen.entries <= 2 * size);
    } else {
        FUZZ_CHECK(rc == -1 && strncmp(why, "line ", 5) == 0 && !strchr(why, '\n') && strlen(why) > 8);
    }
    return 0;
}
