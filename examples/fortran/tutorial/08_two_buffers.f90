! Step 8 of the tutorial: a rod that is hot at one end, with puts into two buffers in turn.
!     sennit run -n 4 08_two_buffers
program two_buffers
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: cells = 32, steps = 100, dp = c_double, bytes = 8

  type :: state
    type(sennit_gptr) :: place
    real(dp), pointer, contiguous :: cells(:) ! a halo cell at both ends: 0 and cells + 1
  end type state

  type(state) :: states(0:1) ! of even and of odd steps
  real(dp) :: expected(0:64 * cells + 1)
  integer :: rank, size, step, now, i

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call must_be(size <= 64, 'few ranks')
  do i = 0, 1
    call sennit_alloc(SENNIT_TEAM_WORLD, (cells + 2) * bytes, 0, 0, states(i)%place)
    call sennit_pointer(states(i)%place, states(i)%cells, [cells + 2], lower=[0])
    if (rank == 0) states(i)%cells(0) = 1 ! the hot end
  end do

  do step = 0, steps - 1
    now = modulo(step, 2)
    associate (rod => states(now)%cells, place => states(now)%place)
      if (rank > 0) & ! my first cell is the left rank's right halo
        call sennit_put(sennit_gptr_add(sennit_gptr_at(place, rank - 1), (cells + 1) * bytes), rod(1), bytes)
      if (rank < size - 1) & ! my last cell is the right rank's left halo
        call sennit_put(sennit_gptr_at(place, rank + 1), rod(cells), bytes)
      call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
      call compute(states(1 - now)%cells, rod)
    end associate
  end do

  call alone(expected(0:cells * size + 1))
  call must_be(all(abs(states(modulo(steps, 2))%cells(1:cells) - expected(1 + cells * rank:cells * (rank + 1))) <= 0), &
               'the same temperatures as by one rank alone')
  if (rank == 0) print '(i0,a,i0,a)', cells * size, ' cells on ', size, ' ranks: the same as on one'
  do i = 0, 1
    call sennit_free(states(i)%place)
  end do
  call sennit_finalize()

contains

  subroutine compute(next, now)
    real(dp), contiguous, intent(inout) :: next(0:)
    real(dp), contiguous, intent(in) :: now(0:)
    integer :: i
    do i = 1, ubound(now, 1) - 1
      next(i) = now(i) + 0.25_dp * (now(i - 1) - 2 * now(i) + now(i + 1))
    end do
  end subroutine compute

  ! The whole rod by one rank alone, for comparison. An even number of steps ends in the first state.
  subroutine alone(rod)
    real(dp), contiguous, intent(out) :: rod(0:)
    real(dp) :: other(0:ubound(rod, 1))
    integer :: step
    rod = 0
    rod(0) = 1
    other = rod
    do step = 1, steps / 2
      call compute(other, rod)
      call compute(rod, other)
    end do
  end subroutine alone

end program two_buffers
