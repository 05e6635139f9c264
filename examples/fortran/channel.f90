! A pipeline: each rank gets a row from the rank before it, adds its number to each element, and hands the row on. The rows are in
! the memory of the rank that reads them; nothing is copied.
!     sennit run -n 4 channel
program channel
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: elements = 1000, rows = 20, dp = c_double, bytes_of_row = 8 * elements
  type(sennit_gptr) :: row
  type(sennit_channel) :: channels(2)
  integer(c_int), target :: targets(2)
  integer(c_size_t), target :: bytes(2)
  type(c_ptr), target :: buffers(2)
  type(c_ptr) :: peers(2)
  real(dp), pointer, contiguous :: own(:), theirs(:)
  integer :: rank, last, count, before, next, number, i

  call sennit_init()
  rank = sennit_rank()
  last = sennit_size() - 1
  call sennit_alloc(SENNIT_TEAM_WORLD, bytes_of_row, 0, 0, row)
  call sennit_pointer(row, own, [elements])

  ! The next rank sends no data back, so this rank has no buffer for it. Rank 0 has no rank before it, and the last rank has none
  ! after it.
  count = 0
  before = 0
  next = 0
  if (rank > 0) then
    count = count + 1
    before = count
    targets(count) = rank - 1
    buffers(count) = c_loc(own)
    bytes(count) = bytes_of_row
  end if
  if (rank < last) then
    count = count + 1
    next = count
    targets(count) = rank + 1
    buffers(count) = c_null_ptr
    bytes(count) = 0
  end if
  call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(count, targets, buffers, bytes), 0, SENNIT_FOREVER, &
                           peers, channels)
  if (rank < last) call sennit_pointer(peers(next), theirs, [elements])

  do number = 0, rows - 1
    if (rank > 0) then
      call sennit_channel_wait_read(channels(before), SENNIT_FOREVER)
    else
      own = [(1000 * number + i, i = 0, elements - 1)]
    end if
    if (rank < last) then
      call sennit_channel_wait_write(channels(next), SENNIT_FOREVER)
      theirs = own + rank
      call sennit_channel_have_written(channels(next))
    end if
    if (rank == last) &
      call must_be(all(nint(own) == [(1000 * number + i + last * (last - 1) / 2, i = 0, elements - 1)]), &
                   'every rank has added its number')
    if (rank > 0) call sennit_channel_have_read(channels(before))
  end do

  call sennit_channel_close(channels, count, SENNIT_FOREVER)
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  if (rank == last) print '(i0,a,i0,a)', rows, ' rows went through ', last + 1, ' ranks'
  call sennit_free(row)
  call sennit_finalize()
end program channel
