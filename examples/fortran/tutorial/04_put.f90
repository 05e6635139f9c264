! Step 4 of the tutorial: write into another rank's memory, and know when the data has arrived.
!     sennit run -n 4 04_put
program put
  use iso_c_binding
  use must
  use sennit
  implicit none
  type(sennit_gptr) :: box
  integer(c_int), pointer :: mine
  integer(c_int) :: rank, size, right

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, box)

  right = modulo(rank + 1, size)
  call sennit_put(sennit_gptr_at(box, right), rank, c_sizeof(rank))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  call sennit_pointer(box, mine)
  print '(a,i0,a,i0)', 'rank ', rank, ' found ', mine

  call must_be(mine == modulo(rank - 1, size), 'the number of the rank on the left')
  call sennit_free(box)
  call sennit_finalize()
end program put
