! An allocated array, read by the left neighbour through a pointer: without allocation by Sennit, and without a copy.
!     sennit run -n 4 existing_array
! If a peer's memory cannot be mapped, there is no pointer, and a get reads it.
program existing_array
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 1000, dp = c_double, bytes = 8
  real(dp), allocatable, asynchronous :: field(:)
  type(sennit_region), allocatable :: regions(:)
  type(sennit_region) :: mine
  real(dp), pointer, contiguous :: there(:)
  real(dp) :: last
  integer :: rank, size, right, mechanism, status, i

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  right = modulo(rank + 1, size)
  allocate (field(count), regions(0:size - 1))
  field = [(1000 * rank + i, i = 0, count - 1)]

  call sennit_register(field, count * bytes, 0, mine)
  call sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions) ! one of each rank

  call sennit_pointer(regions(right)%gptr, there, [count], stat=status) ! the right rank's field
  if (status == SENNIT_OK) then
    last = there(count)
  else
    call sennit_get(last, sennit_gptr_add(regions(right)%gptr, (count - 1) * bytes), bytes)
  end if
  call must_be(nint(last) == 1000 * right + count - 1, "it is the right rank's last element")

  call sennit_region_mechanism(regions(right), mechanism)
  if (rank == 0) print '(a,i0,a,i0,2a)', 'rank ', rank, ' reads the array of rank ', right, ' by ', sennit_mechanism_name(mechanism)

  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! no rank reads any more
  call sennit_deregister(mine)
  call must_be(nint(field(count)) == 1000 * rank + count - 1, 'the array is as it was')
  call sennit_finalize()
end program existing_array
