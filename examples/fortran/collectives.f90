! Collective calls: the greatest of the ranks' numbers, their sums, and a request that runs while the rank does other work.
!     sennit run -n 4 collectives
program collectives
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 1000, dp = c_double
  integer :: rank, size, i
  real(dp), asynchronous :: mine(count), sums(count)
  real(dp) :: factor, greatest
  integer(c_long) :: own, before
  type(sennit_request) :: request

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  mine = [(rank + 0.001_dp * i, i = 0, count - 1)]

  ! Rank 0 gives the factor by which all ranks multiply.
  factor = merge(2, 0, rank == 0)
  call sennit_broadcast(SENNIT_TEAM_WORLD, 0, factor, c_sizeof(factor), SENNIT_FOREVER)
  mine = mine * factor

  ! The sums of all ranks' elements. The request runs while this rank looks for its greatest element; meanwhile it may read
  ! `mine`, but must not change it.
  call sennit_allreduce_nb(SENNIT_TEAM_WORLD, mine, sums, sennit_reduction_of(count, SENNIT_DOUBLE, SENNIT_SUM), request)
  greatest = maxval(mine)
  call sennit_wait(request, SENNIT_FOREVER)
  call must_be(nint(sums(1)) == size * (size - 1), 'the sum of the first elements')

  ! In place: the result replaces the input.
  call sennit_allreduce(SENNIT_TEAM_WORLD, sennit_in_place, greatest, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX), &
                        SENNIT_FOREVER)
  call must_be(abs(greatest - factor * (size - 1 + 0.001_dp * (count - 1))) < 1e-9_dp, 'the greatest of all')

  ! The number of elements before those of this rank, if the ranks' elements are concatenated.
  own = count
  before = 0
  call sennit_scan_exclusive(SENNIT_TEAM_WORLD, own, before, sennit_reduction_of(1, SENNIT_INT64, SENNIT_SUM), SENNIT_FOREVER)
  call must_be(before == rank * count, "where this rank's elements begin")

  if (rank == 0) print '(i0,a,f0.3)', size, ' ranks, the greatest of their numbers is ', greatest
  call sennit_finalize()
end program collectives
