/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_place.c: what module lucid_place calls. Arguments come by reference; what the program left out is NULL.
 */
#include <string.h>

#include <lucid_place.h>

/* The two interoperable types of lucid_place.F90. */
struct fortran_options {
    int64_t kinds, recorded, remaining, moved_bytes, seed;
    double seconds;
    int always, everywhere;
};
struct fortran_decision {
    double times[5];
    int64_t break_even;
    int reordered;
    char reason[160];
};

LUCID_PUBLIC void lucid_f_comm_reorder(const MPI_Fint *comm, const MPI_Fint *session, const struct fortran_options *options,
                                       const char *algorithm, MPI_Fint *newcomm, struct fortran_decision *decision,
                                       MPI_Fint *k, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mapping(const MPI_Fint *session, MPI_Fint *k, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_redistribute(void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *k,
                                       const MPI_Fint *comm, MPI_Fint *ierror);

static void give(MPI_Fint *ierror, int code)
{
    if (ierror != NULL) *ierror = code;
}

static void copy_decision(const lucid_decision_t *from, struct fortran_decision *to)
{
    const double times[5] = {from->before, from->after, from->mapping, from->creating, from->moving};
    memcpy(to->times, times, sizeof to->times);
    to->break_even = from->break_even > INT64_MAX ? INT64_MAX : (int64_t)from->break_even;
    to->reordered = from->reordered;
    memset(to->reason, ' ', sizeof to->reason);
    memcpy(to->reason, from->reason, strnlen(from->reason, sizeof to->reason));
}

void lucid_f_comm_reorder(const MPI_Fint *comm, const MPI_Fint *session, const struct fortran_options *options,
                          const char *algorithm, MPI_Fint *newcomm, struct fortran_decision *decision, MPI_Fint *k,
                          MPI_Fint *ierror)
{
    lucid_decision_t made = {.reordered = 0};
    MPI_Comm reordered;
    lucid_reorder_options_t wanted = {
        .kinds = (uint64_t)options->kinds, .recorded = (uint64_t)options->recorded,
        .remaining = (uint64_t)options->remaining, .moved_bytes = (uint64_t)options->moved_bytes,
        .seed = (uint64_t)options->seed, .seconds = options->seconds, .always = options->always,
        .everywhere = options->everywhere, .algorithm = algorithm[0] != '\0' ? algorithm : NULL, .k = k};
    int code = lucid_comm_reorder(MPI_Comm_f2c(*comm), *session, &wanted, &reordered, &made);
    if (code == LUCID_SUCCESS) *newcomm = made.reordered ? MPI_Comm_c2f(reordered) : *comm;
    copy_decision(&made, decision);
    give(ierror, code);
}

void lucid_f_mapping(const MPI_Fint *session, MPI_Fint *k, MPI_Fint *ierror)
{
    give(ierror, lucid_mapping(NULL, *session, k));
}

void lucid_f_redistribute(void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *k,
                          const MPI_Fint *comm, MPI_Fint *ierror)
{
    give(ierror, lucid_redistribute(buffer, *count, MPI_Type_f2c(*datatype), k, MPI_Comm_f2c(*comm)));
}
