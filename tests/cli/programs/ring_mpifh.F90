! SPDX-License-Identifier: BSD-3-Clause
! The ring of ring.c, in Fortran.
program ring_mpifh
  implicit none
  include 'mpif.h'
  integer :: rank, size, i, ierror
  integer :: status(MPI_STATUS_SIZE)
  character(len=1000) :: out, in
  double precision :: mine, total

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  out = ' '
  do i = 1, 10
    call MPI_Sendrecv(out, 1000, MPI_CHARACTER, modulo(rank + 1, size), 0, &
                      in, 1000, MPI_CHARACTER, modulo(rank - 1, size), 0, MPI_COMM_WORLD, status, ierror)
  end do
  mine = rank
  call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) write (*, '(a, i0, a, i0)') 'sum ', int(total), ' of ', size
  call MPI_Finalize(ierror)
end program ring_mpifh
