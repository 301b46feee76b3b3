! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Lucid authors
!
! Module lucid: lucid.h for Fortran, beside `use mpi`, `use mpi_f08` or `include "mpif.h"`.
!
! A session is an integer, figures are integer(int64), a set of kinds is an integer(int64) mask. Names and paths lose
! their trailing blanks. The last argument is the return value; it may be left out. Ranks count from 0, as in MPI.
module lucid
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_null_char, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private

  integer, parameter, public :: LUCID_ALL_SESSIONS = -1
  integer, parameter, public :: LUCID_SUCCESS = 0
  integer, parameter, public :: LUCID_ERR_INTERNAL = -1
  integer, parameter, public :: LUCID_ERR_MPI = -2
  integer, parameter, public :: LUCID_ERR_MISSING_INIT = -3
  integer, parameter, public :: LUCID_ERR_STILL_ACTIVE = -4
  integer, parameter, public :: LUCID_ERR_NOT_SUSPENDED = -5
  integer, parameter, public :: LUCID_ERR_SESSION = -6
  integer, parameter, public :: LUCID_ERR_OVERFLOW = -7
  integer, parameter, public :: LUCID_ERR_MULTIPLE_CALL = -8
  integer, parameter, public :: LUCID_ERR_ROOT = -9
  integer, parameter, public :: LUCID_ERR_ARG = -10
  integer, parameter, public :: LUCID_ERR_IO = -11
  integer, parameter, public :: LUCID_ERR_TOO_LARGE = -12
  integer, parameter, public :: LUCID_ERR_NOT_FOUND = -13

  integer, parameter, public :: LUCID_KIND_P2P = 0
  integer, parameter, public :: LUCID_KIND_BARRIER = 1
  integer, parameter, public :: LUCID_KIND_BCAST = 2
  integer, parameter, public :: LUCID_KIND_GATHER = 3
  integer, parameter, public :: LUCID_KIND_GATHERV = 4
  integer, parameter, public :: LUCID_KIND_SCATTER = 5
  integer, parameter, public :: LUCID_KIND_SCATTERV = 6
  integer, parameter, public :: LUCID_KIND_ALLGATHER = 7
  integer, parameter, public :: LUCID_KIND_ALLGATHERV = 8
  integer, parameter, public :: LUCID_KIND_ALLTOALL = 9
  integer, parameter, public :: LUCID_KIND_ALLTOALLV = 10
  integer, parameter, public :: LUCID_KIND_ALLTOALLW = 11
  integer, parameter, public :: LUCID_KIND_REDUCE = 12
  integer, parameter, public :: LUCID_KIND_ALLREDUCE = 13
  integer, parameter, public :: LUCID_KIND_REDUCE_SCATTER = 14
  integer, parameter, public :: LUCID_KIND_REDUCE_SCATTER_BLOCK = 15
  integer, parameter, public :: LUCID_KIND_SCAN = 16
  integer, parameter, public :: LUCID_KIND_EXSCAN = 17
  integer, parameter, public :: LUCID_KIND_NEIGHBOR = 18
  integer, parameter, public :: LUCID_KIND_COMM = 19
  integer, parameter, public :: LUCID_KIND_WINDOW = 20
  integer, parameter, public :: LUCID_KIND_FILE = 21
  integer, parameter, public :: LUCID_KIND_OTHER_COLL = 22
  integer, parameter, public :: LUCID_KIND_LIBRARY = 23
  integer, parameter, public :: LUCID_KIND_UNDIVIDED = 24
  integer, parameter, public :: LUCID_KIND_PUT = 25
  integer, parameter, public :: LUCID_KIND_GET = 26
  integer, parameter, public :: LUCID_KIND_ACCUMULATE = 27
  integer, parameter, public :: LUCID_KIND_FETCH_AND_OP = 28
  integer, parameter, public :: LUCID_KIND_COMPARE_AND_SWAP = 29
  integer, parameter, public :: LUCID_KIND_COUNT = 30

  integer(int64), parameter, public :: LUCID_KINDS_USER = 1_int64
  integer(int64), parameter, public :: LUCID_KINDS_COLL = &
      ishft(1_int64, LUCID_KIND_OTHER_COLL + 1) - ishft(1_int64, LUCID_KIND_BARRIER)
  integer(int64), parameter, public :: LUCID_KINDS_P2P = ishft(1_int64, LUCID_KIND_UNDIVIDED + 1) - 1
  integer(int64), parameter, public :: LUCID_KINDS_OSC = &
      ishft(1_int64, LUCID_KIND_COUNT) - ishft(1_int64, LUCID_KIND_PUT)
  integer(int64), parameter, public :: LUCID_KINDS_ALL = ishft(1_int64, LUCID_KIND_COUNT) - 1
  integer, parameter, public :: LUCID_HISTOGRAM_BINS = 65

  ! A square sparse matrix in compressed rows: the messages of sender s (from 0) to column(i) (from 0) are count(i) and
  ! bytes(i) for i = row_start(s + 1), ..., row_start(s + 2) - 1.
  type, public :: lucid_matrix
    integer :: size = 0
    integer(int64) :: entries = 0
    integer(int64), allocatable :: row_start(:), count(:), bytes(:)
    integer, allocatable :: column(:)
  end type

  ! struct lucid_matrix of lucid.h
  type, bind(C) :: matrix_in_c
    integer(c_int) :: size
    integer(c_size_t) :: entries
    type(c_ptr) :: row_start, column, count, bytes
  end type

  public :: lucid_init, lucid_finalize, lucid_session_start, lucid_session_suspend, lucid_session_continue
  public :: lucid_session_reset, lucid_session_free, lucid_session_find, lucid_session_size, lucid_session_get
  public :: lucid_session_outside, lucid_session_histogram, lucid_session_gather, lucid_session_write
  public :: lucid_kind_bit, lucid_kind_name

  interface
    subroutine lucid_init(ierror) bind(C, name="lucid_f_init")
      integer, optional :: ierror
    end subroutine

    subroutine lucid_finalize(ierror) bind(C, name="lucid_f_finalize")
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_suspend(session, ierror) bind(C, name="lucid_f_session_suspend")
      integer :: session
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_continue(session, ierror) bind(C, name="lucid_f_session_continue")
      integer :: session
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_reset(session, ierror) bind(C, name="lucid_f_session_reset")
      integer :: session
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_free(session, ierror) bind(C, name="lucid_f_session_free")
      integer :: session
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_size(session, size, ierror) bind(C, name="lucid_f_session_size")
      integer :: session, size
      integer, optional :: ierror
    end subroutine

    ! counts and bytes may be left out where they are not wanted.
    subroutine lucid_session_get(session, kinds, counts, bytes, ierror) bind(C, name="lucid_f_session_get")
      import :: int64
      integer :: session
      integer(int64) :: kinds
      integer(int64), optional :: counts(*), bytes(*)
      integer, optional :: ierror
    end subroutine

    subroutine lucid_session_outside(session, kinds, count, bytes, ierror) bind(C, name="lucid_f_session_outside")
      import :: int64
      integer :: session
      integer(int64) :: kinds, count, bytes
      integer, optional :: ierror
    end subroutine

    ! bins: LUCID_HISTOGRAM_BINS elements
    subroutine lucid_session_histogram(session, kinds, bins, ierror) bind(C, name="lucid_f_session_histogram")
      import :: int64
      integer :: session
      integer(int64) :: kinds, bins(*)
      integer, optional :: ierror
    end subroutine

    subroutine start_in_c(comm, name, session, ierror) bind(C, name="lucid_f_session_start")
      import :: c_char
      integer :: comm, session
      character(kind=c_char) :: name(*)
      integer, optional :: ierror
    end subroutine

    subroutine find_in_c(name, session, ierror) bind(C, name="lucid_f_session_find")
      import :: c_char
      character(kind=c_char) :: name(*)
      integer :: session
      integer, optional :: ierror
    end subroutine

    subroutine write_in_c(session, path, ierror) bind(C, name="lucid_f_session_write")
      import :: c_char
      integer :: session
      character(kind=c_char) :: path(*)
      integer, optional :: ierror
    end subroutine

    subroutine gather_in_c(session, root, kinds, filled, matrix, ierror) bind(C, name="lucid_f_session_gather")
      import :: int64, matrix_in_c
      integer :: session, root, filled
      integer(int64) :: kinds
      type(matrix_in_c) :: matrix
      integer, optional :: ierror
    end subroutine

    subroutine free_in_c(matrix) bind(C, name="lucid_matrix_free")
      import :: matrix_in_c
      type(matrix_in_c) :: matrix
    end subroutine

    subroutine kind_name_in_c(kind, length, name) bind(C, name="lucid_f_kind_name")
      import :: c_char, c_int
      integer(c_int), value :: kind, length
      character(kind=c_char) :: name(*)
    end subroutine
  end interface

  ! The communicator is an integer (`use mpi`, mpif.h) or a type(MPI_Comm) (`use mpi_f08`). name: '' for none.
  interface lucid_session_start
    module procedure start_integer
