! A queue on every rank, into which all ranks put numbers. Breaks when an address, a handle or an item reaches C wrongly.
program queue_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  integer(c_int64_t) :: many(2)
  integer :: moved
  integer, parameter :: items = 5
  type(sennit_queue) :: queue
  type(sennit_queue_address) :: mine
  type(sennit_queue_address), allocatable :: all(:)
  type(sennit_producer) :: producer
  integer(c_int64_t) :: item, total
  integer :: rank, size, peer, i, status

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_queue_create(sennit_bytes(item), items, size, queue, mine)
  call check(queue /= SENNIT_QUEUE_NULL .and. queue == queue, 'a queue has a handle')
  allocate (all(0:size - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, mine, all, c_sizeof(mine), SENNIT_FOREVER)
  do peer = 0, size - 1
    call sennit_queue_attach(all(peer), producer)
    call check(producer /= SENNIT_PRODUCER_NULL, 'a producer has a handle')
    do i = 1, items
      item = 100 * rank + i
      call sennit_queue_push(producer, item, SENNIT_FOREVER)
    end do
    call sennit_queue_push(producer, item, 0_c_int64_t, stat=status)
    call check_status(status, SENNIT_ERR_TIMEOUT, 'a full queue')
    call sennit_queue_detach(producer)
  end do
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  total = 0
  do i = 1, items * size
    call sennit_queue_pop(queue, item, SENNIT_FOREVER)
    total = total + item
  end do
  call check(total == items * 100 * (size * (size - 1)) / 2 + size * items * (items + 1) / 2, 'all numbers of all ranks, once')
  call sennit_queue_pop(queue, item, 0, stat=status)
  call check_status(status, SENNIT_ERR_TIMEOUT, 'an empty queue')
  call sennit_queue_attach(mine, producer)
  many = [7_c_int64_t, 8_c_int64_t]
  call sennit_queue_push_many(producer, many, 2, SENNIT_FOREVER, moved)
  call check(moved == 2, 'both numbers were pushed')
  many = 0
  call sennit_queue_pop_many(queue, many, 2, SENNIT_FOREVER, moved)
  call check(moved == 2 .and. many(1) == 7 .and. many(2) == 8, 'both numbers were popped')
  call sennit_queue_detach(producer)
  call sennit_queue_destroy(queue)
  call sennit_queue_destroy(queue, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'a queue is destroyed only once')
  call sennit_finalize()
  call end_of_test()
end program queue_test
