! Step 10 of the tutorial: heat on a plate, each rank a block with a halo around it.
!     sennit run -n 4 10_halo
! Columns of a block are contiguous, rows are not: a strided put sends them. Every 20 steps an allreduce tells all ranks the
! largest change of a step; the program ends when it is small.
program halo
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: up = 1, down = 2, left = 3, right = 4, sides = 4
  integer, parameter :: n = 12, most_steps = 2000, dp = c_double, bytes = 8 ! n by n cells of a rank, and the halo

  type :: state
    type(sennit_gptr) :: place
    real(dp), pointer, contiguous :: cells(:, :)
  end type state

  type(sennit_team) :: grid
  type(state) :: states(0:1) ! of even and of odd steps
  integer(c_int) :: neighbours(sides), dims(2), coords(2)
  real(dp) :: change
  integer :: step, i

  call sennit_init()
  call open_block()
  step = 0
  change = 1
  do while (change > 1e-3_dp .and. step < most_steps)
    call exchange(states(modulo(step, 2)))
    call compute(states(1 - modulo(step, 2))%cells, states(modulo(step, 2))%cells, change)
    step = step + 1
    if (modulo(step, 20) == 0) then
      call sennit_allreduce(grid, sennit_in_place, change, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX), SENNIT_FOREVER)
    else
      change = 1 ! not small: only the allreduce decides
    end if
  end do
  call must_be(step < most_steps, 'it ends')
  call must_be(is_as_alone(step), 'the same temperatures as by one rank alone')
  if (sennit_rank() == 0) &
    print '(a,i0,a,i0,a,i0,a)', 'a plate on ', dims(1), ' by ', dims(2), ' ranks: at rest after ', step, ' steps'
  do i = 0, 1
    call sennit_free(states(i)%place)
  end do
  call sennit_team_destroy(grid)
  call sennit_finalize()

contains

  subroutine open_block()
    integer(c_int) :: rank, dimensions, side, member
    integer :: i
    call sennit_team_grid(SENNIT_TEAM_WORLD, 2, [0, 0], team=grid)
    call sennit_team_rank(grid, rank)
    call sennit_team_grid_shape(grid, 2, dimensions, dims)
    call sennit_team_grid_coords(grid, rank, coords)
    call sennit_team_grid_shift(grid, 0, 1, neighbours(up), neighbours(down))
    call sennit_team_grid_shift(grid, 1, 1, neighbours(left), neighbours(right))
    do side = 1, sides
      member = neighbours(side)
      if (member /= SENNIT_RANK_NONE) call sennit_team_world_rank(grid, member, neighbours(side))
    end do
    do i = 0, 1
      call sennit_alloc(grid, (n + 2)**2 * bytes, 0, 0, states(i)%place)
      call sennit_pointer(states(i)%place, states(i)%cells, [n + 2, n + 2], lower=[0, 0])
      if (coords(1) == 0) states(i)%cells(0, :) = 1 ! the upper edge of the plate is hot
    end do
  end subroutine open_block

  ! A cell of a neighbour's block.
  function cell(now, rank, row, column) result(place)
    type(state), intent(in) :: now
    integer, intent(in) :: rank, row, column
    type(sennit_gptr) :: place
    place = sennit_gptr_add(sennit_gptr_at(now%place, rank), (column * (n + 2) + row) * bytes)
  end function cell

  ! Puts the edges of this rank's cells into the halos of its neighbours.
  subroutine exchange(now)
    type(state), intent(in) :: now
    type(sennit_box) :: row
    ! A row: n numbers, one in each column, on both ranks.
    row = sennit_box_line(bytes, n, (n + 2) * bytes, (n + 2) * bytes)
    associate (cells => now%cells, to => neighbours)
      if (to(left) /= SENNIT_RANK_NONE) call sennit_put_nbi(cell(now, to(left), 1, n + 1), cells(1, 1), n * bytes)
      if (to(right) /= SENNIT_RANK_NONE) call sennit_put_nbi(cell(now, to(right), 1, 0), cells(1, n), n * bytes)
      if (to(up) /= SENNIT_RANK_NONE) call sennit_put_strided_nbi(cell(now, to(up), n + 1, 1), cells(1, 1), row)
      if (to(down) /= SENNIT_RANK_NONE) call sennit_put_strided_nbi(cell(now, to(down), 0, 1), cells(n, 1), row)
    end associate
    call sennit_barrier(grid, SENNIT_FOREVER) ! completes the puts of all ranks
  end subroutine exchange

  ! One step, and its largest change.
  subroutine compute(next, now, largest)
    real(dp), contiguous, intent(inout) :: next(0:, 0:)
    real(dp), contiguous, intent(in) :: now(0:, 0:)
    real(dp), intent(out) :: largest
    integer :: i, j
    largest = 0
    do j = 1, ubound(now, 2) - 1
      do i = 1, ubound(now, 1) - 1
        next(i, j) = 0.25_dp * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1))
        largest = max(largest, abs(next(i, j) - now(i, j)))
      end do
    end do
  end subroutine compute

  ! The whole plate by one rank alone: whether this rank's cells are the same after so many steps.
  function is_as_alone(steps) result(is_same)
    integer, intent(in) :: steps
    logical :: is_same
    real(dp), allocatable :: plate(:, :, :)
    real(dp) :: ignored
    integer :: step, i, j
    allocate (plate(0:n * dims(1) + 1, 0:n * dims(2) + 1, 0:1), source=0.0_dp)
    plate(0, :, :) = 1
    do step = 0, steps - 1
      call compute(plate(:, :, 1 - modulo(step, 2)), plate(:, :, modulo(step, 2)), ignored)
    end do
    i = n * coords(1)
    j = n * coords(2)
    is_same = all(abs(states(modulo(steps, 2))%cells(1:n, 1:n) - plate(i + 1:i + n, j + 1:j + n, modulo(steps, 2))) <= 0)
  end function is_as_alone

end program halo