#ifdef LUCID_F08
    module procedure start_f08
#endif
  end interface

contains

  subroutine start_integer(comm, name, session, ierror)
    integer :: comm, session
    character(len=*) :: name
    integer, optional :: ierror
    call start_in_c(comm, trim(name) // c_null_char, session, ierror)
  end subroutine

#ifdef LUCID_F08
  subroutine start_f08(comm, name, session, ierror)
    use mpi_f08, only: MPI_Comm
    type(MPI_Comm) :: comm
    character(len=*) :: name
    integer :: session
    integer, optional :: ierror
    call start_in_c(comm%MPI_VAL, trim(name) // c_null_char, session, ierror)
  end subroutine
#endif

  subroutine lucid_session_find(name, session, ierror)
    character(len=*) :: name
    integer :: session
    integer, optional :: ierror
    call find_in_c(trim(name) // c_null_char, session, ierror)
  end subroutine

  subroutine lucid_session_write(session, path, ierror)
    integer :: session
    character(len=*) :: path
    integer, optional :: ierror
    call write_in_c(session, trim(path) // c_null_char, ierror)
  end subroutine

  ! matrix: filled at root, left empty elsewhere.
  subroutine lucid_session_gather(session, root, kinds, matrix, ierror)
    integer :: session, root
    integer(int64) :: kinds
    type(lucid_matrix), intent(out) :: matrix
    integer, optional :: ierror
    type(matrix_in_c) :: from_c
    integer :: filled
    call gather_in_c(session, root, kinds, filled, from_c, ierror)
    if (filled == 0) return
    call copy_matrix(from_c, matrix)
    call free_in_c(from_c)
  end subroutine

  subroutine copy_matrix(from_c, matrix)
    type(matrix_in_c), intent(in) :: from_c
    type(lucid_matrix), intent(out) :: matrix
    integer(c_size_t), pointer :: row_start(:)
    integer(c_int), pointer :: column(:)
    integer(int64), pointer :: count(:), bytes(:)
    call c_f_pointer(from_c%row_start, row_start, [from_c%size + 1])
    call c_f_pointer(from_c%column, column, [from_c%entries])
    call c_f_pointer(from_c%count, count, [from_c%entries])
    call c_f_pointer(from_c%bytes, bytes, [from_c%entries])
    matrix%size = from_c%size
    matrix%entries = int(from_c%entries, int64)
    matrix%row_start = int(row_start, int64) + 1
    matrix%column = column
    matrix%count = count
    matrix%bytes = bytes
  end subroutine

  pure integer(int64) function lucid_kind_bit(kind)
    integer, intent(in) :: kind
    lucid_kind_bit = ishft(1_int64, kind)
  end function

  ! The name of a kind ('bcast'), blank where there is none.
  function lucid_kind_name(kind) result(name)
    integer, intent(in) :: kind
    character(len=32) :: name
    call kind_name_in_c(int(kind, c_int), int(len(name), c_int), name)
  end function
end module lucid
