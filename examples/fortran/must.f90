! What every example does with a result: a wrong one ends the program and says what is wrong. Errors need no help: a call
! without stat ends the program with its message.
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
