/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_place.c: what module lucid_place calls. Arguments come by reference; what the program left out is NULL.
 */
#include <string.h>

#include <lucid_place.h>

/* The two interoperable types of lucid_place.F90. */
struct fortran_options {
    int64_t kinds, recorded, remaining, moved_bytes, seed;
    double seconds, change_seconds;
    int always, everywhere;
};
struct fortran_decision {
    double times[6];
    int64_t break_even;
    int reordered;
    char reason[160];
};
struct fortran_review {
    double before, after;
    int64_t between_before, between_after;
    int taken_back;
};

LUCID_PUBLIC void lucid_f_comm_reorder(const MPI_Fint *comm, const MPI_Fint *session, const struct fortran_options *options,
                                       const char *algorithm, MPI_Fint *newcomm, struct fortran_decision *decision,
                                       MPI_Fint *k, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mapping(const MPI_Fint *session, MPI_Fint *k, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_reorder_review(const MPI_Fint *original, const MPI_Fint *before, const int64_t *recorded_before,
                                         MPI_Fint *newcomm, const MPI_Fint *after, const int64_t *recorded_after,
                                         const int *take_back, struct fortran_review *review, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_redistribute(void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *k,
                                       const MPI_Fint *comm, MPI_Fint *ierror);

static void give(MPI_Fint *ierror, int code)
{
    if (ierror != NULL) *ierror = code;
}

static void copy_decision(const lucid_decision_t *from, struct fortran_decision *to)
{
    const double times[6] = {from->before, from->after, from->mapping, from->measuring, from->creating, from->moving};
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
        .seed = (uint64_t)options->seed, .seconds = options->seconds,
        .change_seconds = options->change_seconds, .always = options->always,
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

void lucid_f_reorder_review(const MPI_Fint *original, const MPI_Fint *before, const int64_t *recorded_before, MPI_Fint *newcomm,
                            const MPI_Fint *after, const int64_t *recorded_after, const int *take_back,
                            struct fortran_review *review, MPI_Fint *ierror)
{
    lucid_review_t made = {.taken_back = 0};
    MPI_Comm reordered = MPI_Comm_f2c(*newcomm);
    int code = lucid_reorder_review(MPI_Comm_f2c(*original), *before, (uint64_t)*recorded_before, &reordered, *after,
                                    (uint64_t)*recorded_after, *take_back, &made);
    if (code == LUCID_SUCCESS && made.taken_back) *newcomm = *original;
    *review = (struct fortran_review){made.before, made.after, (int64_t)made.between_before, (int64_t)made.between_after,
                                      made.taken_back};
    give(ierror, code);
}

void lucid_f_redistribute(void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *k,
                          const MPI_Fint *comm, MPI_Fint *ierror)
{
    give(ierror, lucid_redistribute(buffer, *count, MPI_Type_f2c(*datatype), k, MPI_Comm_f2c(*comm)));
}
