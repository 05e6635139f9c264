! A halo by puts and a barrier.
subroutine barrier_begin(p) bind(C)
  use plates
  type(plate), intent(in) :: p
  if (p%n < 1) stop 1 ! there is nothing to prepare
end subroutine barrier_begin

subroutine barrier_exchange(p, step_number) bind(C)
  use plates
  type(plate), intent(in) :: p
  integer(c_int), value :: step_number
  real(dp), pointer, contiguous :: cells(:)
  type(sennit_gptr) :: to
  integer :: step, side
  step = step_number
  cells => cells_of(p)
  do side = 1, sides
    if (p%neighbours(side) == SENNIT_RANK_NONE) cycle
    to = sennit_gptr_add(sennit_gptr_at(p%memory, p%neighbours(side)), halo(p, step, side))
    if (is_row(side)) then
      call sennit_put_nbi(to, cells(edge(p, step, side)), p%n * bytes)
    else
      call sennit_put_strided_nbi(to, cells(edge(p, step, side)), column_of(p))
    end if
  end do
  call sennit_barrier(p%grid, SENNIT_FOREVER) ! completes the puts of all ranks
end subroutine barrier_exchange

subroutine barrier_end() bind(C)
end subroutine barrier_end
