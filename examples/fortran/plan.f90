! A ring of cells that is divided among the ranks: in each step every cell becomes a weighted sum of itself and its two neighbours.
! The exchange of edge cells is recorded once, in two plans that take turns. Each plan writes to its own half of the neighbours'
! memory for edge cells, so a rank that is a step ahead of its neighbours writes to the half that they do not read. The inner cells
! are computed between start and wait.
!     sennit run -n 4 plan
program plan
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: cells = 100, steps = 50
  integer(c_size_t), parameter :: bytes = c_sizeof(1_c_int64_t)

  type(sennit_gptr) :: memory
  type(sennit_region) :: region
  type(sennit_signal) :: arrived
  type(sennit_block) :: mine
  type(sennit_block), allocatable :: blocks(:)
  type(sennit_peer_block) :: to_next, to_before
  type(sennit_plan) :: plans(0:1)
  integer(c_int64_t), pointer :: edges(:, :)
  integer(c_int64_t), target, asynchronous :: now(0:cells + 1)
  integer(c_int64_t) :: next(cells)
  integer(c_size_t) :: half
  integer :: rank, ranks, step, turn, i

  call sennit_init()
  rank = sennit_rank()
  ranks = sennit_size()
  ! The cells that the neighbours write: from the rank before and the rank after, of even and of odd steps.
  call sennit_alloc(SENNIT_TEAM_WORLD, 4 * bytes, 0, 0, memory)
  call sennit_pointer(memory, edges, [2, 2])
  now(1:cells) = [(modulo((rank * cells + i - 1) * 37, 101), i=1, cells)]

  ! Two cells arrive in each step.
  call sennit_signal_create(2, 2, 0, arrived)
  region%gptr = memory
  region%bytes = 4 * bytes
  call sennit_block_init(region, 0, 4 * bytes, SENNIT_SIGNAL_NULL, arrived, mine)
  allocate (blocks(0:ranks - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, mine, blocks, c_sizeof(mine), SENNIT_FOREVER)
  call sennit_block_attach(blocks(modulo(rank + 1, ranks)), to_next)
  call sennit_block_attach(blocks(modulo(rank - 1, ranks)), to_before)

  ! For even and for odd steps.
  do turn = 0, 1
    half = turn * 2 * bytes
    call sennit_plan_create(plans(turn))
    call sennit_plan_put(plans(turn), to_next, half, now(cells:cells), bytes)
    call sennit_plan_put(plans(turn), to_before, half + bytes, now(1:1), bytes)
    call sennit_plan_commit(plans(turn), turn, 2)
  end do

  do step = 0, steps - 1
    turn = modulo(step, 2)
    call sennit_plan_start(plans(turn))
    next(2:cells - 1) = next_of(now(1:cells - 2), now(2:cells - 1), now(3:cells))
    call sennit_plan_wait(plans(turn), SENNIT_FOREVER)
    call sennit_signal_wait(arrived, SENNIT_FOREVER)
    now(0) = edges(1, turn + 1)
    now(cells + 1) = edges(2, turn + 1)
    call sennit_signal_reset(arrived)
    next(1) = next_of(now(0), now(1), now(2))
    next(cells) = next_of(now(cells - 1), now(cells), now(cells + 1))
    now(1:cells) = next
  end do
  call check()
  if (rank == 0) print '(i0,a,i0,a)', steps, ' steps of ', cells * ranks, ' cells by two plans'

  do turn = 0, 1
    call sennit_plan_destroy(plans(turn))
  end do
  call sennit_block_detach(to_next)
  call sennit_block_detach(to_before)
  call sennit_signal_destroy(arrived)
  call sennit_free(memory)
  call sennit_finalize()

contains

  elemental integer(c_int64_t) function next_of(left, own, right)
    integer(c_int64_t), intent(in) :: left, own, right
    next_of = modulo(left + 2 * own + right, 1009_c_int64_t)
  end function next_of

  ! The same computation by one rank alone, for comparison.
  subroutine check()
    integer(c_int64_t) :: whole(cells * ranks)
    whole = [(int(modulo((i - 1) * 37, 101), c_int64_t), i=1, cells * ranks)]
    do step = 1, steps
      whole = next_of(cshift(whole, -1), whole, cshift(whole, 1))
    end do
    call must_be(all(now(1:cells) == whole(rank * cells + 1:(rank + 1) * cells)), 'the cells of the ring')
  end subroutine check
end program plan
