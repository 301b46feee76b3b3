/* SPDX-License-Identifier: BSD-3-Clause
 * Every rank sends its successor 1000 bytes and says what Lucid saw of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <lucid.h>

#define BYTES 1000

static void fail(const char *what, int code)
{
    fprintf(stderr, "consumer: %s: %s\n", what, lucid_error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, size, code;
    lucid_session_t session;
    char sent[BYTES] = {0}, received[BYTES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if ((code = lucid_init()) != LUCID_SUCCESS)
        fail("lucid_init", code);
    if ((code = lucid_session_start(MPI_COMM_WORLD, "ring", &session)) != LUCID_SUCCESS)
        fail("lucid_session_start", code);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Sendrecv(sent, BYTES, MPI_CHAR, next, 0, received, BYTES, MPI_CHAR, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    lucid_session_suspend(session);

    uint64_t *bytes = calloc((size_t)size, sizeof *bytes);
    if ((code = lucid_session_get(session, LUCID_KINDS_USER, NULL, bytes)) != LUCID_SUCCESS)
        fail("lucid_session_get", code);
    printf("rank %d sent %llu bytes to rank %d\n", rank, (unsigned long long)bytes[next], next);
    free(bytes);
    lucid_session_free(session);
    lucid_finalize();
    MPI_Finalize();
    return 0;
}
