! Prints the types and kinds for which this compiler can make array pointers, as type:kind with commas.
program kinds_of_compiler
  use, intrinsic :: iso_fortran_env
  implicit none
  write (*, '(a)', advance='no') 'integer:'
  write (*, '(*(i0, :, ",integer:"))', advance='no') integer_kinds
  call list('character', character_kinds)
  call list('real', real_kinds)
  call list('complex', real_kinds)
  call list('logical', logical_kinds)
contains
  subroutine list(type, kinds)
    character(*), intent(in) :: type
    integer, intent(in) :: kinds(:)
    integer :: i
    do i = 1, size(kinds)
      write (*, '(*(g0))', advance='no') ',', type, ':', kinds(i)
    end do
  end subroutine list
end program kinds_of_compiler
