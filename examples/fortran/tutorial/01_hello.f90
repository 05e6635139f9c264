! Step 1 of the tutorial: start as a rank, print its number, end.
!     sennit run -n 4 01_hello
program hello
  use sennit
  implicit none
  call sennit_init()
  print '(a,i0,a,i0)', 'rank ', sennit_rank(), ' of ', sennit_size()
  call sennit_finalize()
end program hello
