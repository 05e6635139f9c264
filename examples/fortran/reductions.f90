! Reductions for which C has no type or operator: a sum of complex numbers, and the largest value with its place, MPI_MAXLOC.
!     sennit run -n 4 reductions
program reductions
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: dp = c_double
  type, bind(C) :: located
    real(c_double) :: value
    integer(c_int64_t) :: index
  end type located
  complex(dp) :: waves(3), sums(3)
  type(located) :: mine(2), largest(2)
  integer :: rank, ranks

  call sennit_init()
  rank = sennit_rank()
  ranks = sennit_size()

  ! snippet: complex
  ! The sum of n complex numbers is the sum of 2 n real ones.
  waves = [(1, 0), (0, 1), (2, 3)] * (rank + 1)
  call sennit_allreduce(SENNIT_TEAM_WORLD, waves, sums, sennit_reduction_of(2 * size(waves), SENNIT_DOUBLE, SENNIT_SUM), &
                        SENNIT_FOREVER)
  ! end of snippet
  call must_be(all(abs(sums - [(1, 0), (0, 1), (2, 3)] * real(ranks * (ranks + 1) / 2, dp)) < 1e-12_dp), &
               'the sums of complex numbers')

  ! snippet: maxloc
  mine(1) = located(real(modulo(rank + 1, ranks), dp), rank)  ! the largest value is on rank ranks - 2
  mine(2) = located(7, rank)                                  ! equal values: the lowest rank wins
  call sennit_allreduce(SENNIT_TEAM_WORLD, mine, largest, &
                        sennit_reduction_by(size(mine, kind=c_size_t), c_sizeof(mine(1)), larger, c_null_ptr), SENNIT_FOREVER)
  ! end of snippet
  call must_be(nint(largest(1)%value) == ranks - 1 .and. largest(1)%index == max(ranks - 2, 0), 'the largest and its place')
  call must_be(largest(2)%index == 0, 'of equal ones the first')
  if (rank == 0) print '(a,i0)', 'the largest is on rank ', largest(1)%index
  call sennit_finalize()

contains

  ! snippet: larger
  ! result(i) is the larger of left(i) and right(i); if they are equal, the one with the lower index.
  subroutine larger(left, right, result, count, context) bind(C)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    type(located), pointer :: a(:), b(:), c(:)
    integer(c_size_t) :: i
    if (c_associated(context)) return  ! not used here
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    call c_f_pointer(result, c, [count])
    do i = 1, count
      if (a(i)%value > b(i)%value .or. .not. a(i)%value < b(i)%value .and. a(i)%index <= b(i)%index) then
        c(i) = a(i)
      else
        c(i) = b(i)
      end if
    end do
  end subroutine larger
  ! end of snippet

end program reductions
