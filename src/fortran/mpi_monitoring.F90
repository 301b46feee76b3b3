! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Lucid authors
!
! Module MPI_Monitoring: the API of MPI_Monitoring.h for Fortran, beside `use mpi`, `use mpi_f08` or `include "mpif.h"`.
!
! A session is an integer. Every procedure has one more argument than in C, the last: the return value; it may be left
! out. Data are integer(8) (c_long). A matrix arrives as C lays it out: in `mat(n, n)`, mat(receiver + 1, sender + 1).
! MPI_M_DATA_IGNORE and MPI_M_INT_IGNORE are known by their address: pass them themselves, not a copy.
module MPI_Monitoring
  use, intrinsic :: iso_c_binding, only: c_char, c_long, c_null_char
  implicit none
  private

  integer, parameter, public :: MPI_M_ALL_MSID = -1

  integer, parameter, public :: MPI_M_P2P_ONLY = 1
  integer, parameter, public :: MPI_M_COLL_ONLY = 2
  integer, parameter, public :: MPI_M_OSC_ONLY = 4
  integer, parameter, public :: MPI_M_ALL_COMM = 7

  integer, parameter, public :: MPI_M_INTERNAL_FAIL = -1
  integer, parameter, public :: MPI_M_MPIT_FAIL = -2
  integer, parameter, public :: MPI_M_MISSING_INIT = -3
  integer, parameter, public :: MPI_M_SESSION_STILL_ACTIVE = -4
  integer, parameter, public :: MPI_M_SESSION_NOT_SUSPENDED = -5
  integer, parameter, public :: MPI_M_INVALID_MSID = -6
  integer, parameter, public :: MPI_M_SESSION_OVERFLOW = -7
  integer, parameter, public :: MPI_M_MULTIPLE_CALL = -8
  integer, parameter, public :: MPI_M_INVALID_ROOT = -9

  integer(c_long), bind(C, name="lucid_f_data_ignore"), public :: MPI_M_DATA_IGNORE(1)
  integer, bind(C, name="lucid_f_int_ignore"), public :: MPI_M_INT_IGNORE

  public :: MPI_M_init, MPI_M_finalize, MPI_M_start, MPI_M_suspend, MPI_M_continue, MPI_M_reset, MPI_M_free
  public :: MPI_M_get_info, MPI_M_get_data, MPI_M_allgather_data, MPI_M_rootgather_data, MPI_M_flush, MPI_M_rootflush

  interface
    subroutine MPI_M_init(ierror) bind(C, name="lucid_f_mpi_m_init")
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_finalize(ierror) bind(C, name="lucid_f_mpi_m_finalize")
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_suspend(msid, ierror) bind(C, name="lucid_f_mpi_m_suspend")
      integer :: msid
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_continue(msid, ierror) bind(C, name="lucid_f_mpi_m_continue")
      integer :: msid
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_reset(msid, ierror) bind(C, name="lucid_f_mpi_m_reset")
      integer :: msid
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_free(msid, ierror) bind(C, name="lucid_f_mpi_m_free")
      integer :: msid
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_get_info(msid, provided, array_size, ierror) bind(C, name="lucid_f_mpi_m_get_info")
      integer :: msid, provided, array_size
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_get_data(msid, msg_counts, msg_sizes, flags, ierror) bind(C, name="lucid_f_mpi_m_get_data")
      import :: c_long
      integer :: msid, flags
      integer(c_long) :: msg_counts(*), msg_sizes(*)
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_allgather_data(msid, matrix_counts, matrix_sizes, flags, ierror) &
        bind(C, name="lucid_f_mpi_m_allgather_data")
      import :: c_long
      integer :: msid, flags
      integer(c_long) :: matrix_counts(*), matrix_sizes(*)
      integer, optional :: ierror
    end subroutine

    subroutine MPI_M_rootgather_data(msid, root, matrix_counts, matrix_sizes, flags, ierror) &
        bind(C, name="lucid_f_mpi_m_rootgather_data")
      import :: c_long
      integer :: msid, root, flags
      integer(c_long) :: matrix_counts(*), matrix_sizes(*)
      integer, optional :: ierror
    end subroutine
  end interface

  ! The communicator is an integer (`use mpi`, mpif.h) or a type(MPI_Comm) (`use mpi_f08`).
  interface MPI_M_start
    subroutine lucid_start_integer(comm, msid, ierror) bind(C, name="lucid_f_mpi_m_start")
      integer :: comm, msid
      integer, optional :: ierror
    end subroutine
#ifdef LUCID_F08
    subroutine lucid_start_f08(comm, msid, ierror) bind(C, name="lucid_f_mpi_m_start_f08")
      use mpi_f08, only: MPI_Comm
      type(MPI_Comm) :: comm
      integer :: msid
      integer, optional :: ierror
    end subroutine
#endif
  end interface

  interface
    subroutine lucid_flush_c(msid, filename, flags, ierror) bind(C, name="lucid_f_mpi_m_flush")
      import :: c_char
      integer :: msid, flags
      character(kind=c_char) :: filename(*)
      integer, optional :: ierror
    end subroutine

    subroutine lucid_rootflush_c(msid, root, filename, flags, ierror) bind(C, name="lucid_f_mpi_m_rootflush")
      import :: c_char
      integer :: msid, root, flags
      character(kind=c_char) :: filename(*)
      integer, optional :: ierror
    end subroutine
  end interface

contains

  ! Blanks at the end of the file name do not belong to it.
  subroutine MPI_M_flush(msid, filename, flags, ierror)
    integer :: msid, flags
    character(len=*) :: filename
    integer, optional :: ierror
    call lucid_flush_c(msid, trim(filename) // c_null_char, flags, ierror)
  end subroutine

  subroutine MPI_M_rootflush(msid, root, filename, flags, ierror)
    integer :: msid, root, flags
    character(len=*) :: filename
    integer, optional :: ierror
    call lucid_rootflush_c(msid, root, trim(filename) // c_null_char, flags, ierror)
  end subroutine
end module MPI_Monitoring
