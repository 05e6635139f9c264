! A sum whose terms are spread over the ranks.
!     sennit run -n 4 first
program first
  use iso_c_binding
  use sennit
  implicit none
  integer(c_int64_t), parameter :: count = 1000
  type(sennit_gptr) :: sums
  integer(c_int64_t), pointer :: all_sums(:)
  integer(c_int64_t) :: mine, i, terms
  integer :: rank, size

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, size * c_sizeof(mine), 0, 0, sums)
  mine = sum([(count * rank + i, i = 0, count - 1)])

  ! Puts every rank's sum into its place at rank 0.
  call sennit_put(sennit_gptr_add(sennit_gptr_at(sums, 0), rank * c_sizeof(mine)), mine, c_sizeof(mine))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  if (rank == 0) then
    call sennit_pointer(sums, all_sums, [size])
    terms = count * size
    if (sum(all_sums) /= terms * (terms - 1) / 2) error stop 'wrong sum'
    print '(a,i0,a,i0)', 'the numbers below ', terms, ' add up to ', sum(all_sums)
  end if
  call sennit_free(sums)
  call sennit_finalize()
end program first
