! Code shared by the tests in this folder: a check that prints the sentence that does not hold, and the end of the program with its
! result.
module checks
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: check, check_status, end_of_test
  integer :: failures = 0
contains

  subroutine check(holds, sentence)
    logical, intent(in) :: holds
    character(*), intent(in) :: sentence
    if (holds) return
    failures = failures + 1
    write (*, '(a,i0,2a)') 'rank ', sennit_rank(), ': not so: ', sentence
  end subroutine check

  subroutine check_status(status, expected, sentence)
    integer(c_int), intent(in) :: status, expected
    character(*), intent(in) :: sentence
    call check(status == expected, sentence)
    if (status /= expected) write (*, '(4a)') '  status ', sennit_status_string(status), ': ', sennit_last_error_text()
  end subroutine check_status

  subroutine end_of_test()
    if (failures > 0) error stop 1
  end subroutine end_of_test

end module checks
