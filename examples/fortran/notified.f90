! Smoothing of a ring of cells that is divided among the ranks. In each step a rank puts its two edge cells to its neighbours, and
! waits for a signal that counts the cells of both neighbours. The loop has no barrier: there are two sets of places for the
! neighbours' cells, and a rank that is a step ahead writes to the other set.
!     sennit run -n 4 notified
program notified
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: cells = 1000, steps = 50
  integer(c_size_t), parameter :: cell_bytes = c_sizeof(1.0_c_double)

  type(sennit_gptr) :: memory
  type(sennit_region) :: region
  type(sennit_signal) :: arrived
  type(sennit_block) :: mine
  type(sennit_block), allocatable :: blocks(:)
  type(sennit_peer_block) :: to_next, to_before
  real(c_double), pointer :: edges(:, :)
  type(sennit_notify_part) :: parts(2)
  real(c_double), target :: now(0:cells + 1)
  real(c_double) :: before_all(2), after_all(2)
  integer(c_size_t) :: first
  integer :: rank, ranks, next, before, step, turn, i, start, done

  call sennit_init()
  rank = sennit_rank()
  ranks = sennit_size()
  next = modulo(rank + 1, ranks)
  before = modulo(rank - 1, ranks)
  ! The cells that the neighbours write: from the rank before and the rank after, of even and of odd steps.
  call sennit_alloc(SENNIT_TEAM_WORLD, 4 * cell_bytes, 0, 0, memory)
  call sennit_pointer(memory, edges, [2, 2])

  ! Two cells arrive in each step, so the signal expects two events.
  call sennit_signal_create(2, 2, 0, arrived)
  region%gptr = memory
  region%bytes = 4 * cell_bytes
  call sennit_block_init(region, 0, 4 * cell_bytes, SENNIT_SIGNAL_NULL, arrived, mine)
  allocate (blocks(0:ranks - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, mine, blocks, c_sizeof(mine), SENNIT_FOREVER)
  call sennit_block_attach(blocks(next), to_next)
  call sennit_block_attach(blocks(before), to_before)

  start = rank * cells
  do i = 1, cells
    now(i) = real(modulo(modulo(start + i - 1, cells * ranks) * 37, 101), c_double)
  end do
  before_all(1) = sum(now(1:cells))

  do step = 0, steps - 1
    turn = modulo(step, 2)
    first = turn * 2 * cell_bytes
    ! Both in one call: if puts are messages, both are in flight at the same time.
    parts(1) = sennit_notify_part(block=to_next, offset=first, local=c_loc(now(cells)), bytes=cell_bytes)
    parts(2) = sennit_notify_part(block=to_before, offset=first + cell_bytes, local=c_loc(now(1)), bytes=cell_bytes)
    call sennit_put_notify_batch(2, parts, done)
    call sennit_signal_wait(arrived, SENNIT_FOREVER)
    now(0) = edges(1, turn + 1)
    now(cells + 1) = edges(2, turn + 1)
    call sennit_signal_reset(arrived)
    now(1:cells) = 0.25d0 * now(0:cells - 1) + 0.5d0 * now(1:cells) + 0.25d0 * now(2:cells + 1)
  end do

  ! Smoothing moves heat and loses none.
  before_all(2) = sum(now(1:cells))
  call sennit_allreduce(SENNIT_TEAM_WORLD, before_all, after_all, sennit_reduction_of(2, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER)
  call must_be(abs(after_all(1) - after_all(2)) < 1d-6, 'the sum is what it was')
  if (rank == 0) print '(i0,a,i0,a,i0)', steps, ' steps of ', cells * ranks, ' cells, and the sum is still ', nint(after_all(1))

  call sennit_block_detach(to_next)
  call sennit_block_detach(to_before)
  call sennit_signal_destroy(arrived)
  call sennit_free(memory)
  call sennit_finalize()
end program notified
