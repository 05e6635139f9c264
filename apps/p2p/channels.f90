! The pipeline over Sennit's channels, in Fortran; see channels.h, of which the types and functions here are the same.
module p2p_channels
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: p2p_open, p2p_sweep, p2p_close

  integer, parameter :: dp = c_double
  integer, parameter :: most_channels = 64
  integer, parameter :: most_ends = 2 * most_channels + 1

  type, bind(c) :: p2p_strip
    integer(c_int64_t) :: columns, lines, group
    type(c_ptr) :: cells, left
  end type p2p_strip

  type, bind(c) :: p2p_links
    type(c_ptr) :: left, right, corner
    integer(c_int32_t) :: rank, ranks, channels
    type(sennit_channel) :: from_left(most_channels), to_right(most_channels), last_to_first
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

  ! The side that is written to gives its column, the other nothing.
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
    integer :: rank, last, count, turns, from_left, to_right

    rank = sennit_rank()
    last = sennit_size() - 1
    turns = links%channels
    count = 0
    from_left = count
    if (rank > 0) call add_ends(turns, rank - 1, left, 8 * lines)
    to_right = count
    if (rank < last) call add_ends(turns, rank + 1, c_null_ptr, 0_c_int64_t)
    if (last > 0 .and. rank == 0) call add_ends(1, last, left, 8_c_int64_t)
    if (last > 0 .and. rank == last) call add_ends(1, 0, c_null_ptr, 0_c_int64_t)

    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(count, targets, buffers, bytes), 0, SENNIT_FOREVER, &
                             peers, channels, status)
    if (status /= SENNIT_OK) return
    links%rank = int(rank, c_int32_t)
    links%ranks = int(last + 1, c_int32_t)
    links%left = left
    links%right = scratch
    links%corner = left
    links%last_to_first = SENNIT_CHANNEL_NULL
    if (rank > 0) links%from_left(:turns) = channels(from_left + 1:from_left + turns)
    if (rank < last) then
      links%to_right(:turns) = channels(to_right + 1:to_right + turns)
      links%right = peers(to_right + 1)
    end if
    if (last > 0 .and. (rank == 0 .or. rank == last)) links%last_to_first = channels(count)
    if (last > 0 .and. rank == last) links%corner = peers(count)

  contains

    subroutine add_ends(how_many, target_rank, buffer, size_bytes)
      integer, intent(in) :: how_many, target_rank
      type(c_ptr), intent(in) :: buffer
      integer(c_int64_t), intent(in) :: size_bytes
      targets(count + 1:count + how_many) = int(target_rank, c_int)
      buffers(count + 1:count + how_many) = buffer
      bytes(count + 1:count + how_many) = int(size_bytes, c_size_t)
      count = count + how_many
    end subroutine add_ends

  end function p2p_open

  ! If the group is not there yet, waits until three quarters of the channels are full, or what is left of the sweep.
  function fall_behind(links, turn, groups) result(status)
    type(p2p_links), intent(in) :: links
    integer, intent(in) :: turn
    integer(c_int64_t), intent(in) :: groups
    integer(c_int) :: status
    logical :: can
    integer :: ahead
    call sennit_channel_can_read(links%from_left(turn), can, status)
    if (status /= SENNIT_OK .or. can) return
    ahead = int(min(groups - 1, int(3 * links%channels / 4, c_int64_t)))
    call sennit_channel_wait_read(links%from_left(1 + mod(turn - 1 + ahead, int(links%channels))), SENNIT_FOREVER, status)
  end function fall_behind

  function take(channel) result(status)
    type(sennit_channel), intent(in) :: channel
    integer(c_int) :: status
    call sennit_channel_wait_read(channel, SENNIT_FOREVER, status)
    if (status == SENNIT_OK) call sennit_channel_have_read(channel, status)
  end function take

  function hand_over(channel) result(status)
    type(sennit_channel), intent(in) :: channel
    integer(c_int) :: status
    call sennit_channel_wait_write(channel, SENNIT_FOREVER, status)
    if (status == SENNIT_OK) call sennit_channel_have_written(channel, status)
  end function hand_over

  ! The top right cell is the last that the last rank has stored.
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
      status = take(links%last_to_first)
    end if
  end function pass_corner

  function p2p_sweep(links, strip) result(status) bind(c)
    type(p2p_links), intent(in) :: links
    type(p2p_strip), intent(in) :: strip
    integer(c_int) :: status
    logical :: has_left, has_right
    integer :: turn
    integer(c_int64_t) :: first
    has_left = links%rank > 0
    has_right = links%rank + 1 < links%ranks
    status = SENNIT_OK
    turn = 1
    do first = 1, strip%lines - 1, strip%group
      if (has_left) status = fall_behind(links, turn, (strip%lines - first + strip%group - 1) / strip%group)
      if (has_left .and. status == SENNIT_OK) status = take(links%from_left(turn))
      if (status /= SENNIT_OK) return
      call p2p_block(strip, first, min(strip%group, strip%lines - first), links%right)
      if (has_right) status = hand_over(links%to_right(turn))
      if (status /= SENNIT_OK) return
      turn = merge(1, turn + 1, turn == links%channels)
    end do
    status = pass_corner(links, strip%lines)
  end function p2p_sweep

  function p2p_close(links) result(status) bind(c)
    type(p2p_links), intent(in) :: links
    integer(c_int) :: status
    type(sennit_channel) :: all(most_ends)
    integer :: count, turns
    turns = links%channels
    count = 0
    if (links%rank > 0) then
      all(count + 1:count + turns) = links%from_left(:turns)
      count = count + turns
    end if
    if (links%rank + 1 < links%ranks) then
      all(count + 1:count + turns) = links%to_right(:turns)
      count = count + turns
    end if
    if (links%last_to_first /= SENNIT_CHANNEL_NULL) then
      count = count + 1
      all(count) = links%last_to_first
    end if
    call sennit_channel_close(all, count, SENNIT_FOREVER, status)
    if (status == SENNIT_OK) call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER, status)
  end function p2p_close

end module p2p_channels
