! Checks a result in every example: a wrong result ends the program with a message. Errors need no check: a call without
! stat ends the program with its message.
module must
  use iso_c_binding
  use sennit
  implicit none
contains
  subroutine must_be(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    write (*, '(a,i0,2a)') 'rank ', sennit_rank(), ': wrong: ', what
    error stop 1
  end subroutine must_be
end module must
