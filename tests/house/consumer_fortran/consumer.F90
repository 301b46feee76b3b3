! SPDX-License-Identifier: BSD-3-Clause
! Every rank sends its successor 1000 bytes and says what Lucid saw of it.
program consumer
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use lucid
  implicit none
  integer :: rank, size, next, previous, session, code, ierror
  integer(int64), allocatable :: counts(:), bytes(:)
  character(len=1000) :: sent, received

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate(counts(size), bytes(size))
  sent = ""
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  call lucid_init(code)
  call lucid_session_start(MPI_COMM_WORLD, "ring", session, code)
  call MPI_Sendrecv(sent, 1000, MPI_CHARACTER, next, 0, received, 1000, MPI_CHARACTER, previous, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call lucid_session_suspend(session, code)
  call lucid_session_get(session, LUCID_KINDS_USER, counts, bytes, code)
  if (code /= LUCID_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  print "(a,i0,a,i0,a,i0)", "rank ", rank, " sent ", bytes(next + 1), " bytes to rank ", next
  call lucid_session_free(session, code)
  call lucid_finalize(code)
  call MPI_Finalize(ierror)
end program consumer
