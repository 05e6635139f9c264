! Channels between neighbours of a ring, by polls and by waits. Breaks when the ends reach C wrongly, a peer's address or a handle
! is lost, or yes and no are swapped.
program channel_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  integer(c_int), target, asynchronous :: targets(2), own(2)
  integer(c_size_t), target, asynchronous :: bytes(2)
  type(c_ptr), target :: buffers(2)
  type(c_ptr) :: peers(2)
  type(sennit_channel) :: channels(2)
  type(sennit_channel_info) :: info
  type(sennit_gptr) :: place
  integer(c_int), pointer :: mine(:), right, left
  integer :: rank, size, status
  logical :: can

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc_local(8, 0, 0, place)
  call sennit_pointer(place, mine, [2])
  targets = [modulo(rank + 1, size), modulo(rank - 1, size)]
  buffers = [c_loc(mine(1)), c_loc(mine(2))]
  bytes = 4
  call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(2, targets, buffers, bytes), 0, SENNIT_FOREVER, &
                           peers, channels)
  if (size > 2) then
    call data_written_to_the_right_comes_from_the_left()
  end if
  can = .true.
  call sennit_channel_can_read(channels(1), can)
  call check(.not. can, 'no further message')
  call sennit_channel_can_write(SENNIT_CHANNEL_NULL, can, stat=status)
  call check(status == SENNIT_ERR_ARG .and. .not. can, 'a null channel leaves the answer unchanged')
  call sennit_channel_have_read(channels(1), stat=status)
  call check_status(status, SENNIT_ERR_STATE, 'have_read without a message is refused')
  call sennit_channel_query(channels(1), info)
  call check(info%peer == modulo(rank + 1, size) .and. info%peer_bytes == 4, 'the query of a channel')
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! no rank polls a channel that its peer has closed
  call sennit_channel_close(channels, 2_c_size_t, SENNIT_FOREVER)
  call sennit_channel_close(channels, 2, SENNIT_FOREVER, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'channels are closed only once')
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_free(place)
  call check(channels(1) /= channels(2) .and. channels(1) /= SENNIT_CHANNEL_NULL .and. channels(2) == channels(2), 'their handles')
  call several_messages_are_under_way()
  own = 0
  call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(1, targets, buffers, bytes), 99, 0_c_int64_t, &
                           peers, channels, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'unknown flags')
  call sennit_finalize()
  call end_of_test()

contains

  subroutine several_messages_are_under_way()
    integer(c_int), target, asynchronous :: myself(1)
    integer(c_size_t), target, asynchronous :: none(1)
    type(c_ptr), target :: nothing(1)
    integer(c_int32_t) :: messages
    integer :: turn
    myself = rank
    none = 0
    nothing = c_null_ptr
    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(1, myself, nothing, none), &
                             ior(sennit_channel_ahead(3), SENNIT_CHANNEL_NOT_READY), SENNIT_FOREVER, peers, channels)
    call sennit_channel_can_write(channels(1), can)
    call check(.not. can, 'the reader is not ready')
    call sennit_channel_have_read(channels(1))
    do turn = 1, 3
      call sennit_channel_have_written(channels(1))
    end do
    call sennit_channel_have_written(channels(1), stat=status)
    call check_status(status, SENNIT_ERR_STATE, 'a fourth message under way is refused')
    call sennit_channel_wait_messages(channels(1), 2, SENNIT_FOREVER, messages)
    call check(messages == 3, 'all three messages have come')
    do turn = 1, 3
      call sennit_channel_have_read(channels(1))
    end do
    call sennit_channel_wait_messages(channels(1), 1, 0, messages, stat=status)
    call check_status(status, SENNIT_ERR_TIMEOUT, 'no message is left')
    call sennit_channel_close(channels(1), SENNIT_FOREVER)
    call sennit_channel_close(channels(1), SENNIT_FOREVER, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a single channel is closed only once')
  end subroutine several_messages_are_under_way

  subroutine data_written_to_the_right_comes_from_the_left()
    integer :: turn
    call sennit_pointer(peers(1), right)
    call sennit_pointer(peers(2), left)
    do turn = 1, 3
      call sennit_channel_wait_write(channels(1), SENNIT_FOREVER)
      right = 10 * rank + turn
      call sennit_channel_have_written(channels(1))
      can = .false.
      do while (.not. can)
        call sennit_channel_can_read(channels(2), can)
      end do
      call check(mine(2) == 10 * modulo(rank - 1, size) + turn, 'the number of the left rank')
      call sennit_channel_have_read(channels(2))
    end do
    can = .false.
    do while (.not. can)
      call sennit_channel_can_write(channels(1), can)
    end do
    call sennit_channel_wait_read(channels(1), 0, stat=status)
    call check_status(status, SENNIT_ERR_TIMEOUT, 'nothing comes from the right')
  end subroutine data_written_to_the_right_comes_from_the_left

end program channel_test
