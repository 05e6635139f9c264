! A halo by notified puts: each rank waits only for its neighbours.
module notified_style
  use blocks
  implicit none
  type(plate) :: the_plate
  type(sennit_signal) :: arrived
  type(sennit_peer_block) :: to(sides)

contains

  subroutine notified_begin(p) bind(C)
    type(plate), intent(in) :: p
    the_plate = p
    call connect_blocks(p, arrived, to)
  end subroutine notified_begin

  subroutine notified_exchange(p, step_number) bind(C)
    type(plate), intent(in) :: p
    integer(c_int), value :: step_number
    real(dp), pointer, contiguous :: cells(:)
    integer :: step, side
    step = step_number
    cells => cells_of(p)
    do side = 1, sides
      if (p%neighbours(side) == SENNIT_RANK_NONE) cycle
      if (is_row(side)) then
        call sennit_put_notify(to(side), halo(p, step, side), cells(edge(p, step, side)), int(p%n * bytes, c_size_t))
      else
        call sennit_put_notify_strided(to(side), halo(p, step, side), cells(edge(p, step, side)), column_of(p))
      end if
    end do
    call sennit_signal_wait(arrived, SENNIT_FOREVER)
    call sennit_signal_reset(arrived)
  end subroutine notified_exchange

  subroutine notified_end() bind(C)
    call disconnect_blocks(the_plate, arrived, to)
  end subroutine notified_end

end module notified_style
