! A rod that is hot at one end: each rank owns some cells and gets one cell of each neighbour in every step. The result is
! compared, to the bit, with the same rod computed by one rank alone.
!     sennit run -n 4 halo_1d
program halo_1d
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: cells = 32, steps = 200 ! cells of a rank
  integer, parameter :: dp = c_double, bytes = 8
  integer :: rank, size, s, now, next
  type(sennit_gptr) :: rods, now_g
  ! snippet: declared
  real(dp), pointer, contiguous :: rod(:, :)
  ! end of snippet
  real(dp), allocatable :: expected(:)

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()

  ! Two states, each with an additional cell at both ends. Only memory that neighbours access is global.
  call sennit_alloc(SENNIT_TEAM_WORLD, 2 * (cells + 2) * bytes, 0, 0, rods)
  ! snippet: pointer
  call sennit_pointer(rods, rod, [cells + 2, 2], lower=[0, 0])
  ! end of snippet
  if (rank == 0) rod(0, :) = 1 ! the hot end, in both states

  do s = 0, steps - 1
    now = modulo(s, 2)
    next = 1 - now
    now_g = sennit_gptr_add(rods, now * (cells + 2) * bytes)
    ! After this barrier all neighbours have finished the previous step.
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    if (rank > 0) call sennit_get(rod(0, now), sennit_gptr_add(sennit_gptr_at(now_g, rank - 1), cells * bytes), bytes)
    if (rank < size - 1) &
      call sennit_get(rod(cells + 1, now), sennit_gptr_add(sennit_gptr_at(now_g, rank + 1), bytes), bytes)
    call step(rod(:, next), rod(:, now))
  end do

  allocate (expected(cells * size + 2))
  expected = alone(cells * size)
  call must_be(all(abs(rod(1:cells, 0) - expected(2 + cells * rank:1 + cells * (rank + 1))) <= 0), &
               'the same temperatures as one rank alone')
  if (rank == 0) print '(i0,a,i0,a)', cells * size, ' cells on ', size, ' ranks: the same as on one'

  call sennit_free(rods)
  call sennit_finalize()

contains

  ! One step of a piece whose first and last cells belong to other ranks.
  subroutine step(next, now)
    real(dp), contiguous, intent(inout) :: next(0:)
    real(dp), contiguous, intent(in) :: now(0:)
    integer :: i
    do i = 1, ubound(now, 1) - 1
      next(i) = now(i) + 0.25_dp * (now(i - 1) - 2 * now(i) + now(i + 1))
    end do
  end subroutine step

  ! The whole rod, computed by the caller alone.
  function alone(cells) result(rod)
    integer, intent(in) :: cells
    real(dp) :: rod(cells + 2)
    real(dp), allocatable :: states(:, :)
    integer :: s
    allocate (states(cells + 2, 0:1), source=0.0_dp)
    states(1, :) = 1
    do s = 0, steps - 1
      call step(states(:, 1 - modulo(s, 2)), states(:, modulo(s, 2)))
    end do
    rod = states(:, modulo(steps, 2))
  end function alone

end program halo_1d
