! Step 2 of the tutorial: the errors of a call that fails.
!     sennit run -n 4 02_errors
program errors
  use iso_c_binding
  use sennit
  implicit none
  type(sennit_gptr) :: box, too_far
  integer(c_int) :: number, status

  call sennit_init() ! without stat: an error would end the program with its reason
  if (sennit_rank() == 0) then
    call sennit_alloc_local(c_sizeof(number), 0, 0, box)
    number = 42
    too_far = sennit_gptr_add(box, c_sizeof(number))
    call sennit_put(too_far, number, c_sizeof(number), stat=status)
    print '(3a)', sennit_status_string(status), ': ', sennit_last_error_text()
    if (status /= SENNIT_ERR_RANGE) error stop 1
    call sennit_free(box)
  end if
  call sennit_finalize()
end program errors
