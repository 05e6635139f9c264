! The tasks of ../../from_mpi/pairs.h with Sennit in Fortran, with the names that main.c calls.
module sennit_side
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 100, rows = 8, columns = 10, items = 500 ! as in pairs.h
  integer, parameter :: dp = c_double, double_bytes = 8, int_bytes = 4, long_bytes = 8

  interface
    function sched_yield() bind(C, name="sched_yield") result(code)
      import
      integer(c_int) :: code
    end function sched_yield
  end interface

contains

  subroutine side_start(rank, size) bind(C)
    integer(c_int), intent(out) :: rank, size
    call sennit_init()
    rank = sennit_rank()
    size = sennit_size()
  end subroutine side_start

  subroutine side_end() bind(C)
    call sennit_finalize()
  end subroutine side_end

  function side_put(number, to) bind(C) result(came)
    integer(c_int), value :: number, to
    integer(c_int) :: came
    type(sennit_gptr) :: box
    integer(c_int), pointer :: mine
    call sennit_alloc(SENNIT_TEAM_WORLD, int_bytes, 0, 0, box)

    call sennit_put(sennit_gptr_at(box, to), number, int_bytes)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_pointer(box, mine)
    came = mine

    call sennit_free(box)
  end function side_put

  function side_message(number, from, to) bind(C) result(came)
    integer(c_int), value :: number, from, to
    integer(c_int) :: came, rank, is_there, ignored
    type(sennit_gptr) :: box, flag
    integer(c_int), pointer :: mine
    rank = sennit_rank()
    came = -1
    call sennit_alloc(SENNIT_TEAM_WORLD, 2 * int_bytes, 0, 0, box)
    flag = sennit_gptr_add(box, int_bytes)
    if (rank == from) then ! number first: a rank that sees the flag sees it too
      call sennit_put(sennit_gptr_at(box, to), number, int_bytes)
      call sennit_atomic_set(sennit_gptr_at(flag, to), 1)
    end if
    if (rank == to) then
      do
        call sennit_atomic_fetch(flag, is_there) ! of this rank's own memory
        if (is_there /= 0) exit
        ignored = sched_yield() ! the sender may need this processor
      end do
      call sennit_pointer(box, mine)
      came = mine
    end if
    call sennit_free(box)
  end function side_message

  function side_stream(number_of_rows, from, to) bind(C) result(total)
    integer(c_int), value :: number_of_rows, from, to
    real(dp) :: total
    integer(c_int), target :: other(1)
    integer(c_size_t), target :: bytes(1)
    type(c_ptr), target :: buffer(1)
    type(c_ptr) :: peers(1)
    type(sennit_channel) :: channels(1)
    type(sennit_gptr) :: place
    real(dp), pointer, contiguous :: own(:), theirs(:)
    integer :: rank, number, i
    rank = sennit_rank()
    total = 0
    call sennit_alloc(SENNIT_TEAM_WORLD, count * double_bytes, 0, 0, place)
    if (rank == from .or. rank == to) then
      call sennit_pointer(place, own, [count])
      other = merge(to, from, rank == from)
      buffer = c_loc(own)
      bytes = count * double_bytes
      call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(1, other, buffer, bytes), 0, SENNIT_FOREVER, &
                               peers, channels)
      call sennit_pointer(peers(1), theirs, [count]) ! the other rank's row

      do number = 0, number_of_rows - 1
        if (rank == from) then
          call sennit_channel_wait_write(channels(1), SENNIT_FOREVER)
          theirs = [(number + 0.5_dp * i, i = 0, count - 1)]
          call sennit_channel_have_written(channels(1))
        else
          call sennit_channel_wait_read(channels(1), SENNIT_FOREVER)
          total = total + sum(own)
          call sennit_channel_have_read(channels(1))
        end if
      end do

      call sennit_channel_close(channels, 1, SENNIT_FOREVER) ! when all is read
    end if
    call sennit_free(place)
  end function side_stream

  subroutine side_requests(row, left, right, came) bind(C)
    real(dp), intent(in), asynchronous :: row(count)
    integer(c_int), value :: left, right
    real(dp), intent(out) :: came(2 * count)
    type(sennit_gptr) :: both
    type(sennit_request) :: requests(2)
    real(dp), pointer :: mine(:)
    call sennit_alloc(SENNIT_TEAM_WORLD, 2 * count * double_bytes, 0, 0, both)
    call sennit_put_nb(sennit_gptr_at(both, right), row, count * double_bytes, requests(1))
    call sennit_put_nb(sennit_gptr_add(sennit_gptr_at(both, left), count * double_bytes), row, count * double_bytes, requests(2))
    call sennit_wait_all(2, requests, SENNIT_FOREVER)       ! the rows have arrived
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! those of all ranks have arrived
    call sennit_pointer(both, mine, [2 * count])
    came = mine
    call sennit_free(both)
  end subroutine side_requests

  function side_pointer(number, peer) bind(C) result(found)
    integer(c_int), value :: number, peer
    integer(c_int) :: found
    type(sennit_gptr) :: box
    integer(c_int), pointer :: mine, theirs
    call sennit_alloc(SENNIT_TEAM_WORLD, int_bytes, 0, 0, box)
    call sennit_pointer(box, mine)
    mine = number
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

    call sennit_pointer(sennit_gptr_at(box, peer), theirs) ! an error on another node
    found = theirs

    call sennit_free(box)
  end function side_pointer

  function side_counter() bind(C) result(taken)
    integer(c_int) :: taken
    type(sennit_gptr) :: counters
    integer(c_int64_t) :: item
    call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(item), 0, 0, counters)
    taken = 0
    do
      call sennit_atomic_fetch_inc(sennit_gptr_at(counters, 0), item)
      if (item >= items) exit
      taken = taken + 1 ! ... work on `item`
    end do
    call sennit_free(counters)
  end function side_counter

  subroutine side_accumulate(row, sum) bind(C)
    real(dp), intent(in) :: row(count)
    real(dp), intent(out) :: sum(count)
    type(sennit_gptr) :: total
    real(dp), pointer :: mine(:)
    call sennit_alloc(SENNIT_TEAM_WORLD, count * double_bytes, 0, 0, total)
    call sennit_accumulate(sennit_gptr_at(total, 0), row, count, SENNIT_DOUBLE, SENNIT_SUM)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_pointer(total, mine, [count])
    sum = mine
    call sennit_free(total)
  end subroutine side_accumulate

  subroutine side_lock(times, words) bind(C)
    integer(c_int), value :: times
    integer(c_long), intent(out) :: words(2)
    type(sennit_gptr) :: pairs, both
    type(sennit_lock) :: lock
    integer(c_long) :: now(2)
    integer :: i
    call sennit_alloc(SENNIT_TEAM_WORLD, 2 * long_bytes, 0, 0, pairs)
    call sennit_lock_create(SENNIT_TEAM_WORLD, lock)
    both = sennit_gptr_at(pairs, 0)
    do i = 1, times
      call sennit_lock_acquire(lock, SENNIT_FOREVER)
      call sennit_get(now, both, 2 * long_bytes)
      now = now + 1
      call sennit_put(both, now, 2 * long_bytes)
      call sennit_lock_release(lock)
    end do
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_get(words, pairs, 2 * long_bytes)
    call sennit_lock_destroy(lock)
    call sennit_free(pairs)
  end subroutine side_lock

  ! Rows of C are columns here: the matrix is transposed, and its last row goes to the first row of the other rank.
  subroutine side_column(matrix, to) bind(C)
    real(dp), intent(inout), target, asynchronous :: matrix(columns, rows)
    integer(c_int), value :: to
    type(sennit_region) :: mine
    type(sennit_region), allocatable :: regions(:)
    type(sennit_box) :: row
    integer :: status
    allocate (regions(0:sennit_size() - 1))
    call sennit_register(matrix, rows * columns * double_bytes, 0, mine)
    call sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions, stat=status) ! one of each rank
    if (status == SENNIT_ERR_UNSUPPORTED) then
      print '(2a)', 'private memory cannot be reached: ', sennit_last_error_text()
      stop 77
    end if
    call must_be(status == SENNIT_OK, 'regions are exchanged')

    row = sennit_box_line(double_bytes, rows, columns * double_bytes, columns * double_bytes)
    call sennit_put_strided(regions(to)%gptr, matrix(columns, 1), row)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

    call sennit_deregister(mine)
  end subroutine side_column

  function side_teams(number, coords) bind(C) result(sum)
    integer(c_int), value :: number
    integer(c_int), intent(inout) :: coords(2)
    integer(c_int) :: rank, sum
    type(sennit_team) :: grid, row

    call sennit_team_grid(SENNIT_TEAM_WORLD, 2, [0, 0], team=grid)

    call sennit_team_rank(grid, rank)
    call sennit_team_grid_coords(grid, rank, coords)
    call sennit_team_split(grid, coords(1), coords(2), row)

    call sennit_allreduce(row, number, sum, sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)

    call sennit_team_destroy(row)
    call sennit_team_destroy(grid)
  end function side_teams

end module sennit_side
