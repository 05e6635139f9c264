! Each rank puts its number into the memory of the next rank; then each rank reads the numbers of
! all.
!     sennit run -n 4 ring
program ring
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer(c_int) :: rank, size, next, previous, peer, number, total
  integer(c_int), pointer :: inbox
  type(sennit_gptr) :: mine

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  next = modulo(rank + 1, size)
  previous = modulo(rank - 1, size)

  ! One integer on every rank. `mine` names this rank's integer; sennit_gptr_at names another
  ! rank's.
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, mine)

  call sennit_put(sennit_gptr_at(mine, next), rank, c_sizeof(rank))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  ! The barrier ordered the put before this load.
  call sennit_pointer(mine, inbox)
  call must_be(inbox == previous, 'the number of the rank before')

  total = 0
  do peer = 0, size - 1
    call sennit_get(number, sennit_gptr_at(mine, peer), c_sizeof(number))
    total = total + number
  end do
  call must_be(total == size * (size - 1) / 2, 'the sum of all numbers')
  if (rank == 0) print '(i0,a,i0)', size, ' ranks in a ring, sum of their numbers ', total

  call sennit_free(mine)
  call sennit_finalize()
end program ring
