! SPDX-License-Identifier: BSD-3-Clause
! api_fortran.F90: every procedure of the modules MPI_Monitoring and lucid, beside `use mpi_f08` (WITH_F08), `use mpi`
! (WITH_MPI) or mpif.h (neither). A ring: every process sends rank + 1 messages of 8 integers to the next.
#ifdef WITH_F08
#define COMM_TYPE type(MPI_Comm)
#define STATUS_TYPE type(MPI_Status)
#else
#define COMM_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#endif
program api_fortran
#if defined(WITH_F08)
  use mpi_f08
#elif defined(WITH_MPI)
  use mpi
#endif
  use MPI_Monitoring
  use lucid
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  implicit none
#if !defined(WITH_F08) && !defined(WITH_MPI)
  include "mpif.h"
#endif

  interface
    ! api_fortran_constants.c: the value of a constant in the C headers
    integer(int64) function lucid_test_constant(i) bind(C)
      import :: int64
      integer, value :: i
    end function
  end interface

  integer :: failures = 0, rank, size, next, previous, ierror, all_failures
  character(len=4096) :: directory

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = modulo(rank + 1, size)
  previous = modulo(rank - 1, size)
  call get_command_argument(1, directory)
  call constants()
  call kinds()
  call the_paper()
  call codes()
  call beyond_it()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (all_failures > 0) stop 1

