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
    real(c_double) :: change_seconds = 0 ! what the program itself will spend on a change beside moving data
    integer(int64) :: seed = 0
  end type

  ! What was decided. Times in seconds; break_even = huge(0_int64): never.
  type, public :: lucid_decision
    logical :: reordered = .false.
    character(len=160) :: reason = ''
    real(c_double) :: before = 0, after = 0, mapping = 0, measuring = 0, creating = 0, moving = 0
    integer(int64) :: break_even = 0
  end type

  ! What reordering has brought: seconds and bytes between nodes of an iteration.
  type, public :: lucid_review
    real(c_double) :: before = 0, after = 0
    integer(int64) :: between_before = 0, between_after = 0
    logical :: taken_back = .false.
  end type

  ! What passes between the languages: figures of lucid_decision_t, and of lucid_reorder_options_t.
  type, bind(C) :: options_in_c
    integer(c_int64_t) :: kinds, recorded, remaining, moved_bytes, seed
    real(c_double) :: seconds, change_seconds
    integer(c_int) :: always, everywhere
  end type
  type, bind(C) :: decision_in_c
    real(c_double) :: times(6)
    integer(c_int64_t) :: break_even
    integer(c_int) :: reordered
    character(kind=c_char) :: reason(160)
  end type
  type, bind(C) :: review_in_c
    real(c_double) :: before, after
    integer(c_int64_t) :: between_before, between_after
    integer(c_int) :: taken_back
  end type

  public :: lucid_comm_reorder, lucid_mapping, lucid_redistribute, lucid_reorder_review

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

    subroutine review_in_c_call(original, before, recorded_before, newcomm, after, recorded_after, take_back, review, ierror) &
        bind(C, name="lucid_f_reorder_review")
      import :: c_int, c_int64_t, review_in_c
      integer :: original, before, newcomm, after
      integer(c_int64_t) :: recorded_before, recorded_after
      integer(c_int) :: take_back
      type(review_in_c) :: review
      integer, optional :: ierror
    end subroutine

    ! The mapping alone, for the live job. k: as many elements as the communicator has processes.
    subroutine lucid_mapping(session, k, ierror) bind(C, name="lucid_f_mapping")
      integer :: session, k(*)
      integer, optional :: ierror
    end subroutine

    subroutine redistribute_in_c(buffer, count, datatype, k, comm, ierror) bind(C, name="lucid_f_redistribute")
      type(*), dimension(*) :: buffer
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
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

  ! Compares a session on the old communicator with one on the new one; take_back: a new one that is no better is freed, and
  ! newcomm becomes `original`.
  interface lucid_reorder_review
    module procedure review_integer
#ifdef LUCID_F08
    module procedure review_f08
#endif
  end interface

  ! Brings every rank's data, in place, to the process that has this rank in the reordered communicator. Data of any rank
  ! (number of dimensions): the directives below ask gfortran not to compare it.
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
                        options%seconds, options%change_seconds, merge(1, 0, options%always), merge(1, 0, options%everywhere))
    call reorder_in_c(comm, session, to_c, trim(options%algorithm) // c_null_char, newcomm, from_c, k, ierror)
    decision%reordered = from_c%reordered /= 0
    decision%before = from_c%times(1)
    decision%after = from_c%times(2)
    decision%mapping = from_c%times(3)
    decision%measuring = from_c%times(4)
    decision%creating = from_c%times(5)
    decision%moving = from_c%times(6)
    decision%break_even = from_c%break_even
    do i = 1, len(decision%reason)
      decision%reason(i:i) = from_c%reason(i)
    end do
  end subroutine

  subroutine redistribute_integer(buffer, count, datatype, k, comm, ierror)
    type(*), dimension(*) :: buffer
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
    integer :: count, datatype, k(*), comm
    integer, optional :: ierror
    call redistribute_in_c(buffer, count, datatype, k, comm, ierror)
  end subroutine

  subroutine review_integer(original, before, recorded_before, newcomm, after, recorded_after, take_back, review, ierror)
    integer :: original, before, newcomm, after
    integer(int64), intent(in) :: recorded_before, recorded_after
    logical, intent(in) :: take_back
    type(lucid_review), intent(out) :: review
    integer, optional :: ierror
    integer(c_int64_t) :: recorded(2)
    type(review_in_c) :: from_c
    recorded = [recorded_before, recorded_after]
    call review_in_c_call(original, before, recorded(1), newcomm, after, recorded(2), merge(1, 0, take_back), from_c, ierror)
    review = lucid_review(from_c%before, from_c%after, from_c%between_before, from_c%between_after, from_c%taken_back /= 0)
  end subroutine

#ifdef LUCID_F08
  subroutine review_f08(original, before, recorded_before, newcomm, after, recorded_after, take_back, review, ierror)
    use mpi_f08, only: MPI_Comm
    type(MPI_Comm) :: original, newcomm
    integer :: before, after
    integer(int64), intent(in) :: recorded_before, recorded_after
    logical, intent(in) :: take_back
    type(lucid_review), intent(out) :: review
    integer, optional :: ierror
    call review_integer(original%MPI_VAL, before, recorded_before, newcomm%MPI_VAL, after, recorded_after, take_back, review, &
                        ierror)
  end subroutine

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
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
    integer :: count, k(*)
    type(MPI_Datatype) :: datatype
    type(MPI_Comm) :: comm
    integer, optional :: ierror
    call redistribute_in_c(buffer, count, datatype%MPI_VAL, k, comm%MPI_VAL, ierror)
  end subroutine
#endif
end module lucid_place
