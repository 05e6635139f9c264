! The pipeline over Sennit's channels, in Fortran. The types and functions are those of channels.h.
module p2p_channels
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: p2p_open, p2p_sweep, p2p_close

  integer, parameter :: dp = c_double
  integer, parameter :: ahead = SENNIT_CHANNEL_AHEAD_MOST
  integer, parameter :: most_ends = 3

  type, bind(c) :: p2p_strip
    integer(c_int64_t) :: columns, lines, group
    type(c_ptr) :: cells, left
  end type p2p_strip

  type, bind(c) :: p2p_links
    type(c_ptr) :: left, right, corner
    integer(c_int32_t) :: rank, ranks, behind
    type(sennit_channel) :: from_left, to_right, last_to_first
  end type p2p_links

  interface
    subroutine p2p_block(strip, first, count, right) bind(c)
      import :: p2p_strip, c_int64_t, c_ptr
      type(p2p_strip), intent(in) :: strip
      integer(c_int64_t), value :: first, count
      type(c_ptr), value :: right
    end subroutine p2p_block
  end interface

contains

  ! The side that is written to gives its column, the other side gives no memory.
  function p2p_open(links, left, scratch, lines) result(status) bind(c)
    type(p2p_links), intent(inout) :: links
    type(c_ptr), value :: left, scratch
    integer(c_int64_t), value :: lines
    integer(c_int) :: status
    integer(c_int), target :: targets(most_ends)
    type(c_ptr), target :: buffers(most_ends)
    integer(c_size_t), target :: bytes(most_ends)
    type(c_ptr) :: peers(most_ends)
    type(sennit_channel) :: channels(most_ends)
    integer :: rank, last, count, to_right

    rank = sennit_rank()
    last = sennit_size() - 1
    count = 0
    if (rank > 0) call add_end(rank - 1, left, 8 * lines)
    to_right = count + 1
    if (rank < last) call add_end(rank + 1, c_null_ptr, 0_c_int64_t)
    if (last > 0 .and. rank == 0) call add_end(last, left, 8_c_int64_t)
    if (last > 0 .and. rank == last) call add_end(0, c_null_ptr, 0_c_int64_t)

    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(count, targets, buffers, bytes), &
                             sennit_channel_ahead(ahead), SENNIT_FOREVER, peers, channels, status)
    if (status /= SENNIT_OK) return
    links%rank = int(rank, c_int32_t)
    links%ranks = int(last + 1, c_int32_t)
    links%left = left
    links%right = scratch
    links%corner = left
    links%last_to_first = SENNIT_CHANNEL_NULL
    if (rank > 0) links%from_left = channels(1)
    if (rank < last) then
      links%to_right = channels(to_right)
      links%right = peers(to_right)
    end if
    if (last > 0 .and. (rank == 0 .or. rank == last)) links%last_to_first = channels(count)
    if (last > 0 .and. rank == last) links%corner = peers(count)

  contains

    subroutine add_end(target_rank, buffer, size_bytes)
      integer, intent(in) :: target_rank
      type(c_ptr), intent(in) :: buffer
      integer(c_int64_t), intent(in) :: size_bytes
      count = count + 1
      targets(count) = int(target_rank, c_int)
      buffers(count) = buffer
      bytes(count) = int(size_bytes, c_size_t)
    end subroutine add_end

  end function p2p_open

  ! The number of groups to wait for if none has arrived. `groups` are left in the sweep.
  function fewest(links, groups)
    type(p2p_links), intent(in) :: links
    integer(c_int64_t), intent(in) :: groups
    integer :: fewest
    integer(c_int64_t) :: behind
    behind = links%behind
    if (behind == 0) behind = min(groups / 64, 3_c_int64_t)
    fewest = int(min(behind + 1, groups))
  end function fewest

  ! Takes the next group of lines from the left. `ready` groups have arrived and are not taken yet.
  function take(links, groups, ready) result(status)
    type(p2p_links), intent(in) :: links
    integer(c_int64_t), intent(in) :: groups
    integer, intent(inout) :: ready
    integer(c_int) :: status
    logical :: can
    if (ready == 0) then
      call sennit_channel_can_read(links%from_left, can, status)
      if (status /= SENNIT_OK) return
      call sennit_channel_wait_messages(links%from_left, merge(1, fewest(links, groups), can), SENNIT_FOREVER, ready, status)
      if (status /= SENNIT_OK) return
    end if
    ready = ready - 1
    call sennit_channel_have_read(links%from_left, status)
  end function take

  ! Waits only if the message is refused, because `ahead` messages are unread.
  function hand_over(channel) result(status)
    type(sennit_channel), intent(in) :: channel
    integer(c_int) :: status
    call sennit_channel_have_written(channel, status)
    if (status /= SENNIT_ERR_STATE) return
    call sennit_channel_wait_write(channel, SENNIT_FOREVER, status)
    if (status == SENNIT_OK) call sennit_channel_have_written(channel, status)
  end function hand_over

  ! The top right cell is the last cell that the last rank has stored.
  function pass_corner(links, lines) result(status)
    type(p2p_links), intent(in) :: links
    integer(c_int64_t), intent(in) :: lines
    integer(c_int) :: status
    real(dp), pointer, contiguous :: right(:)
    real(dp), pointer :: corner
    status = SENNIT_OK
    if (links%rank + 1 == links%ranks) then
      call c_f_pointer(links%right, right, [lines])
      call c_f_pointer(links%corner, corner)
      corner = -right(lines)
      if (links%ranks > 1) status = hand_over(links%last_to_first)
    else if (links%rank == 0) then
      call sennit_channel_wait_read(links%last_to_first, SENNIT_FOREVER, status)
      if (status == SENNIT_OK) call sennit_channel_have_read(links%last_to_first, status)
    end if
  end function pass_corner

  function p2p_sweep(links, strip) result(status) bind(c)
    type(p2p_links), intent(in) :: links
    type(p2p_strip), intent(in) :: strip
    integer(c_int) :: status
    logical :: has_left, has_right
    integer :: ready
    integer(c_int64_t) :: first, groups
    has_left = links%rank > 0
    has_right = links%rank + 1 < links%ranks
    status = SENNIT_OK
    ready = 0
    groups = (strip%lines - 1 + strip%group - 1) / strip%group
    do first = 1, strip%lines - 1, strip%group
      if (has_left) status = take(links, groups, ready)
      if (status /= SENNIT_OK) return
      call p2p_block(strip, first, min(strip%group, strip%lines - first), links%right)
      if (has_right) status = hand_over(links%to_right)
      if (status /= SENNIT_OK) return
      groups = groups - 1
    end do
    status = pass_corner(links, strip%lines)
  end function p2p_sweep

  function p2p_close(links) result(status) bind(c)
    type(p2p_links), intent(in) :: links
    integer(c_int) :: status
    type(sennit_channel) :: all(most_ends)
    integer :: count
    count = 0
    if (links%rank > 0) then
      count = count + 1
      all(count) = links%from_left
    end if
    if (links%rank + 1 < links%ranks) then
      count = count + 1
      all(count) = links%to_right
    end if
    if (links%last_to_first /= SENNIT_CHANNEL_NULL) then
      count = count + 1
      all(count) = links%last_to_first
    end if
    call sennit_channel_close(all, count, SENNIT_FOREVER, status)
    if (status == SENNIT_OK) call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER, status)
  end function p2p_close

end module p2p_channels
