! Every collective call, blocking and with a request, with results that are computed separately. Breaks when source and destination,
! a size or a reduction is passed wrongly, or when the mark for results in place does not reach C.
program coll_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  integer, parameter :: n = 4
  type(sennit_team), parameter :: world = SENNIT_TEAM_WORLD
  type(sennit_request) :: request
  integer :: rank, size, i, status
  integer, allocatable, asynchronous :: all_of(:), every(:)
  integer, asynchronous :: mine(n), block(n)

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  allocate (all_of(n * size), every(n * size))
  mine = [(value(rank, i), i = 1, n)]
  call blocks_of_one_size()
  call blocks_of_several_sizes()
  call reductions()
  call reductions_that_are_scattered()
  call scans()
  call an_operator_of_the_program()
  call noncontiguous_arrays_are_refused_with_a_request()
  call sennit_finalize()
  call end_of_test()

contains

  pure function value(rank, i)
    integer, intent(in) :: rank, i
    integer :: value
    value = 100 * rank + i
  end function value

  ! The result of an allgather of `mine`.
  function gathered() result(values)
    integer :: values(n * size), r, i
    values = [((value(r, i), i = 1, n), r = 0, size - 1)]
  end function gathered

  subroutine blocks_of_one_size()
    integer, parameter :: bytes = 4 * n
    integer :: r
    do i = 1, 2
      block = merge(mine, -1, rank == 0)
      if (i == 1) call sennit_broadcast(world, 0, block, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_broadcast_nb(world, 0, block, bytes, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(block == [1, 2, 3, 4]), 'broadcast')
      all_of = gathered()
      block = -1
      if (i == 1) call sennit_scatter(world, 0, all_of, block, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_scatter_nb(world, 0, all_of, block, bytes, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(block == mine), 'scatter')
      all_of = -1
      if (i == 1) call sennit_gather(world, 0, mine, all_of, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_gather_nb(world, 0, mine, all_of, bytes, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      if (rank == 0) call check(all(all_of == gathered()), 'gather')
      all_of = -1
      if (i == 1) call sennit_allgather(world, mine, all_of, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_allgather_nb(world, mine, all_of, bytes, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(all_of == gathered()), 'allgather')
      all_of = -1
      all_of(n * rank + 1:n * rank + n) = mine
      if (i == 1) call sennit_allgather(world, sennit_in_place, all_of, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_allgather_nb(world, sennit_in_place, all_of, bytes, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(all_of == gathered()), 'allgather in place')
      all_of = [(1000 * rank + r, r = 0, n * size - 1)]
      every = -1
      if (i == 1) call sennit_alltoall(world, all_of, every, bytes, SENNIT_FOREVER)
      if (i == 2) call sennit_alltoall_nb(world, all_of, every, int(bytes, c_size_t), request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(every == [(1000 * ((r - 1) / n) + n * rank + modulo(r - 1, n), r = 1, n * size)]), 'alltoall')
    end do
    call sennit_barrier_nb(world, request)
    call sennit_wait(request, SENNIT_FOREVER)
  end subroutine blocks_of_one_size

  ! Rank r has r + 1 numbers.
  subroutine blocks_of_several_sizes()
    integer(c_size_t), target, asynchronous :: bytes(size), offsets(size), own(size)
    integer, target, asynchronous :: some(size), many(size * (size + 1)), back(size * (size + 1))
    type(sennit_vbuffer) :: blocks, back_blocks
    integer :: r, k, gap, total
    bytes = [(4_c_size_t * r, r = 1, size)]
    total = size * (size + 1) / 2
    some = rank
    do i = 1, 2
      many = -1
      blocks = sennit_vbuffer_of(many, bytes)
      if (i == 1) call sennit_allgatherv(world, some, 4 * (rank + 1), blocks, SENNIT_FOREVER)
      if (i == 2) call sennit_allgatherv_nb(world, some, 4 * (rank + 1), blocks, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(is_triangle(many), 'allgatherv')
      many = -1
      if (i == 1) call sennit_gatherv(world, 0, some, 4 * (rank + 1), blocks, SENNIT_FOREVER)
      if (i == 2) call sennit_gatherv_nb(world, 0, some, 4 * (rank + 1), blocks, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      if (rank == 0) call check(is_triangle(many), 'gatherv')
      call sennit_broadcast(world, 0, many, 4 * total, SENNIT_FOREVER)
      some = -1
      if (rank == 0) then
        if (i == 1) call sennit_scatterv(world, 0, blocks, some, 4 * (rank + 1), SENNIT_FOREVER)
        if (i == 2) call sennit_scatterv_nb(world, 0, blocks, some, 4 * (rank + 1), request)
      else ! only the root reads the blocks
        if (i == 1) call sennit_scatterv(world, 0, destination=some, bytes=4 * (rank + 1), timeout_ns=SENNIT_FOREVER)
        if (i == 2) call sennit_scatterv_nb(world, 0, destination=some, bytes=4 * (rank + 1), request=request)
      end if
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(some(1:rank + 1) == rank), 'scatterv')
      some = rank
      ! Each rank sends r + 1 numbers to rank r. Each rank receives rank + 1 numbers from each, with a gap between the parts or
      ! without.
      many = rank
      own = 4 * (rank + 1)
      offsets = [(4_c_size_t * (rank + 2) * r, r = 0, size - 1)]
      back = -1
      back_blocks = sennit_vbuffer_of(back, own, offsets)
      if (i == 2) back_blocks = sennit_vbuffer_of(back, own)
      if (i == 1) call sennit_alltoallv(world, blocks, back_blocks, SENNIT_FOREVER)
      if (i == 2) call sennit_alltoallv_nb(world, blocks, back_blocks, request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      gap = merge(1, 0, i == 1)
      call check(all([(back((rank + 1 + gap) * r + 1:(rank + 1 + gap) * r + rank + 1), r = 0, size - 1)] == &
                     [((r, k = 0, rank), r = 0, size - 1)]), 'alltoallv')
      call check(count(back == -1) == size * (size + 1) - size * (rank + 1), 'alltoallv writes nothing else')
    end do
    own = 4
    back(1:size) = [(10 * rank + r, r = 0, size - 1)]
    back_blocks = sennit_vbuffer_of(back, own)
    call sennit_alltoallv(world, destination=back_blocks, timeout_ns=SENNIT_FOREVER)
    call check(all(back(1:size) == [(10 * r + rank, r = 0, size - 1)]), 'alltoallv in place')
    back_blocks = sennit_vbuffer_of(sennit_in_place, own)
    call check(transfer(back_blocks%memory, 0_c_intptr_t) == 1, 'the mark for in place as memory of blocks')
  end subroutine blocks_of_several_sizes

  function is_triangle(many)
    integer, intent(in) :: many(:)
    logical :: is_triangle
    integer :: r, k
    is_triangle = all(many(1:size * (size + 1) / 2) == [((r, k = 0, r), r = 0, size - 1)])
  end function is_triangle

  subroutine reductions()
    integer :: total
    total = size * (size - 1) / 2 * 100
    do i = 1, 2
      block = -1
      if (i == 1) call sennit_reduce(world, 0, mine, block, sennit_reduction_of(n, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)
      if (i == 2) call sennit_reduce_nb(world, 0, mine, block, sennit_reduction_of(n, SENNIT_INT32, SENNIT_SUM), request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      if (rank == 0) call check(all(block == total + size * [1, 2, 3, 4]), 'reduce')
      block = mine
      if (i == 1) call sennit_allreduce(world, sennit_in_place, block, &
                                        sennit_reduction_of(4_c_size_t, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)
      if (i == 2) call sennit_allreduce_nb(world, sennit_in_place, block, &
                                           sennit_reduction_of(n, SENNIT_INT32, SENNIT_SUM), request)
      if (i == 2) call sennit_wait(request, SENNIT_FOREVER)
      call check(all(block == total + size * [1, 2, 3, 4]), 'allreduce in place')
    end do
  end subroutine reductions

  subroutine reductions_that_are_scattered()
    integer(c_size_t), asynchronous :: counts(size)
    integer, asynchronous :: terms(size), own(size)
    counts = 1
    terms = [(rank + 10 * i, i = 1, size)]
    associate (one => sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), expected => size * (size - 1) / 2 + 10 * size * (rank + 1))
      own = 0
      call sennit_reduce_scatter(world, terms, own, counts, one, SENNIT_FOREVER)
      call check(own(1) == expected, 'reduce_scatter')
      own = 0
      call sennit_reduce_scatter_nb(world, terms, own, counts, one, request)
      call sennit_wait(request, SENNIT_FOREVER)
      call check(own(1) == expected, 'reduce_scatter with a request')
      own = 0
      call sennit_reduce_scatter_block(world, terms, own, one, SENNIT_FOREVER)
      call check(own(1) == expected, 'reduce_scatter_block')
      own = 0
      call sennit_reduce_scatter_block_nb(world, terms, own, one, request)
      call sennit_wait(request, SENNIT_FOREVER)
      call check(own(1) == expected, 'reduce_scatter_block with a request')
    end associate
  end subroutine reductions_that_are_scattered

  subroutine scans()
    real(c_double), asynchronous :: mine, below
    type(sennit_reduction) :: sum
    sum = sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM)
    mine = rank + 1
    call sennit_scan(world, mine, below, sum, SENNIT_FOREVER)
    call check(nint(below) == (rank + 1) * (rank + 2) / 2, 'scan')
    below = 0
    call sennit_scan_nb(world, mine, below, sum, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call check(nint(below) == (rank + 1) * (rank + 2) / 2, 'scan with a request')
    below = 0
    call sennit_scan_exclusive(world, mine, below, sum, SENNIT_FOREVER)
    call check(nint(below) == rank * (rank + 1) / 2, 'scan_exclusive')
    below = 0
    call sennit_scan_exclusive_nb(world, mine, below, sum, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call check(nint(below) == rank * (rank + 1) / 2, 'scan_exclusive with a request')
  end subroutine scans

  ! Complex products, for which Sennit has no operator.
  subroutine an_operator_of_the_program()
    complex(c_double) :: factor, product
    integer, target :: calls
    calls = 0
    factor = (0, 1)
    call sennit_allreduce(world, factor, product, sennit_reduction_by(1, sennit_bytes(factor), multiply, c_loc(calls)), &
                          SENNIT_FOREVER)
    call check(abs(product - factor**size) < 1e-12_c_double, 'the product of complex numbers')
    call sennit_allreduce(world, factor, product, sennit_reduction_by(1_c_size_t, 16_c_size_t, multiply, c_loc(calls)), &
                          SENNIT_FOREVER)
    call check(abs(product - factor**size) < 1e-12_c_double, 'the same with sizes of the other kind')
    call sennit_allreduce(world, factor, product, sennit_reduction_by(1_c_size_t, 16, multiply, c_loc(calls)), SENNIT_FOREVER)
    call check(abs(product - factor**size) < 1e-12_c_double, 'the same with sizes of both kinds')
    call sennit_allreduce(world, calls, i, sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)
    call check(i > 0 .or. size == 1, 'the operator got its context')
  end subroutine an_operator_of_the_program

  subroutine multiply(left, right, result, count, context) bind(C)
    type(c_ptr), value :: left, right, result
    integer(c_size_t), value :: count
    type(c_ptr), value :: context
    complex(c_double), pointer :: a(:), b(:), c(:)
    integer, pointer :: calls
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    call c_f_pointer(result, c, [count])
    call c_f_pointer(context, calls)
    c = a * b
    calls = calls + 1
  end subroutine multiply

  subroutine noncontiguous_arrays_are_refused_with_a_request()
    integer, asynchronous :: table(2, n), whole(n)
    integer(c_size_t), asynchronous :: counts(2, size)
    table = 0
    counts = 1
    call sennit_allreduce_nb(world, table(1, :), whole, sennit_reduction_of(n, SENNIT_INT32, SENNIT_SUM), request, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a section as source')
    call sennit_allreduce_nb(world, whole, table(1, :), sennit_reduction_of(n, SENNIT_INT32, SENNIT_SUM), request, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a section as destination')
    if (size > 1) then
      call sennit_reduce_scatter_nb(world, table, whole, counts(1, :), sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), &
                                    request, stat=status)
      call check_status(status, SENNIT_ERR_ARG, 'a section as counts')
    end if
    call sennit_allgatherv(world, mine, 4, sennit_vbuffer_of(table(1, :), counts(1, :)), SENNIT_FOREVER, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a section as blocks')
    call sennit_allreduce(world, mine, table(1, :), sennit_reduction_of(n, SENNIT_INT32, SENNIT_MIN), SENNIT_FOREVER)
    call check(all(table(1, :) == [1, 2, 3, 4]), 'a section is copied if there is no request')
    call sennit_broadcast(world, size, mine, 4, SENNIT_FOREVER, stat=status)
    call check_status(status, SENNIT_ERR_RANGE, 'a root outside the team')
  end subroutine noncontiguous_arrays_are_refused_with_a_request

end program coll_test
