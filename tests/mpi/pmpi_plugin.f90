! SPDX-License-Identifier: BSD-3-Clause
! A Fortran library that a program opens at run time: the MPI library's Fortran part comes with it, out of sight of the
! rest.
subroutine plugin_exchange(right, left) bind(C, name="plugin_exchange")
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer(c_int), value :: right, left
  integer :: size, request, ierr
  integer, allocatable :: counts(:), fewer(:), places(:), all(:)
  integer :: i
  double precision :: out(7), in(7)
  out = 1
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Isend(out, 7, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(in, 7, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  allocate (counts(size), fewer(size), places(size), all(3 * size))
  counts = 3
  fewer = 1
  places = [(3 * i, i = 0, size - 1)]
  all = 0
  call MPI_Alltoallv(MPI_IN_PLACE, fewer, places, MPI_BYTE, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
end subroutine
