! Compares each call of module sennit_mpi_plan with the call of MPI, with handles of mpi_f08 and some integer handles. Breaks when a
! handle, a count or an address reaches C wrongly, when a datatype made by Fortran is read wrongly, or when a section that is not
! contiguous is accepted. Two or more ranks.
program message_plans_test
  use iso_c_binding
  use checks
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  implicit none
  integer, parameter :: dp = kind(1d0)
  type(sennit_message_plan) :: plan
  integer :: rank, size, next, before, status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = modulo(rank + 1, size)
  before = modulo(rank - 1, size)
  call sennit_init_mpi(MPI_COMM_WORLD)
  call rows_and_columns()
  call types_of_fortran()
  call all_to_alls()
  call neighbours()
  call requests_and_signals()
  call another_communicator()
  call two_groups()
  call integers()
  call two_buffers_in_turn()
  call mistakes()
  call sennit_finalize()
  call MPI_Finalize()
  call end_of_test()

contains

  ! Polls the exchange until it is complete, runs the plan, and destroys it.
  subroutine run_and_end(runs)
    integer, intent(in) :: runs
    integer :: i
    do
      call sennit_message_plan_commit(plan, 0, status)
      if (status /= SENNIT_ERR_TIMEOUT) exit
    end do
    call check_status(status, SENNIT_OK, 'the exchange is complete')
    do i = 1, runs
      call sennit_message_plan_start(plan)
      call sennit_message_plan_wait(plan, SENNIT_FOREVER)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_message_plan_destroy(plan)
  end subroutine run_and_end

  ! A strided row of a matrix becomes a column of another one, and a block of it a block at another place.
  subroutine rows_and_columns()
    real(dp), asynchronous :: from(6, 5), by_mpi(6, 5), by_plan(6, 5)
    type(MPI_Datatype) :: row, block, elsewhere
    integer :: i
    from = reshape([(100 * rank + i, i=1, 30)], [6, 5])
    call MPI_Type_vector(5, 1, 6, MPI_DOUBLE_PRECISION, row)
    call MPI_Type_create_subarray(2, [6, 5], [2, 3], [3, 1], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, block)
    call MPI_Type_create_subarray(2, [6, 5], [3, 2], [0, 3], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, elsewhere)
    call MPI_Type_commit(row)
    call MPI_Type_commit(block)
    call MPI_Type_commit(elsewhere)
    by_mpi = -1
    by_plan = -1
    call MPI_Sendrecv(from(2, 1), 1, row, next, 0, by_mpi(1, 1), 5, MPI_DOUBLE_PRECISION, before, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(from, 1, block, next, 1, by_mpi, 1, elsewhere, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_plan_sendrecv(plan, from(2, 1), 1, row, next, 0, by_plan(:, 1), 5, MPI_DOUBLE_PRECISION, before, 0, &
                              MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call sennit_plan_sendrecv(plan, from, 1, block, next, 1, by_plan, 1, elsewhere, before, 1, MPI_COMM_WORLD, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call MPI_Type_free(row)
    call MPI_Type_free(block)
    call MPI_Type_free(elsewhere)
    call run_and_end(3)
    call check(.not. any(abs(by_mpi - by_plan) > 0), 'a row and a block come as by MPI')
    call check(nint(by_plan(2, 1)) == 100 * before + 8, 'the second element of the row')
  end subroutine rows_and_columns

  ! Nine elements of a Fortran type, as a block of an array with space around it.
  subroutine one_type(kind, name)
    type(MPI_Datatype), intent(in) :: kind
    character(*), intent(in) :: name
    type(MPI_Datatype) :: block
    integer(c_int8_t), allocatable, asynchronous :: from(:), by_mpi(:), by_plan(:)
    integer(MPI_ADDRESS_KIND) :: lower, extent
    integer :: i
    call MPI_Type_get_extent(kind, lower, extent)
    call MPI_Type_create_subarray(3, [5, 4, 3], [3, 3, 1], [1, 0, 2], MPI_ORDER_FORTRAN, kind, block)
    call MPI_Type_commit(block)
    allocate (from(60 * extent), by_mpi(60 * extent), by_plan(60 * extent))
    from = [(int(modulo(7 * i + 31 * rank, 256) - 128, c_int8_t), i=1, ubound(from, 1))]
    by_mpi = -1
    by_plan = -1
    call MPI_Sendrecv(from, 1, block, next, 0, by_mpi, 9, kind, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_plan_irecv(plan, by_plan, 9, kind, before, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL)
    call sennit_plan_isend(plan, from, 1, block, next, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL)
    call MPI_Type_free(block)
    call run_and_end(1)
    call check(all(by_mpi == by_plan) .and. any(by_plan /= -1), 'the bytes of ' // name // ' come as by MPI')
  end subroutine one_type

  subroutine types_of_fortran()
    type(MPI_Datatype) :: chosen
    call one_type(MPI_INTEGER, 'MPI_INTEGER')
    call one_type(MPI_INTEGER8, 'MPI_INTEGER8')
    call one_type(MPI_REAL, 'MPI_REAL')
    call one_type(MPI_REAL8, 'MPI_REAL8')
    call one_type(MPI_DOUBLE_PRECISION, 'MPI_DOUBLE_PRECISION')
    call one_type(MPI_COMPLEX, 'MPI_COMPLEX')
    call one_type(MPI_DOUBLE_COMPLEX, 'MPI_DOUBLE_COMPLEX')
    call one_type(MPI_LOGICAL, 'MPI_LOGICAL')
    call one_type(MPI_CHARACTER, 'MPI_CHARACTER')
    call one_type(MPI_2INTEGER, 'MPI_2INTEGER')
    call one_type(MPI_2DOUBLE_PRECISION, 'MPI_2DOUBLE_PRECISION')
    call MPI_Type_create_f90_real(12, 200, chosen)
    call one_type(chosen, 'a real of twelve digits')
    call MPI_Type_create_f90_integer(9, chosen)
    call one_type(chosen, 'an integer of nine digits')
  end subroutine types_of_fortran

  ! Rank 0's exchange continues after a test, before the others have made their calls.
  subroutine all_to_alls()
    integer, asynchronous :: from(4 * size), by_mpi(4 * size), by_plan(4 * size), v_mpi(4 * size), v_plan(4 * size)
    integer :: sends(size), receives(size), places(size), i
    from = [(1000 * rank + i, i=1, 4 * size)]
    do i = 0, size - 1
      sends(i + 1) = modulo(rank + 2 * i, 4)
      receives(i + 1) = modulo(i + 2 * rank, 4)
      places(i + 1) = 4 * (size - 1 - i)
    end do
    by_mpi = -1
    by_plan = -1
    v_mpi = -1
    v_plan = -1
    call MPI_Alltoall(from, 2, MPI_INTEGER, by_mpi, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoallv(from, sends, places, MPI_INTEGER, v_mpi, receives, places, MPI_INTEGER, MPI_COMM_WORLD)
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    if (rank > 0) call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_plan_alltoall(plan, from, 2, MPI_INTEGER, by_plan, 2, MPI_INTEGER, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, &
                              SENNIT_SIGNAL_NULL)
    call sennit_plan_alltoallv(plan, from, sends, places, MPI_INTEGER, v_plan, receives, places, MPI_INTEGER, &
                               MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    if (rank == 0) then
      call sennit_message_plan_commit(plan, 0, status)
      call check_status(status, SENNIT_ERR_TIMEOUT, 'calls that the others have not made')
      call MPI_Barrier(MPI_COMM_WORLD)
    end if
    call run_and_end(2)
    call check(all(by_mpi == by_plan), 'an all-to-all comes as by MPI')
    call check(all(v_mpi == v_plan), 'an all-to-all with counts comes as by MPI')
  end subroutine all_to_alls

  subroutine neighbours()
    type(MPI_Comm) :: grid
    integer, asynchronous :: from(12), by_mpi(12), by_plan(12)
    integer :: i
    from = [(1000 * rank + i, i=1, 12)]
    by_mpi = -1
    by_plan = -1
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [size, 1], [.false., .false.], .false., grid)
    call sennit_message_plan_create(grid, plan)
    call MPI_Neighbor_alltoallv(from, [1, 2, 3, 3], [0, 3, 6, 9], MPI_INTEGER, by_mpi, [2, 1, 3, 3], [9, 6, 3, 0], &
                                MPI_INTEGER, grid)
    call sennit_plan_neighbor_alltoallv(plan, from, [1, 2, 3, 3], [0, 3, 6, 9], MPI_INTEGER, by_plan, [2, 1, 3, 3], &
                                        [9, 6, 3, 0], MPI_INTEGER, grid, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call run_and_end(2)
    call check(all(by_mpi == by_plan), 'the numbers of neighbours come as by MPI')
    call MPI_Comm_free(grid)
  end subroutine neighbours

  subroutine requests_and_signals()
    type(MPI_Request) :: requests(2)
    type(sennit_signal) :: sent, arrived
    integer, asynchronous :: out, in
    logical :: is_over
    out = 70 + rank
    in = -1
    call sennit_signal_create(1, 1, 0, sent)
    call sennit_signal_create(1, 1, 0, arrived)
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_plan_irecv(plan, in, 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, arrived, requests(1))
    call sennit_plan_isend(plan, out, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, sent, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all([requests%MPI_VAL] == MPI_REQUEST_NULL%MPI_VAL), 'the requests are complete')
    call sennit_message_plan_commit(plan, 1000000000)
    call sennit_message_plan_start(plan)
    is_over = .false.
    do while (.not. is_over)
      call sennit_message_plan_test(plan, is_over)
    end do
    call sennit_signal_wait(arrived, SENNIT_FOREVER)
    call sennit_signal_wait(sent, SENNIT_FOREVER)
    call check(in == 70 + before, 'the number is there when the signal has fired')
    call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_message_plan_destroy(plan)
    call sennit_signal_destroy(sent)
    call sennit_signal_destroy(arrived)
  end subroutine requests_and_signals

  ! The ranks are in reverse order, and the ends of the line send to nobody.
  subroutine another_communicator()
    type(MPI_Comm) :: turned
    integer, asynchronous :: out(3), in(3)
    integer :: self, upper, lower
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, turned)
    call MPI_Comm_rank(turned, self)
    upper = merge(self + 1, MPI_PROC_NULL, self + 1 < size)
    lower = merge(self - 1, MPI_PROC_NULL, self > 0)
    out = self
    in = -1
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_message_plan_use(plan, turned)
    call sennit_plan_sendrecv(plan, out, 3, MPI_INTEGER, upper, 0, in, 3, MPI_INTEGER, lower, 0, turned, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call run_and_end(1)
    call check(all(in == self - 1), 'the lower rank of the communicator has sent')
    call MPI_Comm_free(turned)
  end subroutine another_communicator

  ! With an intercommunicator of the even and the odd ranks; with 3 ranks the groups differ in size.
  subroutine two_groups()
    type(MPI_Comm) :: half, joined
    integer, asynchronous :: out(3 * size), by_mpi(3 * size), by_plan(3 * size), one_by_mpi, one_by_plan
    integer :: self, others, partner, i
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - modulo(rank, 2), 0, joined)
    call MPI_Comm_rank(joined, self)
    call MPI_Comm_remote_size(joined, others)
    partner = merge(self, MPI_PROC_NULL, self < others)
    out = [(100 * rank + i, i=1, 3 * size)]
    by_mpi = -1
    by_plan = -1
    one_by_mpi = -1
    one_by_plan = -1
    call MPI_Alltoall(out, 3, MPI_INTEGER, by_mpi, 3, MPI_INTEGER, joined)
    call MPI_Sendrecv(out(2), 1, MPI_INTEGER, partner, 0, one_by_mpi, 1, MPI_INTEGER, partner, 0, joined, MPI_STATUS_IGNORE)
    call sennit_message_plan_create(joined, plan)
    call sennit_plan_alltoall(plan, out, 3, MPI_INTEGER, by_plan, 3, MPI_INTEGER, joined, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call sennit_plan_irecv(plan, one_by_plan, 1, MPI_INTEGER, partner, 0, joined, SENNIT_SIGNAL_NULL)
    call sennit_plan_isend(plan, out(2), 1, MPI_INTEGER, partner, 0, joined, SENNIT_SIGNAL_NULL)
    call run_and_end(2)
    call check(all(by_mpi == by_plan) .and. one_by_mpi == one_by_plan, 'the numbers of the other group come as by MPI')
    call MPI_Comm_free(joined)
    call MPI_Comm_free(half)
  end subroutine two_groups

  ! The same calls with integer handles.
  subroutine integers()
    integer, asynchronous :: out(2), in(2), all_out(2 * size), all_in(2 * size), v_in(size), ring_in(2)
    integer :: requests(2), places(size), ones(size), world, number, i
    type(MPI_Comm) :: ring
    type(MPI_Request) :: request
    world = MPI_COMM_WORLD%MPI_VAL
    number = MPI_INTEGER%MPI_VAL
    out = 10 * rank
    in = -1
    all_in = -1
    v_in = -1
    ring_in = -1
    ones = 1
    places = [(size - i, i=1, size)]
    all_out = [(10 * rank + i, i=1, 2 * size)]
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [size > 2], .false., ring)
    call sennit_message_plan_create(world, plan)
    call sennit_message_plan_use(plan, ring%MPI_VAL)
    call sennit_plan_irecv(plan, in, 1, number, before, 0, world, SENNIT_SIGNAL_NULL, requests(1))
    call sennit_plan_isend(plan, out, 1, number, next, 0, world, SENNIT_SIGNAL_NULL, requests(2))
    call sennit_plan_sendrecv(plan, out(2), 1, number, next, 1, in(2), 1, number, before, 1, world, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call sennit_plan_alltoall(plan, all_out, 2, number, all_in, 2, number, world, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call sennit_plan_alltoallv(plan, all_out, ones, places, number, v_in, ones, places, number, world, SENNIT_SIGNAL_NULL, &
                               SENNIT_SIGNAL_NULL)
    call sennit_plan_neighbor_alltoallv(plan, all_out, [1, 1], [0, 1], number, ring_in, [1, 1], [0, 1], number, ring%MPI_VAL, &
                                        SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    do i = 1, 2
      request%MPI_VAL = requests(i)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end do
    call run_and_end(1)
    call check(all(in == 10 * before), 'numbers come')
    call check(all([(all(all_in(2 * i + 1:2 * i + 2) == 10 * i + 2 * rank + [1, 2]), i=0, size - 1)]), 'numbers of an all-to-all')
    call check(all([(v_in(size - i) == 10 * i + size - rank, i=0, size - 1)]), 'the numbers of an all-to-all with counts')
    call check(ring_in(1) == merge(10 * before + 2, -1, rank > 0 .or. size > 2), 'the upper number of the lower neighbour')
    call check(ring_in(2) == merge(10 * next + 1, -1, next > 0 .or. size > 2), 'the lower number of the upper neighbour')
    call MPI_Comm_free(ring)
  end subroutine integers

  ! The twin uses the second array, at the same offsets as the first plan uses the first one. Data goes both ways, so no rank is
  ! ever found unready.
  subroutine two_buffers_in_turn()
    integer, asynchronous :: field(0:4, 3, 2)
    type(sennit_message_plan) :: plans(0:1)
    type(MPI_Datatype) :: row
    integer :: run, turn
    call MPI_Type_vector(3, 1, 5, MPI_INTEGER, row)
    call sennit_message_plan_create(MPI_COMM_WORLD, plans(0))
    call sennit_plan_sendrecv(plans(0), field(3, 1, 1), 1, row, next, 0, field(0, 1, 1), 1, row, before, 0, MPI_COMM_WORLD, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call sennit_plan_sendrecv(plans(0), field(1, 1, 1), 1, row, before, 1, field(4, 1, 1), 1, row, next, 1, MPI_COMM_WORLD, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
    call MPI_Type_free(row)
    call sennit_message_plan_twin(plans(0), field, field(0, 1, 2), 8, plans(1), status)
    call check_status(status, SENNIT_ERR_ARG, 'a part of the memory of a message')
    call sennit_message_plan_twin(plans(0), field(:, :, 1), field(:, :, 2), sennit_bytes(field(:, :, 1)), plans(1))
    do turn = 0, 1
      call sennit_message_plan_be_strict(plans(turn))
      call sennit_message_plan_commit(plans(turn), SENNIT_FOREVER)
    end do
    call sennit_message_plan_open(plans(0))
    call MPI_Barrier(MPI_COMM_WORLD)
    do run = 1, 20
      turn = modulo(run + 1, 2)
      field(1:3, :, turn + 1) = 100 * run + rank
      call sennit_message_plan_open(plans(1 - turn))
      call sennit_message_plan_start(plans(turn))
      call sennit_message_plan_wait(plans(turn), SENNIT_FOREVER)
      call check(all(field(0, :, turn + 1) == 100 * run + before), 'the row of the rank before')
      call check(all(field(4, :, turn + 1) == 100 * run + next), 'the row of the next rank')
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_message_plan_destroy(plans(0))
    call sennit_message_plan_destroy(plans(1))
  end subroutine two_buffers_in_turn

  subroutine refused(expected, word)
    integer, intent(in) :: expected
    character(*), intent(in) :: word
    type(sennit_error) :: error
    error = sennit_last_error()
    call check_status(status, expected, 'refused: ' // word)
    call check(index(sennit_string(error%text), word) > 0, 'the error says: ' // word)
  end subroutine refused

  subroutine mistakes()
    real(dp), asynchronous :: matrix(4, 4)
    type(sennit_message_plan) :: none
    call sennit_message_plan_start(none, stat=status)
    call refused(SENNIT_ERR_ARG, 'no plan')
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_plan_isend(plan, matrix(2, :), 4, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, &
                           stat=status)
    call refused(SENNIT_ERR_ARG, 'not contiguous')
    call sennit_plan_irecv(plan, matrix(2, :), 4, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, &
                           stat=status)
    call refused(SENNIT_ERR_ARG, 'not contiguous')
    call sennit_plan_sendrecv(plan, matrix, 4, MPI_DOUBLE_PRECISION, next, 0, matrix(1:2, :), 4, MPI_DOUBLE_PRECISION, before, &
                              0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, status)
    call refused(SENNIT_ERR_ARG, 'not contiguous')
    call sennit_plan_alltoall(plan, MPI_IN_PLACE, 1, MPI_DOUBLE_PRECISION, matrix, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                              SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, status)
    call refused(SENNIT_ERR_ARG, 'MPI_IN_PLACE')
    call sennit_plan_isend(plan, MPI_BOTTOM, 1, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, stat=status)
    call refused(SENNIT_ERR_ARG, 'MPI_BOTTOM')
    call sennit_plan_irecv(plan, matrix, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, &
                           stat=status)
    call refused(SENNIT_ERR_ARG, 'MPI_ANY_SOURCE')
    call sennit_message_plan_wait(plan, 0, stat=status)
    call refused(SENNIT_ERR_STATE, 'no run')
    call run_and_end(1)
    call sennit_message_plan_destroy(plan, stat=status)
    call refused(SENNIT_ERR_ARG, 'no plan')
    ! If the number types do not match, the sender gets the error.
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    if (rank == 0) call sennit_plan_isend(plan, matrix, 1, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL)
    if (rank == 1) call sennit_plan_irecv(plan, matrix, 2, MPI_COMPLEX, 0, 7, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL)
    call sennit_message_plan_commit(plan, 20000000000_c_int64_t, stat=status)
    if (rank == 0) call refused(SENNIT_ERR_ARG, 'sennit_plan_isend to rank 1 of the communicator, tag 7')
    if (rank /= 0) call check_status(status, SENNIT_OK, 'the commit of the other ranks')
    call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_message_plan_destroy(plan)
  end subroutine mistakes

end program message_plans_test
