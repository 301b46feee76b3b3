/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_peers.h: what sparse_peers.c compares. Public MPI only, for MPICH.
 */
#ifndef SPARSE_PEERS_H
#define SPARSE_PEERS_H

#include <mpi.h>
#include <stdbool.h>

enum { PEER_REDUCE, PEER_ALLREDUCE, PEER_SCATTER, PEER_CALLS };

struct peer_call {
    int kind;
    const void *in;
    void *out;
    int count;        /* elements of the whole vector, a multiple of the ranks */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

enum peer_way { PEER_LIBRARY, PEER_FORCED, PEER_CIRCULANT, PEER_TWIN, PEER_LUCID };

struct peer_routine {
    const char *name;
    enum peer_way way;
    int kind;             /* the call it is for; PEER_CALLS: all */
    const char *variable; /* PEER_FORCED: what selects the algorithm, and by which word */
    const char *word;
};

extern const struct peer_routine peer_routines[];
extern const int peer_routine_count;

/* Opens a second copy of liblucid whose reductions are dense ones, which the preloaded copy knows nothing of. */
void peer_open_twin(const char *library);

/* Whether the routine is for this call, and can be had here. */
bool peer_there(const struct peer_routine *routine, int kind);

/* What MPI_T_cvar_write does before the routine, and what takes it back. */
void peer_select(const struct peer_routine *routine);
void peer_select_default(const struct peer_routine *routine);

int peer_run(const struct peer_routine *routine, const struct peer_call *call);

/* How many reductions this process has left to Lucid and Lucid has run itself; 0 for what is not Lucid. */
unsigned long long peer_taken(const struct peer_routine *routine);

/* MPI_Reduce to rank 0 of commutative operators by Traeff's circulant graphs. */
int peer_circulant(const struct peer_call *call);

#endif
