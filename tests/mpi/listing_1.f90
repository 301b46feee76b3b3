! SPDX-License-Identifier: BSD-3-Clause
! listing_1.f90: Listing 1 of Inria RR 9292, completed to a full program: every process sends 1000 bytes to the next
! one, and the matrices go to a file. listing_check.py runs it and reads the files.
PROGRAM Main
  USE MPI_Monitoring
  IMPLICIT NONE
  INCLUDE "mpif.h"
  INTEGER retval, msid, rank, nprocs, next, previous
  INTEGER status(MPI_STATUS_SIZE)
  CHARACTER(1000) outgoing, incoming

  CALL MPI_Init(retval)
  CALL MPI_M_init(retval)
  IF (retval /= MPI_SUCCESS) STOP 1
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, retval)
  CALL MPI_Comm_size(MPI_COMM_WORLD, nprocs, retval)
  next = MODULO(rank + 1, nprocs)
  previous = MODULO(rank - 1, nprocs)
  outgoing = "Lucid"

  CALL MPI_M_start(MPI_COMM_WORLD, msid, retval)
  IF (retval /= MPI_SUCCESS) STOP 2
  CALL MPI_Sendrecv(outgoing, 1000, MPI_CHARACTER, next, 0, incoming, 1000, MPI_CHARACTER, previous, 0, &
                    MPI_COMM_WORLD, status, retval)
  CALL MPI_M_suspend(msid, retval)
  IF (retval /= MPI_SUCCESS) STOP 3

  CALL MPI_M_rootflush(msid, 0, "ring   ", MPI_M_P2P_ONLY, retval)
  IF (retval /= MPI_SUCCESS) STOP 4
  CALL MPI_M_free(msid, retval)
  IF (retval /= MPI_SUCCESS) STOP 5
  CALL MPI_M_finalize(retval)
  IF (retval /= MPI_SUCCESS) STOP 6
  CALL MPI_Finalize(retval)
END PROGRAM Main
