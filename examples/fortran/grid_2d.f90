! A team for each row of a grid of ranks: each rank gives its number to its neighbours, around the ring of its row and
! down its column, and each row sums its received numbers.
!     sennit run -n 4 grid_2d
program grid_2d
  use iso_c_binding
  use must
  use sennit
  implicit none
  type(sennit_team) :: grid, row
  type(sennit_gptr) :: inbox, parts
  integer(c_int) :: dimensions, dims(2), periodic(2), rank, coords(2)
  integer(c_int) :: above, below, left, right, came(2), size, total, member, world_rank, part, first

  call sennit_init()

  ! Sennit chooses a grid that is as square as possible; rows are rings, columns are not.
  call sennit_team_grid(SENNIT_TEAM_WORLD, 2, [0, 0], [0, 1], grid)
  call sennit_team_grid_shape(grid, 2, dimensions, dims, periodic)
  call sennit_team_rank(grid, rank)
  call sennit_team_grid_coords(grid, rank, coords)

  ! Global pointers use world ranks, teams use their own ranks: here both are equal.
  call sennit_alloc(grid, c_sizeof(came), 0, 0, inbox)
  came = -1
  call sennit_put(inbox, came, c_sizeof(came))
  call sennit_barrier(grid, SENNIT_FOREVER)

  call sennit_team_grid_shift(grid, 0, 1, above, below)
  call sennit_team_grid_shift(grid, 1, 1, left, right)
  call send_to(grid, below, 0, rank)
  call send_to(grid, right, 1, rank)
  call sennit_barrier(grid, SENNIT_FOREVER)
  call sennit_get(came, inbox, c_sizeof(came))
  call must_be(came(1) == above, 'the number from above, or nothing in the first row')
  call must_be(came(2) == left, 'the number from the left, around the ring')

  ! The ranks of a row are a team, with its own memory and barriers.
  call sennit_team_split(grid, coords(1), coords(2), row)
  call sennit_team_size(row, size)
  call must_be(size == dims(2), 'a row is as long as the grid is wide')
  call sennit_alloc(row, c_sizeof(rank), 0, 0, parts)
  call sennit_put(parts, rank, c_sizeof(rank))
  call sennit_barrier(row, SENNIT_FOREVER)
  total = 0
  do member = 0, size - 1
    call sennit_team_world_rank(row, member, world_rank)
    call sennit_get(part, sennit_gptr_at(parts, world_rank), c_sizeof(part))
    total = total + part
  end do
  first = coords(1) * dims(2)
  call must_be(total == (2 * first + size - 1) * size / 2, 'the sum of the row')
  if (rank == 0) print '(i0,a,i0,a,i0)', dims(1), ' by ', dims(2), ' ranks, first row sums up to ', total

  call sennit_free(parts)
  call sennit_team_destroy(row)
  call sennit_free(inbox)
  call sennit_team_destroy(grid)
  call sennit_finalize()

contains

  ! Puts the number into a place of the inbox of a member of the team, if there is one.
  subroutine send_to(team, member, slot, number)
    type(sennit_team), intent(in) :: team
    integer(c_int), intent(in) :: member, slot, number
    integer(c_int) :: world_rank
    if (member == SENNIT_RANK_NONE) return
    call sennit_team_world_rank(team, member, world_rank)
    call sennit_put(sennit_gptr_add(sennit_gptr_at(inbox, world_rank), slot * 4), number, c_sizeof(number))
  end subroutine send_to

end program grid_2d
