! Another rank's memory as a Fortran pointer, with atomic operations of OpenMP, which order memory as
! those of C11 do.
!     sennit run -n 4 pointer
program pointer_example
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: adds = 1000

  type, bind(C) :: shared
    integer(c_long) :: counter
    integer(c_int) :: is_ready
    integer(c_int) :: answer
  end type shared

  interface
    function sched_yield() bind(C, name="sched_yield") result(code)
      import
      integer(c_int) :: code
    end function sched_yield
  end interface

  integer :: size, i, looks, is_ready, ignored
  type(sennit_gptr) :: mine
  type(shared) :: model
  type(c_ptr) :: address
  type(shared), pointer :: at_zero

  call sennit_init()
  size = sennit_size()

  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(model), 0, 0, mine)
  address = sennit_ptr(sennit_gptr_at(mine, 0))
  if (.not. c_associated(address)) then ! rank 0 is not on this node: the reason has details
    print '(2a)', 'no pointer to rank 0: ', sennit_last_error_text()
    error stop 1
  end if
  call c_f_pointer(address, at_zero)

  ! New memory is zeroed, so no initialisation is needed.
  do i = 1, adds
    !$omp atomic update
    at_zero%counter = at_zero%counter + 1
  end do
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call must_be(at_zero%counter == adds * size, 'no addition was lost')

  ! Release and acquire order the plain integer, as between two threads.
  if (sennit_rank() == size - 1) then
    at_zero%answer = 42
    !$omp atomic write release
    at_zero%is_ready = 1
  end if
  looks = 0
  do
    !$omp atomic read acquire
    is_ready = at_zero%is_ready
    if (is_ready /= 0) exit
    looks = looks + 1
    if (looks > 100) ignored = sched_yield() ! the other rank may need this processor
  end do
  call must_be(at_zero%answer == 42, 'the integer before its flag')

  if (sennit_rank() == 0) print '(i0,a,i0,a)', adds * size, ' additions by ', size, ' ranks'
  call sennit_free(mine)
  call sennit_finalize()
end program pointer_example
