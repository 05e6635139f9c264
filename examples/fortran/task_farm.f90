! A task farm: rank 0 puts tasks of very different lengths into the queues of the others, each with room for two tasks, and takes
! results out of its own queue. A fast rank gets more tasks; no rank asks for work or waits for such a request.
!     sennit run -n 4 task_farm
program task_farm
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: tasks = 2000, room = 2
  integer(c_int64_t), parameter :: no_more = -1

  type, bind(C) :: outcome
    integer(c_int64_t) :: task = 0
    integer(c_int64_t) :: steps = 0
    integer(c_int64_t) :: worker = 0
  end type outcome

  type(sennit_queue) :: mine
  type(sennit_queue_address) :: address
  type(sennit_queue_address), allocatable :: all(:)
  type(sennit_producer), allocatable :: to(:)
  type(outcome) :: one
  integer :: rank, ranks, i

  call sennit_init()
  rank = sennit_rank()
  ranks = sennit_size()
  ! Rank 0 has a queue of results, the others one of tasks.
  if (rank == 0) then
    call sennit_queue_create(c_sizeof(one), room, ranks, mine, address)
  else
    call sennit_queue_create(8, room, 1, mine, address)
  end if
  allocate (all(0:ranks - 1), to(0:ranks - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, address, all, c_sizeof(address), SENNIT_FOREVER)
  if (rank == 0) then
    do i = 1, ranks - 1
      call sennit_queue_attach(all(i), to(i))
    end do
    call farm()
  else
    call sennit_queue_attach(all(0), to(0))
    call work()
  end if
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_queue_destroy(mine)
  call sennit_finalize()

contains

  ! The number of steps of the task until it arrives at 1 (Collatz's problem).
  pure function steps_of(task) result(steps)
    integer(c_int64_t), intent(in) :: task
    integer(c_int64_t) :: steps, value
    value = task + 1
    steps = 0
    do while (value /= 1)
      if (modulo(value, 2_c_int64_t) == 0) then
        value = value / 2
      else
        value = 3 * value + 1
      end if
      steps = steps + 1
    end do
  end function steps_of

  subroutine work()
    type(outcome) :: done
    integer(c_int64_t) :: task
    do
      call sennit_queue_pop(mine, task, SENNIT_FOREVER)
      if (task == no_more) exit
      done%task = task
      done%steps = steps_of(task)
      done%worker = rank
      call sennit_queue_push(to(0), done, SENNIT_FOREVER)
    end do
  end subroutine work

  ! Gives tasks until the queues are full.
  subroutine give(task)
    integer(c_int64_t), intent(inout) :: task
    integer :: i, status
    do i = 1, ranks - 1
      do while (task < tasks)
        call sennit_queue_push(to(i), task, 0, stat=status)
        if (status == SENNIT_ERR_TIMEOUT) exit ! it has enough for now
        call must_be(status == SENNIT_OK, 'a task is put into a queue')
        task = task + 1
      end do
    end do
  end subroutine give

  subroutine farm()
    logical :: seen(0:tasks - 1)
    integer(c_int64_t) :: given, longest
    type(outcome) :: done
    integer :: i
    seen = .false.
    given = 0
    longest = 0
    do i = 1, tasks
      call give(given)
      if (ranks > 1) then
        call sennit_queue_pop(mine, done, SENNIT_FOREVER)
      else
        done%task = given
        done%steps = steps_of(given)
        given = given + 1
      end if
      call must_be(.not. seen(done%task), 'each task is done once')
      seen(done%task) = .true.
      call must_be(done%steps == steps_of(done%task), 'the result is right')
      longest = max(longest, done%steps)
    end do
    do i = 1, ranks - 1
      call sennit_queue_push(to(i), no_more, SENNIT_FOREVER)
    end do
    print '(i0,a,i0,a,i0,a)', tasks, ' tasks by ', ranks - 1, ' workers, the longest of ', longest, ' steps'
  end subroutine farm

end program task_farm
