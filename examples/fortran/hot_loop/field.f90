! Shared by the stages in this folder: a plate with a warm edge, cut into parts for a grid of ranks, one step of the computation,
! and a comparison with the whole plate computed by one rank. It is the same in every stage.
module field
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1d0), all_rows = 24, all_columns = 20, steps = 60

  type(MPI_Comm) :: comm                    ! the grid of ranks
  integer :: up, down, left, right          ! neighbours, or MPI_PROC_NULL
  integer :: rows, columns                  ! of this rank's part
  integer :: first_row, first_column        ! cells of the plate before it
  ! The part, with one more cell on each side. The two states take turns: one has the values before a step, the other those after
  ! it.
  real(dp), allocatable, target, asynchronous :: u(:, :, :)
  type(MPI_Datatype) :: row                 ! a row of the part, without the corners
contains

  subroutine make_field()
    integer :: dims(2), place(2), rank, size
    dims = 0
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call MPI_Dims_create(size, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Cart_coords(comm, rank, 2, place)
    call MPI_Cart_shift(comm, 0, 1, up, down)
    call MPI_Cart_shift(comm, 1, 1, left, right)
    first_row = all_rows * place(1) / dims(1)
    rows = all_rows * (place(1) + 1) / dims(1) - first_row
    first_column = all_columns * place(2) / dims(2)
    columns = all_columns * (place(2) + 1) / dims(2) - first_column
    allocate (u(0:rows + 1, 0:columns + 1, 0:1))
    u = 0
    if (first_row == 0) u(0, :, :) = 100
    call MPI_Type_vector(columns, 1, rows + 2, MPI_DOUBLE_PRECISION, row)
    call MPI_Type_commit(row)
  end subroutine make_field

  subroutine compute(now, next)
    real(dp), intent(in) :: now(0:, 0:)
    real(dp), intent(inout) :: next(0:, 0:)
    integer :: i, j
    do j = 1, ubound(now, 2) - 1
      do i = 1, ubound(now, 1) - 1
        next(i, j) = 0.25_dp * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1))
      end do
    end do
  end subroutine compute

  ! Compares with the whole plate, and ends the program if a cell differs.
  subroutine check_and_free()
    real(dp), allocatable :: plate(:, :, :)
    real(dp) :: total
    integer :: step, rank
    allocate (plate(0:all_rows + 1, 0:all_columns + 1, 0:1))
    plate = 0
    plate(0, :, :) = 100
    do step = 0, steps - 1
      call compute(plate(:, :, modulo(step, 2)), plate(:, :, modulo(step + 1, 2)))
    end do
    associate (mine => u(1:rows, 1:columns, modulo(steps, 2)), &
               whole => plate(first_row + 1:first_row + rows, first_column + 1:first_column + columns, modulo(steps, 2)))
      if (any(abs(mine - whole) > 1e-12_dp)) error stop 'a cell differs from that of the whole plate'
      call MPI_Reduce(sum(mine), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm)
    end associate
    call MPI_Comm_rank(comm, rank)
    if (rank == 0) print '(i0, a, f0.6)', steps, ' steps: all cells together have ', total
    deallocate (u)
    call MPI_Type_free(row)
    call MPI_Comm_free(comm)
  end subroutine check_and_free

end module field
