! A Fortran program as another project might write it: each rank puts its number into the memory of the next rank.
program user
  use iso_c_binding
  use sennit
  implicit none
  type(sennit_gptr) :: box
  integer(c_int), pointer :: mine
  integer(c_int) :: rank, size
  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, box)
  call sennit_put(sennit_gptr_at(box, modulo(rank + 1, size)), rank, c_sizeof(rank))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_pointer(box, mine)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ' found ', mine
  call sennit_free(box)
  call sennit_finalize()
end program user
