! The halos of blocks of different sizes: with its block, each rank sends its numbers of rows and columns to the others,
! because the sender of a halo needs those of the receiver.
!     sennit run -n 4 unequal_blocks
! own(column, row) here is own[row][column] in ../unequal_blocks.c.
program unequal_blocks
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: all_rows = 23, all_columns = 17 ! of the plate
  integer, parameter :: up = 1, down = 2, left = 3, right = 4, sides = 4, dp = c_double, real_bytes = 8

  ! The data that a rank sends to the others. Rows 0 and rows + 1, and columns 0 and columns + 1 of its block are halo.
  type, bind(C) :: card
    type(sennit_block) :: block
    integer(c_int64_t) :: rows, columns, first_row, first_column
  end type card

  type(sennit_team) :: grid
  type(sennit_region) :: region
  type(sennit_signal) :: arrived
  type(sennit_plan) :: plan
  type(sennit_peer_block) :: to(sides)
  type(card) :: mine
  type(card), allocatable :: cards(:)
  real(dp), allocatable, asynchronous :: own(:, :)
  integer(c_int) :: neighbours(sides)
  integer(c_size_t) :: bytes
  integer :: side, messages

  call sennit_init()
  call sennit_team_grid(SENNIT_TEAM_WORLD, 2, [0, 0], team=grid)
  call find_neighbours()
  call take_part()
  allocate (own(0:mine%columns + 1, 0:mine%rows + 1), cards(0:sennit_size() - 1))
  bytes = place(mine, mine%rows + 2, 0_c_int64_t)
  own = 0
  call each_cell(.false.)

  messages = count(neighbours /= SENNIT_RANK_NONE)
  arrived = SENNIT_SIGNAL_NULL ! a single rank waits for no event
  call sennit_register(own, bytes, 0, region)
  if (messages > 0) call sennit_signal_create(messages, messages, 0, arrived)
  call sennit_block_init(region, 0, bytes, SENNIT_SIGNAL_NULL, arrived, mine%block)
  call sennit_allgather(grid, mine, cards, c_sizeof(mine), SENNIT_FOREVER)

  call sennit_plan_create(plan)
  do side = 1, sides
    if (neighbours(side) == SENNIT_RANK_NONE) cycle
    call sennit_block_attach(cards(neighbours(side))%block, to(side))
    call record(side, cards(neighbours(side)))
  end do
  call sennit_plan_commit(plan, 0, 1)
  call sennit_plan_start(plan)
  call sennit_plan_wait(plan, SENNIT_FOREVER)
  if (messages > 0) call sennit_signal_wait(arrived, SENNIT_FOREVER)
  call each_cell(.true.)
  if (sennit_rank() == 0) print '(a,i0,a)', 'the halos of ', sennit_size(), ' blocks are filled'

  call sennit_plan_destroy(plan)
  do side = 1, sides
    if (neighbours(side) /= SENNIT_RANK_NONE) call sennit_block_detach(to(side))
  end do
  call sennit_barrier(grid, SENNIT_FOREVER) ! no rank puts or counts an event any more
  if (messages > 0) call sennit_signal_destroy(arrived)
  call sennit_deregister(region)
  call sennit_team_destroy(grid)
  call sennit_finalize()

contains

  integer(c_size_t) function place(of, row, column)
    type(card), intent(in) :: of
    integer(c_int64_t), intent(in) :: row, column
    place = real_bytes * (row * (of%columns + 2) + column)
  end function place

  ! Records the put that fills the halo of the neighbour at one side.
  subroutine record(side, there)
    integer, intent(in) :: side
    type(card), intent(in) :: there
    integer(c_int64_t), parameter :: one = 1, zero = 0
    integer(c_size_t) :: row_bytes
    type(sennit_box) :: column
    row_bytes = mine%columns * real_bytes
    column = sennit_box_line(int(real_bytes, c_int64_t), mine%rows, int(place(there, one, zero), c_int64_t), &
                             int(place(mine, one, zero), c_int64_t)) ! the strides there and here
    select case (side)
    case (up)
      call sennit_plan_put(plan, to(side), place(there, there%rows + 1, one), own(1, 1), row_bytes)
    case (down)
      call sennit_plan_put(plan, to(side), place(there, zero, one), own(1, mine%rows), row_bytes)
    case (left)
      call sennit_plan_put_strided(plan, to(side), place(there, one, there%columns + 1), own(1, 1), column)
    case (right)
      call sennit_plan_put_strided(plan, to(side), place(there, one, zero), own(mine%columns, 1), column)
    end select
  end subroutine record

  ! The number of a cell of the plate; 0 beyond its edge.
  real(dp) function number_of(row, column)
    integer(c_int64_t), intent(in) :: row, column
    number_of = 0
    if (row >= 0 .and. row < all_rows .and. column >= 0 .and. column < all_columns) &
      number_of = real(row * all_columns + column + 1, dp)
  end function number_of

  ! Numbers the cells of the block, or compares them, with the halo but without its corners.
  subroutine each_cell(is_check)
    logical, intent(in) :: is_check
    integer(c_int64_t) :: row, column
    integer :: halo
    logical :: is_corner
    halo = merge(1, 0, is_check)
    do row = 1 - halo, mine%rows + halo
      do column = 1 - halo, mine%columns + halo
        is_corner = (row == 0 .or. row == mine%rows + 1) .and. (column == 0 .or. column == mine%columns + 1)
        if (.not. is_check) own(column, row) = number_of(mine%first_row + row - 1, mine%first_column + column - 1)
        call must_be(is_corner .or. nint(own(column, row)) == &
                     nint(number_of(mine%first_row + row - 1, mine%first_column + column - 1)), &
                     'a cell of the block or its halo')
      end do
    end do
  end subroutine each_cell

  subroutine find_neighbours()
    call sennit_team_grid_shift(grid, 0, 1, neighbours(up), neighbours(down))
    call sennit_team_grid_shift(grid, 1, 1, neighbours(left), neighbours(right))
  end subroutine find_neighbours

  ! This rank's part of the plate: the parts differ by a row or column.
  subroutine take_part()
    integer(c_int) :: dimensions, dims(2), coords(2), rank
    call sennit_team_rank(grid, rank)
    call sennit_team_grid_shape(grid, 2, dimensions, dims)
    call sennit_team_grid_coords(grid, rank, coords)
    mine%first_row = all_rows * coords(1) / dims(1)
    mine%first_column = all_columns * coords(2) / dims(2)
    mine%rows = all_rows * (coords(1) + 1) / dims(1) - mine%first_row
    mine%columns = all_columns * (coords(2) + 1) / dims(2) - mine%first_column
  end subroutine take_part

end program unequal_blocks
