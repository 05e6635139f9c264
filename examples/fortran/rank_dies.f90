! A rank dies during its work; the others notice it, and finish its work.
!     sennit run -n 4 --keep-going rank_dies
! Items are taken from a counter. Each rank notes in its own memory the item that it works on, and that memory can be read
! after the rank's death.
program rank_dies
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer(c_int64_t), parameter :: items = 100
  integer(c_int), parameter :: sigkill = 9
  ! Words of each rank, and their places. At rank 0: the next item, items that are done, ranks that have seen the end. At every
  ! rank: its item plus 1, or 0.
  integer, parameter :: next = 0, done = 8, finished = 16, in_hand = 24, word_bytes = 32

  interface
    function raise(signal) bind(C, name="raise") result(code)
      import
      integer(c_int), value :: signal
      integer(c_int) :: code
    end function raise
  end interface

  type(sennit_gptr) :: words
  type(sennit_error) :: error
  integer :: rank, size, status, lost

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call must_be(size > 1, 'there are others')
  call sennit_alloc(SENNIT_TEAM_WORLD, word_bytes, 0, 0, words)
  call work(is_victim=rank == size - 1)

  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER, stat=status)
  call must_be(status == SENNIT_ERR_PEER_LOST, 'the barrier cannot be met')
  error = sennit_last_error()
  lost = error%peer
  call must_be(lost == size - 1, 'the error names the rank that died')
  if (rank == 0) then
    call finish(lost)
  else
    call sennit_atomic_inc_i64(word(0, finished))
  end if
  ! Returns PEER_LOST again, but frees everything.
  call sennit_finalize(stat=status)
  if (status /= SENNIT_ERR_PEER_LOST) error stop 1

contains

  function word(rank, offset) result(place)
    integer, intent(in) :: rank, offset
    type(sennit_gptr) :: place
    place = sennit_gptr_add(sennit_gptr_at(words, rank), offset)
  end function word

  subroutine work_on(item)
    integer(c_int64_t), intent(in) :: item
    real(c_double) :: total
    integer :: i
    total = sum([(1 / real(i, c_double), i = 1, 1000 + int(item))])
    call must_be(total > 0, 'a result')
    call sennit_atomic_inc_i64(word(0, done))
  end subroutine work_on

  subroutine work(is_victim)
    logical, intent(in) :: is_victim
    integer(c_int64_t) :: item
    integer :: turn, ignored
    do turn = 0, huge(turn) - 1
      call sennit_atomic_fetch_inc(word(0, next), item)
      if (item >= items) return
      call sennit_atomic_set(word(sennit_rank(), in_hand), item + 1)
      if (turn == 0) call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! all have an item
      if (is_victim) ignored = raise(sigkill)
      call work_on(item)
      call sennit_atomic_set(word(sennit_rank(), in_hand), 0_c_int64_t)
    end do
  end subroutine work

  ! Called by rank 0 after the death of rank `lost`.
  subroutine finish(lost)
    integer, intent(in) :: lost
    integer(c_int64_t) :: left, others, all_done
    ! The last note of the lost rank is still in its memory.
    call sennit_atomic_fetch(word(lost, in_hand), left)
    if (left /= 0) call work_on(left - 1)
    ! A barrier of the world can no longer complete; a counter can.
    others = 0
    do while (others < sennit_size() - 2)
      call sennit_atomic_fetch(word(0, finished), others)
    end do
    call sennit_atomic_fetch(word(0, done), all_done)
    call must_be(left /= 0 .and. all_done == items, 'every item was done')
    print '(a,i0,a,i0,a)', 'rank ', lost, ' was lost with an item in hand; now all ', items, ' are done'
  end subroutine finish

end program rank_dies
