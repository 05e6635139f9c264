! What a call costs from Fortran more than from C: both make the same calls in turn, in one process.
!     sennit run -n 2 cost [CALLS]
! Rank 0 works on the memory of the last rank. For each call: nanoseconds from C and from Fortran, the median of the rounds, and
! the median of the differences of each round.
program cost
  use iso_c_binding
  use sennit
  implicit none
  integer, parameter :: rounds = 41, dp = c_double

  interface
    function cost_put(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function cost_put
    function cost_get(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function cost_get
    function cost_fetch_add(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function cost_fetch_add
    function cost_put_nb(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function cost_put_nb
  end interface

  abstract interface
    function loop(place, word, count) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function loop
    function loop_of_c(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function loop_of_c
  end interface

  type(sennit_gptr) :: memory, place
  integer(c_long) :: calls
  character(20) :: argument

  calls = 200000
  call get_command_argument(1, argument)
  if (argument /= ' ') read (argument, *) calls
  call sennit_init()
  call sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, memory)
  place = sennit_gptr_at(memory, sennit_size() - 1)
  if (sennit_rank() == 0) then
    print '(a)', 'call            C ns  Fortran ns  difference'
    call measure('put', cost_put, put)
    call measure('get', cost_get, get)
    call measure('fetch_add', cost_fetch_add, fetch_add)
    call measure('put_nb + wait', cost_put_nb, put_nb)
  end if
  call sennit_free(memory)
  call sennit_finalize()

contains

  subroutine measure(name, of_c, of_fortran)
    character(*), intent(in) :: name
    procedure(loop_of_c) :: of_c
    procedure(loop) :: of_fortran
    real(dp) :: start, middle, times(rounds, 2)
    integer(c_int64_t) :: word
    integer :: round, failed
    word = 1
    do round = 0, rounds ! the first one warms up
      start = sennit_wtime()
      failed = of_c(place, word, calls)
      middle = sennit_wtime()
      if (failed == 0) failed = of_fortran(place, word, calls)
      if (failed /= 0) error stop 'a call failed'
      if (round > 0) times(round, :) = [middle - start, sennit_wtime() - middle] * 1e9_dp / real(calls, dp)
    end do
    print '(a13,f7.2,f12.2,f12.2)', name // repeat(' ', 13), median(times(:, 1)), median(times(:, 2)), &
      median(times(:, 2) - times(:, 1))
  end subroutine measure

  pure function median(values)
    real(dp), intent(in) :: values(:)
    real(dp) :: median, sorted(size(values)), one
    integer :: i, j
    sorted = values
    do i = 2, size(sorted)
      one = sorted(i)
      do j = i - 1, 1, -1
        if (sorted(j) <= one) exit
        sorted(j + 1) = sorted(j)
      end do
      sorted(j + 1) = one
    end do
    median = sorted((size(sorted) + 1) / 2)
  end function median

  function put(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    integer(c_long) :: i
    status = 0
    do i = 1, count
      call sennit_put(place, word, 8)
    end do
  end function put

  function get(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    integer(c_long) :: i
    status = 0
    do i = 1, count
      call sennit_get(word, place, 8)
    end do
  end function get

  function fetch_add(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    integer(c_long) :: i
    status = 0
    do i = 1, count
      call sennit_atomic_fetch_add(place, 1_c_int64_t, word)
    end do
  end function fetch_add

  function put_nb(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    type(sennit_request) :: request
    integer(c_long) :: i
    status = 0
    do i = 1, count
      call sennit_put_nb(place, word, 8, request)
      call sennit_wait(request, SENNIT_FOREVER)
    end do
  end function put_nb

end program cost
