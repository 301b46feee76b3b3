/* SPDX-License-Identifier: BSD-3-Clause
 * mpit_alone.c: liblucid opened with dlopen, so that no MPI call comes through its wrappers. The mpit source then
 * cannot tell the user's messages from the collectives', says so, and counts them all, each once. The environment stays
 * as the library has made it. Arguments: the library, and what OMPI_MCA_osc must be then.
 */
#include <dlfcn.h>

#include <lucid.h>

#include "api_check.h"

static int size;

static int (*init)(void);
static int (*finalize)(void);
static int (*start)(MPI_Comm, const char *, lucid_session_t *);
static int (*suspend)(lucid_session_t);
static int (*get)(lucid_session_t, uint64_t, uint64_t *, uint64_t *);
static int (*info)(const char **, unsigned *);

static int find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

static int open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    int good = find(library, "lucid_init", &init) && find(library, "lucid_finalize", &finalize) &&
               find(library, "lucid_session_start", &start) && find(library, "lucid_session_suspend", &suspend) &&
               find(library, "lucid_session_get", &get) && find(library, "lucid_source_info", &info);
    return good ? 0 : -1;
}

/* 120 bytes to the right, and a barrier. */
static void traffic(void)
{
    char out[120] = {0}, in[120];
    int right = (check_rank + 1) % size, left = (check_rank + size - 1) % size;
    MPI_Sendrecv(out, 120, MPI_BYTE, right, 0, in, 120, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_session(void)
{
    uint64_t count[64], bytes[64], divided[64], messages = 0;
    lucid_session_t session;
    CHECK_OK(start(MPI_COMM_WORLD, NULL, &session));
    traffic();
    CHECK_OK(suspend(session));
    CHECK_OK(get(session, LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED), count, bytes));
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(bytes[i], i == (check_rank + 1) % size ? 120 : 0);
        messages += count[i];
    }
    CHECK(size == 1 ? messages == 1 : messages >= 2); /* the barrier sends, too */
    CHECK_OK(get(session, LUCID_KINDS_ALL & ~LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED), divided, NULL));
    for (int i = 0; i < size; i++) CHECK_EQUAL(divided[i], 0);
}

int main(int argc, char **argv)
{
    const char *name = "";
    unsigned sees = 0;
    if (argc < 2 || open_library(argv[1]) != 0) return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    if (argc > 2) CHECK(getenv("OMPI_MCA_osc") != NULL && strcmp(getenv("OMPI_MCA_osc"), argv[2]) == 0);
    CHECK_OK(init());
    CHECK_OK(info(&name, &sees));
    CHECK(strcmp(name, "mpit") == 0);
    CHECK_EQUAL(sees, LUCID_SEES_DECOMPOSED);
    check_session();
    CHECK_OK(finalize());
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
