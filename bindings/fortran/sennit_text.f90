! What the procedures of this binding share: texts of C as texts of Fortran, the end of a program after an error, the mark for
! results in place. Programs get sennit_string and sennit_in_place from module sennit.
module sennit_text
  use iso_c_binding
  use sennit_types
  use sennit_c
  implicit none
  private

  ! Stands for the source of a collective call whose input lies in the destination.
  integer(c_int), save, target, public :: sennit_in_place = 0

  public :: sennit_string, sennit_to_c, sennit_stop, sennit_end_of_call, sennit_refuse, sennit_place, sennit_is_usable

  ! The text at an address of C, up to its null; empty for a null address. Or that in an array of characters.
  interface sennit_string
    module procedure string_at, string_in
  end interface sennit_string

  interface
    function strlen(text) bind(C, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function strlen
  end interface

contains

  function string_at(address) result(text)
    type(c_ptr), value :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    if (.not. c_associated(address)) then
      text = ''
      return
    end if
    call c_f_pointer(address, letters, [strlen(address)])
    text = joined(letters)
  end function string_at

  pure function string_in(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(:), allocatable :: text
    integer :: length
    do length = 0, size(letters) - 1
      if (letters(length + 1) == c_null_char) exit
    end do
    text = joined(letters(1:length))
  end function string_in

  pure function joined(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(size(letters)) :: text
    integer :: i
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function joined

  ! The text as C wants it: without blanks at its end, with a null.
  pure function sennit_to_c(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char) :: letters(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(len_trim(text) + 1) = c_null_char
  end function sennit_to_c

  ! Ends the program with what the failing call of this thread said.
  subroutine sennit_stop()
    type(sennit_error), pointer :: error
    call c_f_pointer(c_sennit_last_error(), error)
    error stop string_at(error%operation) // ': ' // string_at(c_sennit_status_string(error%status)) // ': ' // &
      string_in(error%text)
  end subroutine sennit_stop

  ! What a call with this status does at last.
  subroutine sennit_end_of_call(status, stat)
    integer(c_int), value :: status
    integer(c_int), optional, intent(out) :: stat
    if (present(stat)) then
      stat = status
    else if (status /= SENNIT_OK) then
      call sennit_stop()
    end if
  end subroutine sennit_end_of_call

  ! The status of a call whose buffer is not contiguous. It would be copied, and the copy be gone when the call is complete.
  function sennit_refuse(operation) result(status)
    type(c_ptr), value :: operation
    integer(c_int) :: status
    character(kind=c_char, len=62), target :: text
    text = c_char_'the buffer is not contiguous, and a copy would not last' // c_null_char
    status = c_sennit_error_report(SENNIT_ERR_ARG, operation, c_loc(text), 0_c_int64_t)
  end function sennit_refuse

  ! The address that C gets for a buffer of a collective call: that of sennit_in_place is C's mark.
  function sennit_place(address) result(place)
    type(c_ptr), value :: address
    type(c_ptr) :: place
    place = address
    if (c_associated(address, c_loc(sennit_in_place))) place = transfer(1_c_intptr_t, c_null_ptr)
  end function sennit_place

  ! Whether sennit_ptr gave an address; if it did not, the status goes to stat, or the program ends.
  function sennit_is_usable(address, stat) result(is_usable)
    type(c_ptr), value :: address
    integer(c_int), optional, intent(out) :: stat
    logical :: is_usable
    type(sennit_error), pointer :: error
    is_usable = c_associated(address)
    if (present(stat)) stat = SENNIT_OK
    if (is_usable) return
    call c_f_pointer(c_sennit_last_error(), error)
    if (.not. present(stat)) call sennit_stop()
    stat = error%status
  end function sennit_is_usable

end module sennit_text
