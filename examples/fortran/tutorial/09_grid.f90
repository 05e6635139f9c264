! Step 9 of the tutorial: ranks in a grid, and the neighbours of each.
!     sennit run -n 4 09_grid
program grid_example
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: up = 1, down = 2, left = 3, right = 4, sides = 4, bytes = 4
  integer, parameter :: opposite(sides) = [down, up, right, left]
  type(sennit_team) :: grid
  type(sennit_gptr) :: inbox ! one number from each side
  integer(c_int) :: rank, dimensions, dims(2), coords(2), neighbours(sides), number, side
  integer(c_int), pointer :: came(:)

  call sennit_init()
  ! Two dimensions, their sizes chosen by Sennit (0), no joined edges.
  call sennit_team_grid(SENNIT_TEAM_WORLD, 2, [0, 0], team=grid)
  call sennit_team_rank(grid, rank)
  call sennit_team_grid_shape(grid, 2, dimensions, dims)
  call sennit_team_grid_coords(grid, rank, coords)

  call find_neighbours(grid, neighbours)
  call sennit_alloc(grid, sides * bytes, 0, 0, inbox)
  number = 10 * coords(1) + coords(2)
  do side = 1, sides
    if (neighbours(side) /= SENNIT_RANK_NONE) &
      call sennit_put(sennit_gptr_add(sennit_gptr_at(inbox, neighbours(side)), (opposite(side) - 1) * bytes), number, bytes)
  end do
  call sennit_barrier(grid, SENNIT_FOREVER)

  call sennit_pointer(inbox, came, [sides])
  call must_be(coords(1) == 0 .or. came(up) == number - 10, 'the number from above')
  call must_be(coords(1) == dims(1) - 1 .or. came(down) == number + 10, 'the number from below')
  call must_be(coords(2) == 0 .or. came(left) == number - 1, 'the number from the left')
  call must_be(coords(2) == dims(2) - 1 .or. came(right) == number + 1, 'the number from the right')
  if (rank == 0) print '(a,i0,a,i0,a)', 'a grid of ', dims(1), ' by ', dims(2), ' ranks'
  call sennit_free(inbox)
  call sennit_team_destroy(grid)
  call sennit_finalize()

contains

  ! World ranks of the neighbours in a grid of two dimensions; SENNIT_RANK_NONE beyond an edge.
  subroutine find_neighbours(grid, neighbours)
    type(sennit_team), intent(in) :: grid
    integer(c_int), intent(inout) :: neighbours(sides)
    integer(c_int) :: side, member
    call sennit_team_grid_shift(grid, 0, 1, neighbours(up), neighbours(down))
    call sennit_team_grid_shift(grid, 1, 1, neighbours(left), neighbours(right))
    ! So far these are ranks of the grid; global pointers need world ranks.
    do side = 1, sides
      member = neighbours(side)
      if (member /= SENNIT_RANK_NONE) call sennit_team_world_rank(grid, member, neighbours(side))
    end do
  end subroutine find_neighbours

end program grid_example
