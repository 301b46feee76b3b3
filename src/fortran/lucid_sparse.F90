! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Lucid authors
!
! Module lucid_sparse: lucid_sparse.h for Fortran: what a program may say about its reductions, and what became of them.
!
! Operators are integers (`use mpi`, mpif.h) or type(MPI_Op) (`use mpi_f08`). The last argument is the return value, as in module
! lucid; it may be left out.
module lucid_sparse
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  private

  ! Reductions of this process that liblucid was asked to look after, and bytes: lucid_sparse.h.
  type, public, bind(C) :: lucid_sparse_figures
    integer(c_int64_t) :: taken = 0, passed = 0, sent = 0, saved = 0
  end type

  public :: lucid_op_set_elementwise, lucid_sparse_get_figures

  interface
    subroutine declare_in_c(op, ierror) bind(C, name="lucid_f_op_set_elementwise")
      integer :: op
      integer, optional :: ierror
    end subroutine

    ! Local, thread-safe.
    subroutine lucid_sparse_get_figures(figures) bind(C)
      import :: lucid_sparse_figures
      type(lucid_sparse_figures), intent(out) :: figures
    end subroutine
  end interface

  ! Declares that the function of `op` (MPI_Op_create) combines element i of its two vectors into element i, by their values alone. Local,
  ! thread-safe; every process of a reduction must have made the same declaration, or none. Ends with MPI_Op_free. LUCID_ERR_ARG for
  ! MPI_OP_NULL, LUCID_ERR_INTERNAL without memory.
  interface lucid_op_set_elementwise
    module procedure declare_integer
#ifdef LUCID_F08
    module procedure declare_f08
#endif
  end interface

contains

  subroutine declare_integer(op, ierror)
    integer :: op
    integer, optional :: ierror
    call declare_in_c(op, ierror)
  end subroutine

#ifdef LUCID_F08
  subroutine declare_f08(op, ierror)
    use mpi_f08, only: MPI_Op
    type(MPI_Op) :: op
    integer, optional :: ierror
    call declare_in_c(op%MPI_VAL, ierror)
  end subroutine
#endif

end module
