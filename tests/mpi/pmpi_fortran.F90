! SPDX-License-Identifier: BSD-3-Clause
! What Fortran programs send is seen, whichever way they know MPI: TEST_MPIF is mpif.h, TEST_F08 is mpi_f08, else module
! mpi. With mpi_f08 the error code is left out, as it may be there.
#ifdef TEST_F08
#define IERR
#define HANDLE(KIND) type(KIND)
#else
#define IERR , ierr
#define HANDLE(KIND) integer
#endif

module rows
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), parameter :: P2P = 0, BCAST = 2, ALLGATHER = 7, ALLTOALL = 9, ALLTOALLV = 10, ALLTOALLW = 11, &
      ALLREDUCE = 13, REDUCE_SCATTER = 14, PUT = 25, GET = 26, ACCUMULATE = 27, FETCH_AND_OP = 28
  interface
    subroutine row_open() bind(C, name="row_open_f")
    end subroutine
    subroutine row_begin() bind(C, name="row_begin_f")
    end subroutine
    subroutine row_expect(kind, peer, messages, bytes) bind(C, name="row_expect_f")
      import :: c_int
      integer(c_int), value :: kind, peer, messages, bytes
    end subroutine
    subroutine row_end_c(what) bind(C, name="row_end_f")
      import :: c_char
      character(kind=c_char), intent(in) :: what(*)
    end subroutine
    integer(c_int) function row_close() bind(C, name="row_close_f")
      import :: c_int
    end function
  end interface
contains
  subroutine row_end(what)
    character(len=*), intent(in) :: what
    call row_end_c(what // c_null_char)
  end subroutine
end module

program fortran
#if defined(TEST_F08)
  use mpi_f08
#elif !defined(TEST_MPIF)
  use mpi
#endif
  use rows
  implicit none
#ifdef TEST_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: n = 10
  integer :: ierr, rank, size, right, left, outcome
  double precision :: out(n), in(n)

  ierr = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  out = rank
  call row_open()
  call point_to_point()
  call persistent()
  call communicators()
  call collectives()
  call vectors()
  call one_sided()
  call file()
#if defined(TEST_F08) && defined(TEST_HAS_LARGE_COUNTS)
  call large_counts()
#endif
  outcome = row_close()
  call MPI_Pcontrol(1)
  call MPI_Finalize(ierr)
  if (outcome /= 0) error stop 1

contains

  subroutine to_all(kind, bytes)
    integer, intent(in) :: kind, bytes
    integer :: i
    do i = 0, size - 1
      if (i /= rank) call row_expect(kind, i, 1, bytes)
    end do
  end subroutine

  subroutine point_to_point()
    HANDLE(MPI_Request) :: request
    call row_begin()
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, request IERR)
    call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, right, 1, n * 8)
    call MPI_Irecv(in, n, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, request IERR)
    call MPI_Send(out, 3, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD IERR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, right, 1, 3 * 8)
    call MPI_Sendrecv(out, 2, MPI_INTEGER, right, 3, in, 2, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, right, 1, 2 * 4)
    call MPI_Sendrecv_replace(in, 1, MPI_INTEGER, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, right, 1, 4)
    call MPI_Send(out, 3, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 2, MPI_COMM_WORLD IERR)
    if (nint(in(n)) /= left) error stop 2
    call row_end("point to point")
    call row_begin() ! text has a hidden length, which nobody looks at
    call MPI_Sendrecv("text", 4, MPI_CHARACTER, right, 3, in, 4, MPI_CHARACTER, left, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, right, 1, 4)
    call row_end("characters")
  end subroutine

  subroutine persistent()
    HANDLE(MPI_Request) :: requests(2)
    integer :: i
    call MPI_Send_init(out, n, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(1) IERR)
    call MPI_Recv_init(in, n, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(2) IERR)
    call row_begin()
    do i = 1, 3
      call MPI_Startall(2, requests IERR)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERR)
    end do
    call MPI_Start(requests(2) IERR)
    call MPI_Start(requests(1) IERR)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERR)
    call row_expect(P2P, right, 4, 4 * n * 8)
    call row_end("persistent")
    call MPI_Request_free(requests(1) IERR)
    call MPI_Request_free(requests(2) IERR)
  end subroutine

  subroutine communicators()
    HANDLE(MPI_Comm) :: reversed
    integer :: there
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed IERR)
    call MPI_Comm_rank(reversed, there IERR)
    call row_begin()
    call MPI_Sendrecv(out, 2, MPI_INTEGER, mod(there + 1, size), 3, in, 2, MPI_INTEGER, mod(there + size - 1, size), 3, &
                      reversed, MPI_STATUS_IGNORE IERR)
    call row_expect(P2P, left, 1, 2 * 4)
    call row_end("a reversed communicator")
    call MPI_Comm_free(reversed IERR)
  end subroutine

  subroutine collectives()
    HANDLE(MPI_Request) :: request
    double precision :: all(n * size), more(n * size)
    call row_begin()
    call MPI_Bcast(all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD IERR)
    call MPI_Ibcast(all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request IERR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERR)
    if (rank == 0) call to_all(BCAST, n * 8)
    if (rank == 0) call to_all(BCAST, n * 8)
