! Sennit for Fortran 2018: `use sennit` gives everything that <sennit/sennit.h> gives C.
!
! Names and arguments are those of C, with a last argument stat that may be left out. The headers say what each call does, and
! docs/manual/fortran.md what is different here.
module sennit
  use sennit_types
  use sennit_calls
  use sennit_more
  use sennit_pointers
  use sennit_text, only: sennit_string, sennit_in_place
  implicit none
  public
end module sennit
