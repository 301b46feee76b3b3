! SPDX-License-Identifier: BSD-3-Clause
! sparse_fortran.F90: blocking, nonblocking and (MPI 4) persistent sparse reductions of a Fortran program, in place and not.
! TEST_F08: module mpi_f08, else mpi. The sums are of small whole numbers. LUCID_SPARSE=on must have taken them if
! SPARSE_EXPECT=taken.
program sparse_fortran
#if defined(TEST_F08)
   use mpi_f08
#else
   use mpi
#endif
   use iso_c_binding, only: c_int64_t
   implicit none
   type, bind(c) :: figures_t
      integer(c_int64_t) :: taken, passed, sent, saved
   end type
   interface
      subroutine lucid_sparse_get_figures(figures) bind(c)
         import :: figures_t
         type(figures_t), intent(out) :: figures
      end subroutine
   end interface
   integer, parameter :: n = 50000
   double precision, asynchronous :: input(n), output(n), wanted(n)
   integer :: rank, size, level, ierror, i, r, calls = 2
   character(len=16) :: expect
   type(figures_t) :: before, after
#if defined(TEST_F08)
   type(MPI_Request) :: request
#else
   integer :: request
#endif
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
   input = 0
   wanted = 0
   do i = 1, n
      if (mod(i, 97) == mod(rank, 7)) input(i) = rank + 1
      do r = 0, size - 1
         if (mod(i, 97) == mod(r, 7)) wanted(i) = wanted(i) + r + 1
      end do
   end do
   call MPI_Allreduce(input, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
   call check('MPI_Allreduce')
   call lucid_sparse_get_figures(before)
   output = -1
   call MPI_Iallreduce(input, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
   call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
   call check('MPI_Iallreduce')
   if (request /= MPI_REQUEST_NULL) call fail('MPI_Wait leaves a request')
   output = input
   call MPI_Iallreduce(MPI_IN_PLACE, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
   call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
   call check('MPI_Iallreduce in place')
#if defined(TEST_HAS_BCAST_INIT)
   calls = 4
   call MPI_Allreduce_init(input, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
   do i = 1, 2
      output = -1
      call MPI_Start(request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call check('MPI_Allreduce_init')
   end do
   call MPI_Request_free(request, ierror)
   if (request /= MPI_REQUEST_NULL) call fail('MPI_Request_free leaves a request')
#endif
   call lucid_sparse_get_figures(after)
   call get_environment_variable('SPARSE_EXPECT', expect)
   if (expect == 'taken' .and. size > 1 .and. after%taken - before%taken /= calls) call fail('calls are not taken')
   call MPI_Finalize(ierror)
contains
   subroutine check(what)
      character(len=*), intent(in) :: what
      if (ierror /= MPI_SUCCESS .or. any(output /= wanted)) call fail(what//' is wrong')
   end subroutine
   subroutine fail(what)
      character(len=*), intent(in) :: what
      write (0, *) 'sparse_fortran: ', what
      call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
   end subroutine
end program
