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
   use lucid_sparse
   implicit none
   external :: larger
   integer, parameter :: n = 50000
   double precision, asynchronous :: input(n), output(n), wanted(n)
   integer :: rank, size, level, ierror, i, r, calls = 2
   character(len=16) :: expect
   type(lucid_sparse_figures) :: before, after
#if defined(TEST_F08)
   type(MPI_Request) :: request
   type(MPI_Op) :: op
#else
   integer :: request, op
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
   call wait_for_messages
   call own_operator
   call MPI_Finalize(ierror)
contains
   ! The last process joins when all others have had a message, and have told it so: nobody may wait for the reduction instead.
   subroutine wait_for_messages
      integer :: way, token, of, where
#if defined(TEST_F08)
      type(MPI_Request) :: both(2)
#else
      integer :: both(2)
#endif
      token = 0
      do way = 1, 3
         if (rank == size - 1) then
            do of = 0, size - 2
               call MPI_Send(token, 1, MPI_INTEGER, of, 6, MPI_COMM_WORLD, ierror)
            end do
            do of = 0, size - 2
               call MPI_Recv(token, 1, MPI_INTEGER, of, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            end do
         end if
         output = -1
         call MPI_Iallreduce(input, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, both(1), ierror)
         if (rank < size - 1) then
            call MPI_Irecv(token, 1, MPI_INTEGER, size - 1, 6, MPI_COMM_WORLD, both(2), ierror)
            where = 2
            if (way == 1) call MPI_Wait(both(2), MPI_STATUS_IGNORE, ierror)
            if (way == 2) call MPI_Waitall(1, both(2:2), MPI_STATUSES_IGNORE, ierror)
            if (way == 3) call MPI_Waitany(2, both, where, MPI_STATUS_IGNORE, ierror)
            if (where /= 2 .or. both(2) /= MPI_REQUEST_NULL) call fail('the message is not what has come')
            call MPI_Send(token, 1, MPI_INTEGER, size - 1, 7, MPI_COMM_WORLD, ierror)
         end if
         call MPI_Waitall(1, both(1:1), MPI_STATUSES_IGNORE, ierror)
         call check('a reduction beside a message')
      end do
   end subroutine
   ! The library's until it is declared.
   subroutine own_operator
      call MPI_Op_create(larger, .true., op, ierror)
      do i = 1, n
         wanted(i) = 0
         do r = 0, size - 1
            if (mod(i, 97) == mod(r, 7)) wanted(i) = max(wanted(i), r + 1d0)
         end do
      end do
      call lucid_sparse_get_figures(before)
      call MPI_Allreduce(input, output, n, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror)
      call check('an operator of our own')
      call lucid_sparse_get_figures(after)
      if (after%taken /= before%taken) call fail('an operator is taken that was not declared')
      call lucid_op_set_elementwise(op, ierror)
      if (ierror /= 0) call fail('lucid_op_set_elementwise fails')
      output = -1
      call MPI_Allreduce(input, output, n, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror)
      call check('a declared operator')
      call lucid_sparse_get_figures(after)
      if (expect == 'taken' .and. size > 1 .and. after%taken - before%taken /= 1) call fail('a declared operator is not taken')
      call MPI_Op_free(op, ierror)
   end subroutine
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

#if defined(TEST_F08)
subroutine larger(in, inout, length, datatype)
   use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
   use mpi_f08, only: MPI_Datatype
   type(c_ptr), value :: in, inout
   integer :: length
   type(MPI_Datatype) :: datatype
   double precision, pointer :: a(:), b(:)
   call c_f_pointer(in, a, [length])
   call c_f_pointer(inout, b, [length])
   b = max(a, b)
end subroutine
#else
subroutine larger(in, inout, length, datatype)
   integer :: length, datatype
   double precision :: in(length), inout(length)
   inout = max(in, inout)
end subroutine
#endif
