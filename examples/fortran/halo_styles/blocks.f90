! The neighbours' memory as blocks; a put into a block counts an event at the block's owner.
module blocks
  use plates
  implicit none

contains

  subroutine connect_blocks(p, arrived, to)
    type(plate), intent(in) :: p
    type(sennit_signal), intent(out) :: arrived
    type(sennit_peer_block), intent(out) :: to(sides)
    type(sennit_region) :: region
    type(sennit_block) :: mine
    type(sennit_block), allocatable :: all(:)
    integer :: side, messages
    messages = count(p%neighbours /= SENNIT_RANK_NONE) ! of a step: one from each neighbour
    call sennit_signal_create(messages, messages, 0, arrived)
    region%gptr = p%memory
    region%bytes = bytes_of(p)
    call sennit_block_init(region, 0, bytes_of(p), SENNIT_SIGNAL_NULL, arrived, mine)
    allocate (all(0:sennit_size() - 1))
    call sennit_allgather(SENNIT_TEAM_WORLD, mine, all, c_sizeof(mine), SENNIT_FOREVER)
    do side = 1, sides
      if (p%neighbours(side) /= SENNIT_RANK_NONE) call sennit_block_attach(all(p%neighbours(side)), to(side))
    end do
  end subroutine connect_blocks

  subroutine disconnect_blocks(p, arrived, to)
    type(plate), intent(in) :: p
    type(sennit_signal), intent(in) :: arrived
    type(sennit_peer_block), intent(in) :: to(sides)
    integer :: side
    do side = 1, sides
      if (p%neighbours(side) /= SENNIT_RANK_NONE) call sennit_block_detach(to(side))
    end do
    call sennit_barrier(p%grid, SENNIT_FOREVER) ! no rank counts an event any more
    call sennit_signal_destroy(arrived)
  end subroutine disconnect_blocks

end module blocks