contains

  subroutine check(what, found, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: found, wanted
    if (found == wanted) return
    failures = failures + 1
    write (error_unit, *) 'rank', rank, what, ' is', found, 'should be', wanted
  end subroutine

  subroutine check_long(what, found, wanted)
    character(len=*), intent(in) :: what
    integer(int64), intent(in) :: found, wanted
    if (found == wanted) return
    failures = failures + 1
    write (error_unit, *) 'rank', rank, what, ' is', found, 'should be', wanted
  end subroutine

  subroutine ring()
    integer :: i, data(8), got(8), code
    STATUS_TYPE :: status
    data = rank
    ! the number of messages differs: receive as many as the left neighbour sends
    do i = 1, size + 1
      call MPI_Sendrecv(data, 8, MPI_INTEGER, merge(next, MPI_PROC_NULL, i <= rank + 1), 0, got, 8, MPI_INTEGER, &
                        merge(previous, MPI_PROC_NULL, i <= previous + 1), 0, MPI_COMM_WORLD, status, code)
    end do
  end subroutine

  ! The modules' constants are written by hand: they must be those of the headers.
  subroutine constants()
    integer(int64), parameter :: here(*) = [integer(int64) :: &
        MPI_M_ALL_MSID, MPI_M_P2P_ONLY, MPI_M_COLL_ONLY, MPI_M_OSC_ONLY, MPI_M_ALL_COMM, MPI_M_INTERNAL_FAIL, &
        MPI_M_MPIT_FAIL, MPI_M_MISSING_INIT, MPI_M_SESSION_STILL_ACTIVE, MPI_M_SESSION_NOT_SUSPENDED, &
        MPI_M_INVALID_MSID, MPI_M_SESSION_OVERFLOW, MPI_M_MULTIPLE_CALL, MPI_M_INVALID_ROOT, LUCID_ALL_SESSIONS, &
        LUCID_SUCCESS, LUCID_ERR_INTERNAL, LUCID_ERR_MPI, LUCID_ERR_MISSING_INIT, LUCID_ERR_STILL_ACTIVE, &
        LUCID_ERR_NOT_SUSPENDED, LUCID_ERR_SESSION, LUCID_ERR_OVERFLOW, LUCID_ERR_MULTIPLE_CALL, LUCID_ERR_ROOT, &
        LUCID_ERR_ARG, LUCID_ERR_IO, LUCID_ERR_TOO_LARGE, LUCID_ERR_NOT_FOUND, LUCID_KINDS_USER, LUCID_KINDS_COLL, &
        LUCID_KINDS_P2P, LUCID_KINDS_OSC, LUCID_KINDS_ALL, LUCID_KIND_COUNT, LUCID_HISTOGRAM_BINS]
    integer :: i
    do i = 1, ubound(here, 1)
      call check_long('a constant', here(i), lucid_test_constant(i - 1))
    end do
    call check_long('the end', lucid_test_constant(ubound(here, 1)), -999_int64)
  end subroutine

  subroutine kind_is(kind, name)
    integer, intent(in) :: kind
    character(len=*), intent(in) :: name
    if (lucid_kind_name(kind) == name) return
    call check('kind ' // name // ', which is called ' // trim(lucid_kind_name(kind)), 0, 1)
  end subroutine

  subroutine kinds()
    call kind_is(LUCID_KIND_P2P, 'p2p')
    call kind_is(LUCID_KIND_BARRIER, 'barrier')
    call kind_is(LUCID_KIND_BCAST, 'bcast')
    call kind_is(LUCID_KIND_GATHER, 'gather')
    call kind_is(LUCID_KIND_GATHERV, 'gatherv')
    call kind_is(LUCID_KIND_SCATTER, 'scatter')
    call kind_is(LUCID_KIND_SCATTERV, 'scatterv')
    call kind_is(LUCID_KIND_ALLGATHER, 'allgather')
    call kind_is(LUCID_KIND_ALLGATHERV, 'allgatherv')
    call kind_is(LUCID_KIND_ALLTOALL, 'alltoall')
    call kind_is(LUCID_KIND_ALLTOALLV, 'alltoallv')
    call kind_is(LUCID_KIND_ALLTOALLW, 'alltoallw')
    call kind_is(LUCID_KIND_REDUCE, 'reduce')
    call kind_is(LUCID_KIND_ALLREDUCE, 'allreduce')
    call kind_is(LUCID_KIND_REDUCE_SCATTER, 'reduce_scatter')
    call kind_is(LUCID_KIND_REDUCE_SCATTER_BLOCK, 'reduce_scatter_block')
    call kind_is(LUCID_KIND_SCAN, 'scan')
    call kind_is(LUCID_KIND_EXSCAN, 'exscan')
    call kind_is(LUCID_KIND_NEIGHBOR, 'neighbor')
    call kind_is(LUCID_KIND_COMM, 'comm')
    call kind_is(LUCID_KIND_WINDOW, 'window')
    call kind_is(LUCID_KIND_FILE, 'file')
    call kind_is(LUCID_KIND_OTHER_COLL, 'other')
    call kind_is(LUCID_KIND_LIBRARY, 'library')
    call kind_is(LUCID_KIND_UNDIVIDED, 'undivided')
    call kind_is(LUCID_KIND_PUT, 'put')
    call kind_is(LUCID_KIND_GET, 'get')
    call kind_is(LUCID_KIND_ACCUMULATE, 'accumulate')
    call kind_is(LUCID_KIND_FETCH_AND_OP, 'fetch_and_op')
    call kind_is(LUCID_KIND_COMPARE_AND_SWAP, 'compare_and_swap')
    call kind_is(LUCID_KIND_COUNT, '')
    call check_long('lucid_kind_bit', lucid_kind_bit(LUCID_KIND_GET), 2_int64**LUCID_KIND_GET)
  end subroutine

  ! The API of the paper, every procedure with data.
  subroutine the_paper()
    integer :: msid, code, provided, elements, i
    integer(int64) :: counts(size), bytes(size), matrix(0:size - 1, 0:size - 1), sizes(0:size - 1, 0:size - 1)
    COMM_TYPE :: everybody
    everybody = MPI_COMM_WORLD
    call MPI_M_init(code)
    call check('init', code, MPI_SUCCESS)
    call MPI_M_start(everybody, msid, code)
    call check('start', code, MPI_SUCCESS)
    call ring()
    call MPI_M_suspend(msid)
    call ring()
    call MPI_M_continue(msid, code)
    call check('continue', code, MPI_SUCCESS)
    call MPI_M_suspend(MPI_M_ALL_MSID, code)
    call check('suspend', code, MPI_SUCCESS)
    provided = -5
    call MPI_M_get_info(msid, MPI_M_INT_IGNORE, elements, code)
    call check('array_size', elements, size)
    call MPI_M_get_info(msid, provided, MPI_M_INT_IGNORE)
    call check('provided', merge(0, 1, provided >= MPI_THREAD_SINGLE .and. provided <= MPI_THREAD_MULTIPLE), 0)
    call check('int_ignore', MPI_M_INT_IGNORE, 0)

    call MPI_M_get_data(msid, counts, MPI_M_DATA_IGNORE, MPI_M_P2P_ONLY, code)
    call MPI_M_get_data(msid, MPI_M_DATA_IGNORE, bytes, MPI_M_P2P_ONLY, code)
    call check('get_data', code, MPI_SUCCESS)
    call check_long('data_ignore', int(MPI_M_DATA_IGNORE(1), int64), 0_int64)
    do i = 0, size - 1
      call check_long('counts', counts(i + 1), merge(rank + 1_int64, 0_int64, i == next))
      call check_long('bytes', bytes(i + 1), merge(32 * (rank + 1_int64), 0_int64, i == next))
    end do

    call MPI_M_allgather_data(msid, matrix, sizes, MPI_M_ALL_COMM, code)
    call check('allgather_data', code, MPI_SUCCESS)
    call check_ring_matrix(matrix, sizes)
    matrix = -1
    if (rank == size - 1) then
      call MPI_M_rootgather_data(msid, size - 1, matrix, MPI_M_DATA_IGNORE, MPI_M_P2P_ONLY, code)
      call check_ring_matrix(matrix, sizes)
    else
      call MPI_M_rootgather_data(msid, size - 1, MPI_M_DATA_IGNORE, MPI_M_DATA_IGNORE, MPI_M_P2P_ONLY, code)
    end if
    call check('rootgather_data', code, MPI_SUCCESS)
    call files(msid)
    call MPI_M_reset(msid, code)
    call MPI_M_get_data(msid, counts, bytes, MPI_M_ALL_COMM, code)
    call check_long('reset', sum(counts) + sum(bytes), 0_int64)
    call MPI_M_free(msid, code)
    call check('free', code, MPI_SUCCESS)
    call MPI_M_finalize(code)
    call check('finalize', code, MPI_SUCCESS)
  end subroutine

  ! Row = sender in C, so the sender is the second index here.
  subroutine check_ring_matrix(counts, bytes)
    integer(int64), intent(in) :: counts(0:, 0:), bytes(0:, 0:)
    integer :: from, to
    do from = 0, size - 1
      do to = 0, size - 1
        call check_long('matrix', counts(to, from), merge(from + 1_int64, 0_int64, to == modulo(from + 1, size)))
        call check_long('matrix of bytes', bytes(to, from), 32 * counts(to, from))
      end do
    end do
  end subroutine

  ! Names lose their trailing blanks.
  subroutine files(msid)
    integer, intent(in) :: msid
    integer :: code
    character(len=5000) :: name, text
    write (name, '(a, a, i0)') trim(directory), '/fortran', size
    call MPI_M_flush(msid, name, MPI_M_P2P_ONLY, code)
    call check('flush', code, MPI_SUCCESS)
    write (text, '(a, a, i0, a)') trim(name), '.', rank, '.prof'
    call remove_file(text)
    call MPI_M_rootflush(msid, 0, name, MPI_M_P2P_ONLY, code)
    call check('rootflush', code, MPI_SUCCESS)
    if (rank == 0) call remove_file(trim(name) // '_counts.0.prof')
    if (rank == 0) call remove_file(trim(name) // '_sizes.0.prof')
    call MPI_M_flush(msid, trim(directory) // '/missing/file', MPI_M_P2P_ONLY, code)
    call check('flush into nothing', code, MPI_M_INTERNAL_FAIL)
  end subroutine

  ! Fails where there is no such file.
  subroutine remove_file(name)
    character(len=*), intent(in) :: name
    integer :: unit, code
    open (newunit=unit, file=trim(name), status='old', iostat=code)
    call check('a file ' // trim(name), code, 0)
    if (code == 0) close (unit, status='delete')
  end subroutine

  subroutine codes()
    integer :: msid, code
    integer(int64) :: data(size)
    msid = 77
    call MPI_M_start(MPI_COMM_WORLD, msid, code)
    call check('start without init', code, MPI_M_MISSING_INIT)
    call check('msid after a failure', msid, 77)
    call MPI_M_init()
    call MPI_M_init(code)
    call check('init twice', code, MPI_M_MULTIPLE_CALL)
    call MPI_M_start(MPI_COMM_NULL, msid, code)
    call check('start on nothing', code, MPI_M_MPIT_FAIL)
    call MPI_M_suspend(77, code)
    call check('suspend of nothing', code, MPI_M_INVALID_MSID)
    call MPI_M_start(MPI_COMM_SELF, msid, code)
    call MPI_M_get_data(msid, data, data, MPI_M_ALL_COMM, code)
    call check('get_data of an active session', code, MPI_M_SESSION_NOT_SUSPENDED)
    call MPI_M_finalize(code)
    call check('finalize with an active session', code, MPI_M_SESSION_STILL_ACTIVE)
    call MPI_M_suspend(msid, code)
    call MPI_M_rootgather_data(msid, 1, data, data, MPI_M_ALL_COMM, code)
    call check('rootgather_data to a bad root', code, MPI_M_INVALID_ROOT)
    call MPI_M_finalize(code)
    call check('finalize', code, MPI_SUCCESS)
  end subroutine

  ! Module lucid.
  subroutine beyond_it()
    integer :: session, found, code, elements
    integer(int64) :: counts(size), bytes(size), bins(LUCID_HISTOGRAM_BINS), outside, outside_bytes
    character(len=63) :: name
    name = 'ring'
    call lucid_init(code)
    call check('lucid_init', code, LUCID_SUCCESS)
    call lucid_session_start(MPI_COMM_WORLD, name, session, code)
    call check('lucid_session_start', code, LUCID_SUCCESS)
    call ring()
    call lucid_session_find('ring', found, code)
    call check('lucid_session_find', found, session)
    call lucid_session_find('king', found, code)
    call check('a name that is none', code, LUCID_ERR_NOT_FOUND)
    call lucid_session_suspend(session, code)
    call lucid_session_continue(session)
    call lucid_session_suspend(LUCID_ALL_SESSIONS, code)
    call check('lucid_session_suspend', code, LUCID_SUCCESS)
    call lucid_session_size(session, elements, code)
    call check('lucid_session_size', elements, size)
    call lucid_session_get(session, LUCID_KINDS_USER, counts, bytes, code)
    call check_long('lucid_session_get', bytes(next + 1), 32 * (rank + 1_int64))
    call lucid_session_get(session, LUCID_KINDS_USER, bytes=bytes)
    call check_long('lucid_session_get without counts', sum(bytes), 32 * (rank + 1_int64))
    call lucid_session_outside(session, LUCID_KINDS_ALL, outside, outside_bytes, code)
    call check_long('lucid_session_outside', outside + outside_bytes, 0_int64)
    call lucid_session_histogram(session, LUCID_KINDS_USER, bins, code)
    call check_long('lucid_session_histogram', bins(7), rank + 1_int64)
    call check_long('all bins', sum(bins), rank + 1_int64)
    call sparse(session)
    call lucid_session_write(session, trim(directory) // '/missing/x.json', code)
    call check('lucid_session_write', code, LUCID_ERR_IO)
    call lucid_session_reset(session, code)
    call check('lucid_session_reset', code, LUCID_SUCCESS)
    call lucid_session_free(session, code)
    call check('lucid_session_free', code, LUCID_SUCCESS)
    call lucid_finalize(code)
    call check('lucid_finalize', code, LUCID_SUCCESS)
  end subroutine

  subroutine sparse(session)
    integer, intent(in) :: session
    type(lucid_matrix) :: matrix
    integer :: code, from, root
    integer(int64) :: i
    root = size / 2
    call lucid_session_gather(session, root, LUCID_KINDS_USER, matrix, code)
    call check('lucid_session_gather', code, LUCID_SUCCESS)
    call check('size of the matrix', matrix%size, merge(size, 0, rank == root))
    if (rank /= root) return
    call check_long('entries', matrix%entries, int(size, int64))
    do from = 0, size - 1
      i = matrix%row_start(from + 1)
      call check_long('row', matrix%row_start(from + 2) - i, 1_int64)
      call check('column', matrix%column(i), modulo(from + 1, size))
      call check_long('count', matrix%count(i), from + 1_int64)
      call check_long('bytes', matrix%bytes(i), 32 * (from + 1_int64))
    end do
    call lucid_session_gather(session, size, LUCID_KINDS_USER, matrix, code) ! refused before anything is sent
    call check('lucid_session_gather to a bad root', code, LUCID_ERR_ROOT)
    call check('size of no matrix', matrix%size, 0)
  end subroutine
end program api_fortran
