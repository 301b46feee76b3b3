! SPDX-License-Identifier: BSD-3-Clause
! Reordering from Fortran, by `use mpi_f08`: whatever is decided, ranks, data and results agree afterwards.
program place_fortran
  use mpi_f08
  use lucid
  use lucid_place
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(MPI_Comm) :: newcomm
  type(lucid_reorder_options) :: options
  type(lucid_decision) :: decision
  integer :: rank, size, new_rank, session, ierror, failures, all_failures, i
  integer :: value(2), token
  integer, allocatable :: k(:), alone(:)
  logical, allocatable :: seen(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  allocate (k(size), alone(size), seen(size))
  failures = 0
  call lucid_init(ierror)
  call expect(ierror == LUCID_SUCCESS)
  call lucid_session_start(MPI_COMM_WORLD, 'ring', session, ierror)
  call expect(ierror == LUCID_SUCCESS)
  do i = 1, 5
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, size), 0, token, 1, MPI_INTEGER, mod(rank + size - 1, size), 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end do
  call lucid_session_suspend(session, ierror)
  call expect(ierror == LUCID_SUCCESS)

  options%recorded = 5
  options%remaining = 100000
  call lucid_comm_reorder(MPI_COMM_WORLD, session, options, newcomm, decision, k, ierror)
  call expect(ierror == LUCID_SUCCESS)
  call expect(len_trim(decision%reason) > 0)
  call MPI_Comm_rank(newcomm, new_rank)
  call expect(new_rank == k(rank + 1))

  value = [rank, -rank]
  call lucid_redistribute(value, 2, MPI_INTEGER, k, MPI_COMM_WORLD, ierror)
  call expect(ierror == LUCID_SUCCESS)
  call expect(all(value == [new_rank, -new_rank]))

  call lucid_mapping(session, alone, ierror)
  call expect(ierror == LUCID_SUCCESS)
  seen = .false.
  do i = 1, size
    seen(alone(i) + 1) = .true.
  end do
  call expect(all(seen))

  call check_review(session)
  if (decision%reordered) call MPI_Comm_free(newcomm)
  call lucid_session_free(session, ierror)
  call lucid_finalize(ierror)
  call expect(ierror == LUCID_SUCCESS)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (all_failures > 0) error stop 1

contains

  ! The same ring again: no bytes more between nodes. Against itself nothing is gained, and what was reordered is taken back.
  subroutine check_review(before)
    integer, intent(in) :: before
    integer :: original, after, again, code, message
    type(lucid_review) :: review
    type(MPI_Comm) :: copy
    original = before
    call lucid_session_start(newcomm, 'again', after, code)
    call expect(code == LUCID_SUCCESS)
    do again = 1, 5
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(new_rank + 1, size), 0, message, 1, MPI_INTEGER, mod(new_rank + size - 1, size), &
                        0, newcomm, MPI_STATUS_IGNORE)
    end do
    call lucid_session_suspend(after, code)
    call lucid_reorder_review(MPI_COMM_WORLD, original, 5_int64, newcomm, after, 5_int64, .false., review, code)
    call expect(code == LUCID_SUCCESS)
    call expect(.not. review%taken_back .and. review%between_after <= review%between_before)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call lucid_reorder_review(MPI_COMM_WORLD, original, 5_int64, copy, original, 5_int64, .true., review, code)
    call expect(code == LUCID_SUCCESS)
    call expect(review%taken_back .and. review%between_after == review%between_before .and. copy == MPI_COMM_WORLD)
    call lucid_session_free(after, code)
    call expect(code == LUCID_SUCCESS)
  end subroutine

  subroutine expect(good)
    logical, intent(in) :: good
    if (good) return
    failures = failures + 1
    write (0, '(a, i0, a, i0)') 'rank ', rank, ': failed, so far ', failures
  end subroutine
end program