#ifdef TEST_HAS_BCAST_INIT
    call MPI_Bcast_init(all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request IERR)
    call MPI_Start(request IERR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERR)
    call MPI_Request_free(request IERR)
    if (rank == 0) call to_all(BCAST, n * 8)
#endif
    call MPI_Allreduce(out, in, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    if (nint(in(1)) /= size * (size - 1) / 2) error stop 3
    call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    call to_all(ALLREDUCE, n * 8)
    call to_all(ALLREDUCE, n * 8)
    call MPI_Allgather(out, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call MPI_Allgather(MPI_IN_PLACE, 99, MPI_INTEGER, all, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call to_all(ALLGATHER, n * 8)
    call to_all(ALLGATHER, n * 8)
    call MPI_Alltoall(all, n, MPI_DOUBLE_PRECISION, more, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call MPI_Alltoall(MPI_IN_PLACE, 99, MPI_INTEGER, more, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call to_all(ALLTOALL, n * 8)
    call to_all(ALLTOALL, n * 8)
    call row_end("collectives")
  end subroutine

  subroutine vectors()
    integer :: counts(size), fewer(size), places(size), bytes(size), all(n * size), more(n * size), i
    HANDLE(MPI_Datatype) :: types(size)
    counts = n
    fewer = 1
    places = [(n * i, i = 0, size - 1)]
    bytes = 4 * places
    types = MPI_INTEGER
    all = rank
    call row_begin()
    call MPI_Alltoallv(all, counts, places, MPI_INTEGER, more, counts, places, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call MPI_Alltoallv(MPI_IN_PLACE, fewer, places, MPI_BYTE, more, counts, places, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call to_all(ALLTOALLV, n * 4)
    call to_all(ALLTOALLV, n * 4)
    call MPI_Alltoallw(all, counts, bytes, types, more, counts, bytes, types, MPI_COMM_WORLD IERR)
    call to_all(ALLTOALLW, n * 4)
    call MPI_Reduce_scatter(all, more, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call to_all(REDUCE_SCATTER, n * 4)
    call row_end("vectors")
  end subroutine

  subroutine one_sided()
    HANDLE(MPI_Win) :: win
    integer, asynchronous :: memory(n)
    integer :: one, previous
    integer(MPI_ADDRESS_KIND) :: length, nowhere
    type(c_ptr) :: base
    nowhere = 0
    length = n * 4
    memory = rank
    one = 1
    call MPI_Win_create(memory, length, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERR)
    call row_begin()
    call MPI_Win_fence(0, win IERR)
    call MPI_Put(out, 5, MPI_INTEGER, right, nowhere, 5, MPI_INTEGER, win IERR)
    call MPI_Put(out, 5, MPI_INTEGER, MPI_PROC_NULL, nowhere, 5, MPI_INTEGER, win IERR)
    call row_expect(PUT, right, 1, 5 * 4)
    call MPI_Win_fence(0, win IERR)
    call MPI_Get(in, 5, MPI_INTEGER, right, nowhere, 5, MPI_INTEGER, win IERR)
    call row_expect(GET, right, 1, 5 * 4)
    call MPI_Win_fence(0, win IERR)
    call MPI_Accumulate(one, 1, MPI_INTEGER, right, nowhere, 1, MPI_INTEGER, MPI_SUM, win IERR)
    call row_expect(ACCUMULATE, right, 1, 4)
    call MPI_Win_fence(0, win IERR)
    call MPI_Get_accumulate(one, 0, MPI_INTEGER, in, 2, MPI_INTEGER, right, nowhere, 2, MPI_INTEGER, MPI_NO_OP, win IERR)
    call row_expect(ACCUMULATE, right, 1, 2 * 4)
    call MPI_Win_fence(0, win IERR)
    call MPI_Fetch_and_op(one, previous, MPI_INTEGER, right, nowhere, MPI_SUM, win IERR)
    call row_expect(FETCH_AND_OP, right, 1, 4)
    call MPI_Win_fence(0, win IERR)
    call row_end("one-sided")
    call MPI_Win_free(win IERR)
#ifndef TEST_MPIF
    call MPI_Win_allocate(length, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win IERR)
    if (.not. c_associated(base)) error stop 4
    call row_begin()
    call MPI_Win_fence(0, win IERR)
    call MPI_Put(out, 1, MPI_INTEGER, right, nowhere, 1, MPI_INTEGER, win IERR)
    call row_expect(PUT, right, 1, 4)
    call MPI_Win_fence(0, win IERR)
    call row_end("an allocated window")
    call MPI_Win_free(win IERR)
#endif
  end subroutine

  ! The name's length travels by value behind the other arguments.
  subroutine file()
    HANDLE(MPI_File) :: handle
    integer :: written, mode, unit
    logical :: there
    character(len=32) :: name
    write (name, '(a,i0,a)') "pmpi_fortran_", size, FILE_MARK
    mode = ior(MPI_MODE_CREATE, MPI_MODE_WRONLY)
    written = rank
    call row_begin()
    call MPI_File_open(MPI_COMM_WORLD, trim(name), mode, MPI_INFO_NULL, handle IERR)
    call MPI_File_write_ordered(handle, written, 1, MPI_INTEGER, MPI_STATUS_IGNORE IERR)
    call MPI_File_close(handle IERR)
    call row_end("a file")
    inquire (file=trim(name), exist=there)
    if (.not. there) error stop 5
    call PMPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) open (newunit=unit, file=trim(name))
    if (rank == 0) close (unit, status="delete")
  end subroutine

#if defined(TEST_F08) && defined(TEST_HAS_LARGE_COUNTS)
  subroutine large_counts()
    integer(MPI_COUNT_KIND) :: many, counts(size)
    integer(MPI_ADDRESS_KIND) :: places(size)
    double precision :: all(n * size), more(n * size)
    integer :: i
    many = n
    counts = n
    places = [(int(n * i, MPI_ADDRESS_KIND), i = 0, size - 1)]
    all = 0
    call row_begin()
    call MPI_Sendrecv(out, many, MPI_DOUBLE_PRECISION, right, 3, in, many, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call row_expect(P2P, right, 1, n * 8)
    call MPI_Bcast(all, many, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    if (rank == 0) call to_all(BCAST, n * 8)
    call MPI_Alltoallv(all, counts, places, MPI_DOUBLE_PRECISION, more, counts, places, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    call to_all(ALLTOALLV, n * 8)
    call row_end("large counts")
  end subroutine
#endif
end program
