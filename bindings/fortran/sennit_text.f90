! Shared by the procedures of this binding: conversion of texts, the end of a program after an error, the mark for results in place.
! Programs get sennit_string and sennit_in_place from module sennit.
module sennit_text
  use iso_c_binding
  use sennit_types
  use sennit_c
  implicit none
  private

  ! Passed as the source of a collective call whose input is in the destination.
  integer(c_int), save, target, public :: sennit_in_place = 0

  public :: sennit_string, sennit_to_c, sennit_stop, sennit_end_of_call, sennit_place, sennit_is_usable
  public :: sennit_refuse, sennit_refuse_box, sennit_refuse_size, sennit_refuse_room, sennit_report, sennit_address_of
  public :: sennit_room

  character(kind=c_char, len=15), save, target :: pointer_name = c_char_'sennit_pointer' // c_null_char

  ! The address for an array pointer of this shape; null after an error, which is reported.
  interface sennit_address_of
    module procedure address_of_gptr, address_of_pointer
  end interface sennit_address_of

  ! The text at an address of C, up to its null, or in an array of characters. Empty for a null address.
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

  ! The text for C: without trailing blanks, with a null at its end.
  pure function sennit_to_c(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char) :: letters(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(len_trim(text) + 1) = c_null_char
  end function sennit_to_c

  ! Ends the program with the error of this thread's last failed call.
  subroutine sennit_stop()
    type(sennit_error), pointer :: error
    call c_f_pointer(c_sennit_last_error(), error)
    error stop string_at(error%operation) // ': ' // string_at(c_sennit_status_string(error%status)) // ': ' // &
      string_in(error%text)
  end subroutine sennit_stop

  ! The end of a call: sets stat, or without stat ends the program after an error.
  subroutine sennit_end_of_call(status, stat)
    integer(c_int), value :: status
    integer(c_int), optional, intent(out) :: stat
    if (present(stat)) then
      stat = status
    else if (status /= SENNIT_OK) then
      call sennit_stop()
    end if
  end subroutine sennit_end_of_call

  ! Reports an error that this binding, or the program, has found.
  function sennit_report(status, operation, text, provider_code) result(same)
    integer(c_int), value :: status
    type(c_ptr), value :: operation
    character(*), intent(in) :: text
    integer(c_int64_t), optional, intent(in) :: provider_code
    integer(c_int) :: same
    integer(c_int64_t) :: code
    character(kind=c_char), target :: letters(len_trim(text) + 1)
    letters = sennit_to_c(text)
    code = 0
    if (present(provider_code)) code = provider_code
    same = c_sennit_error_report(status, operation, c_loc(letters), code)
  end function sennit_report

  ! The status of a call whose buffer is not contiguous. The compiler would pass a copy, which would not exist any more when the
  ! call is complete.
  function sennit_refuse(operation) result(status)
    type(c_ptr), value :: operation
    integer(c_int) :: status
    status = sennit_report(SENNIT_ERR_ARG, operation, 'the buffer is not contiguous, and a copy would not last')
  end function sennit_refuse

  ! sennit_refuse() for a call whose strides count from the first byte of the buffer.
  function sennit_refuse_box(operation) result(status)
    type(c_ptr), value :: operation
    integer(c_int) :: status
    status = sennit_report(SENNIT_ERR_ARG, operation, 'the buffer is not contiguous: pass the first element, as in ' // &
                           'a(1, 1, 1), from which the strides count')
  end function sennit_refuse_box

  ! The status of a call with a size below 0.
  function sennit_refuse_size(operation, name, value) result(status)
    type(c_ptr), value :: operation
    character(*), intent(in) :: name
    integer(c_int64_t), value :: value
    integer(c_int) :: status
    character(24) :: number
    write (number, '(i0)') value
    status = sennit_report(SENNIT_ERR_RANGE, operation, name // ' is ' // trim(number) // ', which is negative: a product of ' // &
                           'default integers overflows beyond 2147483647; use integer(c_size_t)')
  end function sennit_refuse_size

  ! The status of a call with more bytes than its array has.
  function sennit_refuse_room(operation, bytes, room) result(status)
    type(c_ptr), value :: operation
    integer(c_int64_t), value :: bytes
    integer(c_size_t), value :: room
    integer(c_int) :: status
    character(120) :: text
    write (text, '(2(a, i0), a)') 'bytes is ', bytes, ', and the array has ', room, &
      ' bytes; if more memory follows it, pass its first element'
    status = sennit_report(SENNIT_ERR_RANGE, operation, trim(text))
  end function sennit_refuse_room

  ! The size of an array of this shape in bytes; -1 if an extent is negative; huge() if an integer cannot hold it.
  pure function bytes_of(shape, element_bytes) result(bytes)
    integer(c_int64_t), intent(in) :: shape(:), element_bytes
    integer(c_int64_t) :: bytes
    integer :: i
    bytes = element_bytes
    if (any(shape == 0) .and. bytes > 0) bytes = 0
    if (bytes <= 0) return
    do i = 1, size(shape)
      if (bytes > huge(bytes) / shape(i)) then
        bytes = huge(bytes)
        return
      end if
      bytes = bytes * shape(i)
    end do
  end function bytes_of

  function refuse_pointer(status, text) result(same)
    integer(c_int), value :: status
    character(*), intent(in) :: text
    integer(c_int) :: same
    type(c_ptr) :: operation
    operation = c_loc(pointer_name)  ! not as the argument: generator/calls.py has the reason
    same = sennit_report(status, operation, text)
  end function refuse_pointer

  ! The mistake in the shape of an array pointer; blank if there is none. counts: the rank, and the number of lower bounds.
  function mistake_in(shape, counts) result(text)
    integer(c_int64_t), intent(in) :: shape(:)
    integer, intent(in) :: counts(2)
    character(120) :: text
    text = ' '
    if (any(shape < 0)) text = 'the shape has a negative extent'
    if (counts(2) /= counts(1)) write (text, '(2(a, i0))') 'lower has size ', counts(2), ', the array has rank ', counts(1)
    if (size(shape) /= counts(1)) write (text, '(2(a, i0))') 'the shape has size ', size(shape), ', the array has rank ', counts(1)
  end function mistake_in

  ! counts: the rank of the pointer, and the number of lower bounds.
  function address_of_gptr(place, shape, counts, element_bytes, stat) result(address)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(in) :: shape(:), element_bytes
    integer, intent(in) :: counts(2)
    integer(c_int), optional, intent(out) :: stat
    type(c_ptr) :: address
    integer(c_size_t) :: segment
    integer(c_int64_t) :: bytes
    character(120) :: text
    integer(c_int) :: status
    address = c_sennit_ptr(place)
    if (.not. sennit_is_usable(address, stat)) return
    segment = 0
    text = mistake_in(shape, counts)
    status = SENNIT_ERR_ARG
    if (text == ' ') then
      bytes = bytes_of(shape, element_bytes)
      if (c_sennit_segment_bytes(place, segment) /= SENNIT_OK) return
      if (bytes <= segment - place%offset) return
      write (text, '(3(a, i0), a)') 'an array of ', bytes, ' bytes at offset ', place%offset, ' leaves the segment of ', segment, &
        ' bytes'
      status = SENNIT_ERR_RANGE
    end if
    address = c_null_ptr
    call sennit_end_of_call(refuse_pointer(status, text), stat)
  end function address_of_gptr

  function address_of_pointer(place, shape, counts, element_bytes, stat) result(address)
    type(c_ptr), value :: place
    integer(c_int64_t), intent(in) :: shape(:), element_bytes
    integer, intent(in) :: counts(2)
    integer(c_int), optional, intent(out) :: stat
    type(c_ptr) :: address
    character(120) :: text
    address = place
    if (present(stat)) stat = SENNIT_OK
    text = mistake_in(shape, counts)
    if (text == ' ') then
      if (bytes_of(shape, element_bytes) == huge(element_bytes)) text = 'the array is larger than an address space'
    end if
    if (.not. c_associated(place)) text = 'the address is null'
    if (text == ' ') return
    address = c_null_ptr
    call sennit_end_of_call(refuse_pointer(SENNIT_ERR_ARG, text), stat)
  end function address_of_pointer

  ! The address of a buffer of a collective call for C: sennit_in_place becomes C's SENNIT_IN_PLACE.
  function sennit_place(address) result(place)
    type(c_ptr), value :: address
    type(c_ptr) :: place
    place = address
    if (c_associated(address, c_loc(sennit_in_place))) place = transfer(1_c_intptr_t, c_null_ptr)
  end function sennit_place

  ! Whether sennit_ptr returned an address. If not, sets stat, or without stat ends the program.
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

  ! The size of a whole array in bytes; -1 if unknown: for a scalar, an assumed-size array, or no memory.
  function sennit_room(array) result(bytes)
    type(*), dimension(..), intent(in), target, asynchronous :: array
    integer(c_size_t) :: bytes
    interface
      function c_element_bytes(array) bind(C, name="sennit_fortran_element_bytes") result(bytes)
        import
        type(*), dimension(..), intent(in) :: array
        integer(c_size_t) :: bytes
      end function c_element_bytes
    end interface
    bytes = -1
    if (rank(array) == 0) return
    if (.not. c_associated(c_loc(array))) return
    if (size(array, kind=c_size_t) >= 0) bytes = size(array, kind=c_size_t) * c_element_bytes(array)
  end function sennit_room

  ! The size of an element, read from the C descriptor, because storage_size does not accept type(*). The standard fixes the first
  ! two members of a descriptor: base_addr and elem_len.
  function element_bytes_of(descriptor) bind(C, name="sennit_fortran_element_bytes") result(bytes)
    type(c_ptr), value :: descriptor
    integer(c_size_t) :: bytes
    integer(c_size_t), pointer :: members(:)
    call c_f_pointer(descriptor, members, [2])
    bytes = members(2)
  end function element_bytes_of

end module sennit_text
