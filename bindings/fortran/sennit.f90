! Sennit for Fortran 2018: `use sennit` corresponds to <sennit/sennit.h> in C.
!
! Names and arguments are those of C, with an optional last argument stat. The headers describe each call, docs/manual/fortran.md
! the differences from C.
module sennit
  use sennit_types
  use sennit_calls
  use sennit_more
  use sennit_pointers
  use sennit_text, only: sennit_string, sennit_in_place
  implicit none
  public
end module sennit
