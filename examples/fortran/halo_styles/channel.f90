! A halo by channels: stores into the neighbours' memory. For ranks of one node only.
module channel_style
  use plates
  implicit none
  integer :: channels_open
  integer :: side_of(sides) ! of channel i
  type(sennit_channel) :: channels(sides)
  type(c_ptr) :: theirs(sides) ! the neighbour's two states

contains

  subroutine channel_begin(p) bind(C)
    type(plate), intent(in) :: p
    integer(c_int), target :: targets(sides)
    type(c_ptr), target :: buffers(sides)
    integer(c_size_t), target :: sizes(sides)
    integer :: side
    channels_open = 0
    do side = 1, sides
      if (p%neighbours(side) == SENNIT_RANK_NONE) cycle
      channels_open = channels_open + 1
      targets(channels_open) = p%neighbours(side)
      buffers(channels_open) = p%own ! where the neighbour writes
      sizes(channels_open) = bytes_of(p)
      side_of(channels_open) = side
    end do
    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(channels_open, targets, buffers, sizes), 0, &
                             SENNIT_FOREVER, theirs, channels)
  end subroutine channel_begin

  subroutine copy_edge(p, step, i)
    type(plate), intent(in) :: p
    integer, intent(in) :: step, i
    real(dp), pointer, contiguous :: cells(:), peers(:)
    integer :: from, to, stride
    cells => cells_of(p)
    call sennit_pointer(theirs(i), peers, [bytes_of(p) / bytes])
    from = edge(p, step, side_of(i))
    to = 1 + int(halo(p, step, side_of(i)) / bytes)
    stride = merge(1, p%n + 2, is_row(side_of(i)))
    peers(to:to + stride * (p%n - 1):stride) = cells(from:from + stride * (p%n - 1):stride)
  end subroutine copy_edge

  subroutine channel_exchange(p, step_number) bind(C)
    type(plate), intent(in) :: p
    integer(c_int), value :: step_number
    integer :: i, step
    step = step_number
    do i = 1, channels_open
      call sennit_channel_wait_write(channels(i), SENNIT_FOREVER)
      call copy_edge(p, step, i)
      call sennit_channel_have_written(channels(i))
    end do
    do i = 1, channels_open
      call sennit_channel_wait_read(channels(i), SENNIT_FOREVER)
      call sennit_channel_have_read(channels(i)) ! the next message goes to the other state
    end do
  end subroutine channel_exchange

  subroutine channel_end() bind(C)
    call sennit_channel_close(channels, channels_open, SENNIT_FOREVER)
  end subroutine channel_end

end module channel_style
