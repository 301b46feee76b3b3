! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Lucid authors
!
! Module lucid_place: lucid_place.h for Fortran: from a session to a communicator whose ranks sit where their messages are.
!
! Communicators are integers (`use mpi`, mpif.h) or type(MPI_Comm) (`use mpi_f08`). A mapping k(i + 1) is the rank, from 0,
! that the process of rank i gets. The last argument is the return value; it may be left out.
module lucid_place
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private

  ! All defaults: nothing pays, since no iteration remains.
  type, public :: lucid_reorder_options
    integer(int64) :: kinds = 0         ! traffic that counts; 0: every point-to-point message
    integer(int64) :: recorded = 1      ! iterations that the session has recorded
    integer(int64) :: remaining = 0     ! iterations still to come
    integer(int64) :: moved_bytes = 0   ! bytes of data that each process would have to move
    logical :: always = .false.         ! reorder wherever the mapping is better
    logical :: everywhere = .false.     ! every process maps with a seed of its own
    character(len=24) :: algorithm = '' ! '': auto
    real(c_double) :: seconds = 0       ! time budget of the mapping; 0: chosen
    integer(int64) :: seed = 0
  end type

  ! What was decided. Times in seconds; break_even = huge(0_int64): never.
  type, public :: lucid_decision
    logical :: reordered = .false.
    character(len=160) :: reason = ''
    real(c_double) :: before = 0, after = 0, mapping = 0, creating = 0, moving = 0
    integer(int64) :: break_even = 0
  end type

  ! What passes between the languages: figures of lucid_decision_t, and of lucid_reorder_options_t.
  type, bind(C) :: options_in_c
    integer(c_int64_t) :: kinds, recorded, remaining, moved_bytes, seed
    real(c_double) :: seconds
    integer(c_int) :: always, everywhere
  end type
  type, bind(C) :: decision_in_c
    real(c_double) :: times(5)
    integer(c_int64_t) :: break_even
    integer(c_int) :: reordered
    character(kind=c_char) :: reason(160)
  end type

  public :: lucid_comm_reorder, lucid_mapping, lucid_redistribute

  interface
    subroutine reorder_in_c(comm, session, options, algorithm, newcomm, decision, k, ierror) &
        bind(C, name="lucid_f_comm_reorder")
      import :: c_char, decision_in_c, options_in_c
      integer :: comm, session, newcomm
      type(options_in_c) :: options
      character(kind=c_char) :: algorithm(*)
      type(decision_in_c) :: decision
      integer, optional :: k(*)
      integer, optional :: ierror
    end subroutine

    ! The mapping alone, for the live job. k: as many elements as the communicator has processes.
    subroutine lucid_mapping(session, k, ierror) bind(C, name="lucid_f_mapping")
      integer :: session, k(*)
      integer, optional :: ierror
    end subroutine

    subroutine redistribute_in_c(buffer, count, datatype, k, comm, ierror) bind(C, name="lucid_f_redistribute")
      type(*), dimension(*) :: buffer
      integer :: count, datatype, k(*), comm
      integer, optional :: ierror
    end subroutine
  end interface

  interface lucid_comm_reorder
    module procedure reorder_integer
#ifdef LUCID_F08
    module procedure reorder_f08
#endif
  end interface

  ! Brings every rank's data, in place, to the process that has this rank in the reordered communicator.
  interface lucid_redistribute
    module procedure redistribute_integer
#ifdef LUCID_F08
    module procedure redistribute_f08
#endif
  end interface

contains

  ! newcomm: the reordered communicator, to be freed if decision%reordered; else comm itself.
  subroutine reorder_integer(comm, session, options, newcomm, decision, k, ierror)
    integer :: comm, session, newcomm
    type(lucid_reorder_options), intent(in) :: options
    type(lucid_decision), intent(out) :: decision
    integer, optional :: k(*)
    integer, optional :: ierror
    type(options_in_c) :: to_c
    type(decision_in_c) :: from_c
    integer :: i
    to_c = options_in_c(options%kinds, options%recorded, options%remaining, options%moved_bytes, options%seed, &
                        options%seconds, merge(1, 0, options%always), merge(1, 0, options%everywhere))
    call reorder_in_c(comm, session, to_c, trim(options%algorithm) // c_null_char, newcomm, from_c, k, ierror)
    decision%reordered = from_c%reordered /= 0
    decision%before = from_c%times(1)
    decision%after = from_c%times(2)
    decision%mapping = from_c%times(3)
    decision%creating = from_c%times(4)
    decision%moving = from_c%times(5)
    decision%break_even = from_c%break_even
    do i = 1, len(decision%reason)
      decision%reason(i:i) = from_c%reason(i)
    end do
  end subroutine

  subroutine redistribute_integer(buffer, count, datatype, k, comm, ierror)
    type(*), dimension(*) :: buffer
    integer :: count, datatype, k(*), comm
    integer, optional :: ierror
    call redistribute_in_c(buffer, count, datatype, k, comm, ierror)
  end subroutine

#ifdef LUCID_F08
  subroutine reorder_f08(comm, session, options, newcomm, decision, k, ierror)
    use mpi_f08, only: MPI_Comm
    type(MPI_Comm) :: comm, newcomm
    integer :: session
    type(lucid_reorder_options), intent(in) :: options
    type(lucid_decision), intent(out) :: decision
    integer, optional :: k(*)
    integer, optional :: ierror
    call reorder_integer(comm%MPI_VAL, session, options, newcomm%MPI_VAL, decision, k, ierror)
  end subroutine

  subroutine redistribute_f08(buffer, count, datatype, k, comm, ierror)
    use mpi_f08, only: MPI_Comm, MPI_Datatype
    type(*), dimension(*) :: buffer
    integer :: count, k(*)
    type(MPI_Datatype) :: datatype
    type(MPI_Comm) :: comm
    integer, optional :: ierror
    call redistribute_in_c(buffer, count, datatype%MPI_VAL, k, comm%MPI_VAL, ierror)
  end subroutine
#endif
end module lucid_place
