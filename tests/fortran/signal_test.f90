! Signals, sets, blocks and notified calls round a ring. Breaks when a handle, an epoch, a block or a number is passed to C or
! returned wrongly.
program signal_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  type(sennit_gptr) :: place
  type(sennit_region) :: region
  type(sennit_signal) :: mine, read
  type(sennit_fired) :: none, fired, some(3)
  type(sennit_waitset) :: set
  type(sennit_block) :: own, plain_own
  type(sennit_block), allocatable :: blocks(:)
  type(sennit_signal), allocatable :: signals(:)
  type(sennit_block_info) :: info
  type(sennit_peer_block) :: peer, plain
  type(sennit_notice) :: notice
  type(sennit_plan) :: plan
  integer(c_int64_t), target, asynchronous :: sent(2), got(1)
  integer(c_int64_t), pointer :: words(:)
  integer(c_int64_t) :: word, epoch
  integer(c_size_t) :: count
  integer(c_int32_t) :: left
  integer(c_int), target :: looks
  integer :: rank, size, next, before, status
  logical :: done

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  next = modulo(rank + 1, size)
  before = modulo(rank - 1, size)
  call sennit_alloc(SENNIT_TEAM_WORLD, 32, 0, 0, place)
  call sennit_pointer(place, words, [4])
  call sennit_signal_create(2, 3, 0, mine)
  call sennit_signal_create(1, 1, 0, read)
  call check(mine /= SENNIT_SIGNAL_NULL .and. mine /= read .and. mine == mine, 'handles of signals')
  region = sennit_region(place, 32_c_int64_t)
  call sennit_block_init(region, 8, sennit_bytes(words(1:3)), read, mine, own)
  allocate (blocks(0:size - 1), signals(0:size - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, own, blocks, c_sizeof(own), SENNIT_FOREVER)
  call sennit_allgather(SENNIT_TEAM_WORLD, mine, signals, c_sizeof(mine), SENNIT_FOREVER)
  call sennit_block_query(blocks(next), info)
  call check(info%gptr%rank == next .and. info%gptr%offset == 8 .and. info%bytes == 24 .and. info%on_recv == signals(next), &
             'the query of a block')
  call sennit_block_attach(blocks(next), peer)
  call check(peer /= SENNIT_PEER_BLOCK_NULL, 'an attached block has a handle')

  call one_message_and_one_event_fire_the_signal()
  call flags_change_what_is_done_with_early_events()
  call a_notice_names_signals_and_epochs()
  call a_batch_says_how_far_it_came()
  call many_pieces_are_one_message()
  call sets_tell_what_has_fired()
  call words_are_waited_for()
  call a_plan_runs_again_and_again()

  call sennit_block_attach(blocks(next), peer, stat=status)
  call check(status == SENNIT_OK, 'a block is attached again')
  call sennit_block_detach(peer)
  call sennit_block_detach(peer, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'a block is detached only once')
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_signal_destroy(mine)
  call sennit_signal_destroy(read)
  call sennit_signal_destroy(read, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'a signal is destroyed only once')
  call check(sennit_block_is_null(SENNIT_BLOCK_NULL) .and. .not. sennit_block_is_null(blocks(next)), 'null blocks')
  blocks(next)%words(5) = blocks(next)%words(5) + 1
  call sennit_block_attach(blocks(next), peer, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'a block that was changed')
  call sennit_free(place)
  call sennit_finalize()
  call end_of_test()

contains

  subroutine one_message_and_one_event_fire_the_signal()
    call sennit_put_notify(peer, 8, 100_c_int64_t + rank, 8)
    call sennit_signal_notify(signals(next), 0)
    call sennit_signal_wait(mine, SENNIT_FOREVER)
    call check(words(3) == 100 + before, 'the word of the rank before')
    done = .false.
    call sennit_signal_test(mine, done)
    call check(done, 'the signal has fired')
    call sennit_signal_reset(mine)
    call sennit_signal_epoch(mine, epoch)
    call check(epoch == 1, 'the next epoch')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_signal_remaining(mine, left)
    call check(left == 2, 'two events are missing')
    call sennit_signal_notify(signals(next), 3_c_int64_t, stat=status)
    call check_status(status, SENNIT_ERR_SIGNAL_EARLY, 'an event two epochs ahead')
    word = 0
    call sennit_get_notify(word, peer, 8, 8)
    call check(word == 100 + rank, 'a get returns the numbers that were put')
    call sennit_signal_wait(read, SENNIT_FOREVER)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  end subroutine one_message_and_one_event_fire_the_signal

  subroutine flags_change_what_is_done_with_early_events()
    type(sennit_signal) :: strict, reporting
    call sennit_signal_create(1, 2, SENNIT_SIGNAL_STRICT, strict)
    call sennit_signal_notify(strict, 1, stat=status)
    call check_status(status, SENNIT_ERR_SIGNAL_EARLY, 'an event before its reset')
    call sennit_signal_create(1, 2, ior(SENNIT_SIGNAL_STRICT, SENNIT_SIGNAL_UNCHECKED), reporting)
    call sennit_signal_notify(reporting, 1)
    call sennit_signal_notify(reporting, 0)
    call sennit_signal_reset(reporting, stat=status)
    call check_status(status, SENNIT_ERR_SIGNAL_EARLY, 'an event before its reset is reported')
    call sennit_signal_reset(reporting)
    call sennit_signal_wait(reporting, SENNIT_FOREVER)
    call sennit_signal_destroy(strict)
    call sennit_signal_destroy(reporting)
  end subroutine flags_change_what_is_done_with_early_events

  subroutine a_notice_names_signals_and_epochs()
    notice = sennit_notice(signals(next), SENNIT_SIGNAL_NULL, 1_c_int64_t, 0_c_int64_t)
    call sennit_put_notify_with(peer, 0_c_size_t, 200_c_int64_t + rank, 8_c_size_t, notice)
    notice = sennit_notice(SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 0_c_int64_t)
    call sennit_get_notify_with(word, peer, 0, 8, notice)
    call check(word == 200 + rank, 'a get with a notice')
    call sennit_signal_reset(read)
    call sennit_signal_wait(read, SENNIT_FOREVER)
    call check(words(2) == 200 + before .and. word == 200 + rank, 'a put with a notice')
  end subroutine a_notice_names_signals_and_epochs

  subroutine a_batch_says_how_far_it_came()
    type(sennit_notify_part) :: parts(3)
    type(sennit_notice), target :: of_no_signal
    integer(c_int64_t), target :: values(3)
    type(sennit_request) :: request
    integer :: i
    ! Uses a separate block without signals; the notice names none either.
    of_no_signal = sennit_notice(SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 0_c_int64_t)
    call sennit_block_init(region, 8_c_size_t, 24_c_size_t, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, plain_own)
    call sennit_allgather(SENNIT_TEAM_WORLD, plain_own, blocks, c_sizeof(plain_own), SENNIT_FOREVER)
    call sennit_block_attach(blocks(next), plain)
    do i = 1, 3
      values(i) = 1000 * i + rank
      parts(i)%block = plain
      parts(i)%offset = 8 * (i - 1)
      parts(i)%local = c_loc(values(i))
      parts(i)%bytes = 8
      parts(i)%notice = c_null_ptr
    end do
    parts(2)%notice = c_loc(of_no_signal)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    count = 77
    call sennit_put_notify_batch(3_c_size_t, parts, count)
    call check(count == 3 .and. parts(3)%status == SENNIT_OK, 'all parts are done')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call check(all(words(2:4) == [1000, 2000, 3000] + before), 'the numbers of the rank before')
    values = 0
    call sennit_get_notify_batch(3_c_size_t, parts, count)
    call check(all(values == [1000, 2000, 3000] + rank), 'a get returns the numbers that were put')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    sent(1) = 4000 + rank
    notice = of_no_signal
    call sennit_put_notify_nb(plain, 0, sent(1:1), 8, notice, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_get_notify_nb(got, plain, 0_c_size_t, 8_c_size_t, notice, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call check(got(1) == 4000 + rank, 'a put and a get with a request')
    parts(3)%offset = 17
    call sennit_put_notify_batch(3_c_size_t, parts, count, stat=status)
    call check_status(status, SENNIT_ERR_RANGE, 'a part that leaves the block')
    call check(parts(1)%status == SENNIT_ERR_RANGE, 'no part is done if one leaves the block')
    call sennit_block_detach(plain)
    call sennit_allgather(SENNIT_TEAM_WORLD, own, blocks, c_sizeof(own), SENNIT_FOREVER)
    words(2) = 200 + before
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  end subroutine a_batch_says_how_far_it_came

  subroutine many_pieces_are_one_message()
    type(sennit_box) :: line
    type(sennit_piece), target :: pieces(2)
    type(sennit_piece_list) :: both, second
    type(sennit_request) :: request
    type(sennit_plan) :: shapes
    integer(c_int64_t), asynchronous :: from(3), to(3)
    line = sennit_box_line(8, 2, 16, 16)
    pieces = [sennit_piece(8, 16, 8), sennit_piece(0, 0, 8)]
    both = sennit_piece_list(2_c_size_t, c_loc(pieces))
    second = sennit_piece_list(1_c_size_t, c_loc(pieces(2)))
    notice = sennit_notice(SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 0_c_int64_t)
    call sennit_block_init(region, 8_c_size_t, 24_c_size_t, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, plain_own)
    call sennit_allgather(SENNIT_TEAM_WORLD, plain_own, blocks, c_sizeof(plain_own), SENNIT_FOREVER)
    call sennit_block_attach(blocks(next), plain)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    from = [10, 20, 30] + rank
    call sennit_put_notify_strided(plain, 0, from, line)
    call sennit_put_notify_indexed(plain, 8, from, second, notice)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call check(all(words(2:4) == [10, 10, 30] + before), 'a box and a list were put')
    to = 0
    call sennit_get_notify_strided(to, plain, 0, line, notice)
    call check(all(to == [10 + rank, 0, 30 + rank]), 'a box was got')
    call sennit_get_notify_indexed(to, plain, 0_c_size_t, both)
    call check(all(to == [10 + rank, 0, 10 + rank]), 'a list was got')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    from = from + 100
    call sennit_put_notify_strided_nb(plain, 0, from, line, notice, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_put_notify_indexed_nb(plain, 0, from, both, notice, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_get_notify_strided_nb(to, plain, 0, line, notice, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call check(all(to(1:3:2) == [110, 130] + rank), 'a box with a request')
    call sennit_get_notify_indexed_nb(to, plain, 0, both, request=request)
    call sennit_wait(request, SENNIT_FOREVER)
    call check(all(to == [110 + rank, 0, 130 + rank]), 'a list with a request')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_plan_create(shapes)
    call sennit_plan_put_strided(shapes, plain, 0, from, line)
    call sennit_plan_put_indexed(shapes, plain, 8, from(3:3), second, notice)
    call sennit_plan_get_strided(shapes, to, plain, 0, line)
    call sennit_plan_get_indexed(shapes, to, plain, 0, sennit_piece_list(0_c_size_t, c_null_ptr))
    call sennit_plan_put_indexed(shapes, plain, 16, from, both, stat=status)
    call check_status(status, SENNIT_ERR_RANGE, 'a piece that leaves the block')
    call sennit_plan_commit(shapes, 0, 1)
    from = [7, 8, 9] + rank
    call sennit_plan_start(shapes)
    call sennit_plan_wait(shapes, SENNIT_FOREVER)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call check(all(words(2:4) == [7, 9, 9] + before), 'the numbers that a plan has put')
    call sennit_plan_destroy(shapes)
    call sennit_block_detach(plain)
    call sennit_allgather(SENNIT_TEAM_WORLD, own, blocks, c_sizeof(own), SENNIT_FOREVER)
    words(2) = 200 + before
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  end subroutine many_pieces_are_one_message

  subroutine sets_tell_what_has_fired()
    call sennit_waitset_create(set)
    call sennit_waitset_add(set, mine, 7)
    call sennit_waitset_add(set, read, huge(0_c_int64_t))
    call sennit_waitset_wait_any(set, SENNIT_FOREVER, fired)
    call check(fired%signal == read .and. fired%cookie == huge(0_c_int64_t), 'the signal that has fired')
    count = 0
    call sennit_waitset_wait_some(set, SENNIT_FOREVER, 3_c_size_t, some, count)
    call check(count == 1 .and. some(1)%signal == read .and. some(1)%cookie == huge(0_c_int64_t), &
        'some signals that have fired')
    call sennit_waitset_wait_all(set, 0, stat=status)
    call check_status(status, SENNIT_ERR_TIMEOUT, 'not all have fired')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_signal_notify(signals(next), 1_c_int64_t)
    call sennit_waitset_wait_all(set, SENNIT_FOREVER)
    call sennit_waitset_remove(set, read)
    call sennit_waitset_destroy(set)
    call sennit_waitset_create(set, stat=status)
    call check(status == SENNIT_OK .and. set /= SENNIT_WAITSET_NULL, 'a set has a handle')
    call sennit_waitset_wait_any(set, SENNIT_FOREVER, none, stat=status)
    call check_status(status, SENNIT_ERR_STATE, 'an empty set')
    call sennit_waitset_destroy(set)
  end subroutine sets_tell_what_has_fired

  subroutine words_are_waited_for()
    call sennit_signal_wait_word(words(2), SENNIT_GREATER_EQUAL, 200_c_int64_t, SENNIT_FOREVER)
    call sennit_signal_wait_word(words(2), SENNIT_LESS, 200_c_int64_t, 0, stat=status)
    call check_status(status, SENNIT_ERR_TIMEOUT, 'a comparison that does not hold')
    looks = 0
    call sennit_wait_until(third_look, c_loc(looks), SENNIT_FOREVER)
    call check(looks == 3, 'a condition is tested until it holds')
    call sennit_wait_until(third_look, c_loc(looks), -1, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a negative time for a condition')
    call sennit_wait_until(third_look, c_loc(looks), -1_c_int64_t, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a negative time of the kind of C')
  end subroutine words_are_waited_for

  function third_look(context) bind(C) result(holds)
    type(c_ptr), value :: context
    integer(c_int) :: holds
    integer(c_int), pointer :: count
    call c_f_pointer(context, count)
    count = count + 1
    holds = merge(1, 0, count >= 3)
  end function third_look

  subroutine a_plan_runs_again_and_again()
    type(sennit_plan) :: in_present_epoch
    integer(c_int64_t) :: run
    call sennit_plan_create(plan)
    call sennit_plan_put(plan, peer, 0, sent(1:1), 8)
    notice = sennit_notice(SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 0_c_int64_t)
    call sennit_plan_put_with(plan, peer, 8, sent(2:2), 8, notice)
    call sennit_plan_get_with(plan, got, peer, 16, 8, notice)
    call sennit_plan_commit(plan, 2, 1)
    do run = 2, 5
      call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
      call sennit_signal_reset(mine)
      call sennit_signal_reset(read)
      words(4) = 10 * run + rank
      sent = [run, run + 1]
      call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
      call sennit_plan_start(plan)
      call sennit_plan_wait(plan, SENNIT_FOREVER)
      call sennit_signal_wait(mine, SENNIT_FOREVER)
      call sennit_signal_wait(read, SENNIT_FOREVER)
      call check(words(2) == run .and. words(3) == run + 1, 'the numbers that the plan of the rank before has put')
      call check(got(1) == 10 * run + next, 'the number that the plan has got')
    end do
    call sennit_plan_start(plan, stat=status)
    call check_status(status, SENNIT_OK, 'a run ahead')
    call sennit_plan_start(plan, stat=status)
    call check_status(status, SENNIT_ERR_STATE, 'a running plan is not started')
    call sennit_plan_wait(plan, SENNIT_FOREVER)
    call sennit_plan_create(in_present_epoch)
    call sennit_plan_get(in_present_epoch, got, peer, 16, 8)
    call sennit_plan_commit(in_present_epoch, SENNIT_EPOCH_CURRENT, 1, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a step in the present epoch is refused')
    call sennit_plan_commit(in_present_epoch, SENNIT_EPOCH_CURRENT, 0)
    call sennit_plan_destroy(in_present_epoch)
    call sennit_plan_destroy(plan)
    call check(plan /= SENNIT_PLAN_NULL, 'a plan has a handle')
  end subroutine a_plan_runs_again_and_again

end program signal_test
