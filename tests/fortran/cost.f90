! The extra cost of a call from Fortran compared with C: both make the same calls in turn, in one process.
!     sennit run -n 2 cost [CALLS]
! Rank 0 works on the memory of the last rank, and hands messages over to itself. Each line has the nanoseconds from C and from
! Fortran (medians of the rounds) and the median of the differences of each round, in total and per call of the line. The target
! is at most 2 ns per call.
program cost
  use iso_c_binding
  use costs
  use sennit
  implicit none

  procedure(loop_of_c), bind(C) :: cost_put, cost_get, cost_fetch_add, cost_put_nb, cost_put_nbi, cost_channel
  type(sennit_gptr) :: memory, place
  type(sennit_channel) :: channel(1)
  integer(c_int), target, asynchronous :: myself(1)
  integer(c_size_t), target, asynchronous :: none(1)
  type(c_ptr), target :: nothing(1)
  type(c_ptr) :: peer(1)
  integer(c_int64_t) :: word
  integer(c_long) :: calls

  calls = turns_asked_for()
  call sennit_init()
  call sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, memory)
  place = sennit_gptr_at(memory, sennit_size() - 1)
  myself = sennit_rank()
  none = 0
  nothing = c_null_ptr
  call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(1, myself, nothing, none), 0, SENNIT_FOREVER, peer, channel)
  if (sennit_rank() == 0) then
    call head_of_costs()
    word = 1
    call measure('put', 1, cost_put, put, place, word, calls)
    call measure('get', 1, cost_get, get, place, word, calls)
    call measure('fetch_add', 1, cost_fetch_add, fetch_add, place, word, calls)
    call measure('put_nb, wait', 2, cost_put_nb, put_nb, place, word, calls)
    call measure('put_nbi', 1, cost_put_nbi, put_nbi, place, word, calls)
    word = channel(1)%handle
    call measure('channel', 4, cost_channel, hand_over, place, word, calls)
  end if
  call sennit_channel_close(channel, 1, SENNIT_FOREVER)
  call sennit_free(memory)
  call sennit_finalize()

contains

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

  function put_nbi(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    integer(c_long) :: i
    do i = 1, count
      call sennit_put_nbi(place, word, 8)
    end do
    call sennit_flush_all(SENNIT_FOREVER, stat=status)
  end function put_nbi

  function hand_over(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status
    type(sennit_channel) :: to_myself
    logical :: can_write, can_read
    integer(c_long) :: i
    status = merge(0, 1, place%rank >= 0)
    to_myself%handle = int(word, c_int32_t)
    do i = 1, count
      call sennit_channel_can_write(to_myself, can_write)
      call sennit_channel_have_written(to_myself)
      call sennit_channel_can_read(to_myself, can_read)
      call sennit_channel_have_read(to_myself)
      if (.not. (can_write .and. can_read)) status = 1
    end do
  end function hand_over

end program cost
