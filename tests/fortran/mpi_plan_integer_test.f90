! Module sennit_mpi_plan for an MPI without mpi_f08, where handles are integers. Breaks when this source is not kept up to date with
! the others. Two or more ranks.
program integer_message_plans_test
  use iso_c_binding
  use checks
  use mpi
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  implicit none
  type(sennit_message_plan) :: plan
  type(sennit_error) :: error
  double precision, asynchronous :: field(0:5, 0:4), by_mpi(0:5, 0:4)
  integer, asynchronous :: given(8), got(8)
  integer :: requests(2), row, rank, size, next, before, half, joined, others, code, status, run
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  next = modulo(rank + 1, size)
  before = modulo(rank - 1, size)
  call sennit_init_mpi(MPI_COMM_WORLD)
  call MPI_Type_vector(5, 1, 6, MPI_DOUBLE_PRECISION, row, code)
  call MPI_Type_commit(row, code)
  field = rank
  by_mpi = rank
  call sennit_message_plan_create(MPI_COMM_WORLD, plan)
  call sennit_plan_irecv(plan, field(0, 0), 1, row, before, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, requests(1))
  call sennit_plan_isend(plan, field(4, 0), 1, row, next, 0, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, requests(2))
  call sennit_plan_sendrecv(plan, field(1, 0), 1, row, before, 1, field(5, 0), 1, row, next, 1, MPI_COMM_WORLD, &
                            SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
  call sennit_plan_alltoall(plan, MPI_IN_PLACE, 1, MPI_DOUBLE_PRECISION, field, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                            SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, status)
  call check_status(status, SENNIT_ERR_ARG, 'MPI_IN_PLACE is refused')
  error = sennit_last_error()
  call check(index(sennit_string(error%text), 'MPI_IN_PLACE') > 0, 'the error names MPI_IN_PLACE')
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call sennit_message_plan_commit(plan, SENNIT_FOREVER)
  do run = 1, 10
    field = field + 10 * rank + run
    by_mpi = by_mpi + 10 * rank + run
    call MPI_Sendrecv(by_mpi(4, 0), 1, row, next, 0, by_mpi(0, 0), 1, row, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(by_mpi(1, 0), 1, row, before, 1, by_mpi(5, 0), 1, row, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call sennit_message_plan_start(plan)
    call sennit_message_plan_wait(plan, SENNIT_FOREVER)
    call check(.not. any(abs(by_mpi - field) > 0), 'rows come as by MPI')
  end do
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call sennit_message_plan_destroy(plan)
  call MPI_Type_free(row, code)
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half, code)
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - modulo(rank, 2), 0, joined, code)
  call MPI_Comm_remote_size(joined, others, code)
  given = rank
  got = -1
  call sennit_message_plan_create(joined, plan)
  call sennit_plan_alltoall(plan, given, 1, MPI_INTEGER, got, 1, MPI_INTEGER, joined, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
  call sennit_message_plan_commit(plan, SENNIT_FOREVER)
  call sennit_message_plan_start(plan)
  call sennit_message_plan_wait(plan, SENNIT_FOREVER)
  call check(all(got(1:others) == [(2 * run + 1 - modulo(rank, 2), run=0, others - 1)]), 'the other group has sent its ranks')
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call sennit_message_plan_destroy(plan)
  call MPI_Comm_free(joined, code)
  call MPI_Comm_free(half, code)
  call sennit_finalize()
  call MPI_Finalize(code)
  call end_of_test()
end program integer_message_plans_test
