! A halo by plans: one for even steps and one for odd steps.
module plan_style
  use blocks
  implicit none
  type(plate) :: the_plate
  type(sennit_signal) :: arrived
  type(sennit_peer_block) :: to(sides)
  type(sennit_plan) :: plans(0:1)

contains

  subroutine plan_begin(p) bind(C)
    type(plate), intent(in) :: p
    real(dp), pointer, contiguous, asynchronous :: cells(:)
    integer :: turn, side
    the_plate = p
    cells => cells_of(p)
    call connect_blocks(p, arrived, to)
    do turn = 0, 1 ! even and odd steps
      call sennit_plan_create(plans(turn))
      do side = 1, sides
        if (p%neighbours(side) == SENNIT_RANK_NONE) cycle
        if (is_row(side)) then
          call sennit_plan_put(plans(turn), to(side), halo(p, turn, side), cells(edge(p, turn, side)), &
                               int(p%n * bytes, c_size_t))
        else
          call sennit_plan_put_strided(plans(turn), to(side), halo(p, turn, side), cells(edge(p, turn, side)), column_of(p))
        end if
      end do
      call sennit_plan_commit(plans(turn), turn, 2) ! epochs turn, turn + 2, ...
    end do
  end subroutine plan_begin

  subroutine plan_exchange(p, step) bind(C)
    type(plate), intent(in) :: p
    integer(c_int), value :: step
    if (p%n < 1) stop 1 ! the plans have all other data
    call sennit_plan_start(plans(modulo(step, 2)))
    ! ... compute what needs no halo ...
    call sennit_plan_wait(plans(modulo(step, 2)), SENNIT_FOREVER) ! the edges may be changed
    call sennit_signal_wait(arrived, SENNIT_FOREVER)              ! the halo is here
    call sennit_signal_reset(arrived)
  end subroutine plan_exchange

  subroutine plan_end() bind(C)
    integer :: turn
    do turn = 0, 1
      call sennit_plan_destroy(plans(turn))
    end do
    call disconnect_blocks(the_plate, arrived, to)
  end subroutine plan_end

end module plan_style
