/* SPDX-License-Identifier: BSD-3-Clause
 * api_fortran_constants.c: the constants of the C headers, in the order of api_fortran.F90.
 */
#include <MPI_Monitoring.h>

long long lucid_test_constant(int i);

long long lucid_test_constant(int i)
{
    static const long long values[] = {
        MPI_M_ALL_MSID, MPI_M_P2P_ONLY, MPI_M_COLL_ONLY, MPI_M_OSC_ONLY, MPI_M_ALL_COMM, MPI_M_INTERNAL_FAIL,
        MPI_M_MPIT_FAIL, MPI_M_MISSING_INIT, MPI_M_SESSION_STILL_ACTIVE, MPI_M_SESSION_NOT_SUSPENDED,
        MPI_M_INVALID_MSID, MPI_M_SESSION_OVERFLOW, MPI_M_MULTIPLE_CALL, MPI_M_INVALID_ROOT, LUCID_ALL_SESSIONS,
        LUCID_SUCCESS, LUCID_ERR_INTERNAL, LUCID_ERR_MPI, LUCID_ERR_MISSING_INIT, LUCID_ERR_STILL_ACTIVE,
        LUCID_ERR_NOT_SUSPENDED, LUCID_ERR_SESSION, LUCID_ERR_OVERFLOW, LUCID_ERR_MULTIPLE_CALL, LUCID_ERR_ROOT,
        LUCID_ERR_ARG, LUCID_ERR_IO, LUCID_ERR_TOO_LARGE, LUCID_ERR_NOT_FOUND, LUCID_KINDS_USER, LUCID_KINDS_COLL,
        LUCID_KINDS_P2P, LUCID_KINDS_OSC, LUCID_KINDS_ALL, LUCID_KIND_COUNT, LUCID_HISTOGRAM_BINS,
    };
    return i >= 0 && (size_t)i < sizeof(values) / sizeof(*values) ? values[i] : -999;
}
