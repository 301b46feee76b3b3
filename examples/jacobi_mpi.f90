! SPDX-License-Identifier: BSD-3-Clause
! jacobi_mpi.f90: jacobi.c in Fortran, with `use mpi` and a session of MPI_Monitoring. Columns are dealt to the ranks here.
program jacobi_mpi
  use mpi
  use MPI_Monitoring
  use lucid_place
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: rows = 4096, columns = 32, watched = 10, iterations = 500
  real(real64), allocatable :: plate(:, :, :) ! two plates: a rank's columns, and a neighbour's column at either side
  real(real64) :: mine, all
  integer :: comm, session, rank, size, i, old, new, ierror

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (plate(rows, 0:columns + 1, 0:1))
  plate = 0
  if (rank == 0) plate(:, 0, :) = 100 ! degrees at one edge

  comm = MPI_COMM_WORLD
  call MPI_M_init(ierror)
  call MPI_M_start(MPI_COMM_WORLD, session, ierror)
  do i = 0, iterations - 1
    old = mod(i, 2)
    new = 1 - old
    if (i == watched) then ! an even number: the newest temperatures are in plate 0
      call MPI_M_suspend(session, ierror)
      call reorder()
      plate(:, :, 1) = plate(:, :, 0) ! for the edges, which no iteration writes
      call MPI_M_free(session, ierror)
    end if
    call exchange(plate(:, :, old))
    plate(2:rows - 1, 1:columns, new) = 0.25_real64 * &
      (plate(1:rows - 2, 1:columns, old) + plate(3:rows, 1:columns, old) + &
       plate(2:rows - 1, 0:columns - 1, old) + plate(2:rows - 1, 2:columns + 1, old))
  end do
  mine = sum(plate(:, 1:columns, mod(iterations, 2)))
  call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0, " x ", i0, " points on ", i0, " ranks: after ", i0, " iterations the mean temperature is ", &
    &f8.6, " degrees")', size*columns, rows, size, iterations, all/(real(size, real64)*columns*rows)
  if (comm /= MPI_COMM_WORLD) call MPI_Comm_free(comm, ierror)
  call MPI_M_finalize(ierror)
  call MPI_Finalize(ierror)

contains

  ! The neighbours' columns.
  subroutine exchange(now)
    real(real64), intent(inout) :: now(rows, 0:columns + 1)
    integer :: me, left, right
    call MPI_Comm_rank(comm, me, ierror)
    left = merge(me - 1, MPI_PROC_NULL, me > 0)
    right = merge(me + 1, MPI_PROC_NULL, me < size - 1)
    call MPI_Sendrecv(now(:, 1), rows, MPI_DOUBLE_PRECISION, left, 0, now(:, columns + 1), rows, MPI_DOUBLE_PRECISION, right, 0, &
                      comm, MPI_STATUS_IGNORE, ierror)
    call MPI_Sendrecv(now(:, columns), rows, MPI_DOUBLE_PRECISION, right, 0, now(:, 0), rows, MPI_DOUBLE_PRECISION, left, 0, &
                      comm, MPI_STATUS_IGNORE, ierror)
  end subroutine

  ! comm for the iterations that remain: the session tells who talks to whom.
  subroutine reorder()
    type(lucid_reorder_options) :: options
    type(lucid_decision) :: decision
    integer :: new_rank(size), code
    options%recorded = watched
    options%remaining = iterations - watched
    options%moved_bytes = storage_size(plate, int64)/8*rows*(columns + 2)
    call lucid_comm_reorder(MPI_COMM_WORLD, session, options, comm, decision, new_rank, code)
    if (decision%reordered) &
      call lucid_redistribute(plate(:, :, 0), rows*(columns + 2), MPI_DOUBLE_PRECISION, new_rank, MPI_COMM_WORLD, code)
    if (rank /= 0) return
    if (decision%reordered) then
      print '("reordered: ", a)', trim(decision%reason)
      print '("predicted communication of an iteration: ", f0.1, " ms before, ", f0.1, " ms after")', &
        1e3*decision%before, 1e3*decision%after
    else
      print '("not reordered: ", a)', trim(decision%reason)
    end if
  end subroutine
end program
