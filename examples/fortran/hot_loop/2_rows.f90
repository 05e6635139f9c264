! Stage 2: a plan exchanges the rows; MPI still exchanges the columns.
!     mpirun -n 4 2_rows
program stage
  use field
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  implicit none
  type(sennit_message_plan) :: plans(0:1) ! one for each of the two states
  type(MPI_Request) :: all(4)
  integer :: step, now, i
  call MPI_Init()
  call sennit_init_mpi(MPI_COMM_WORLD)
  call make_field()
  do i = 0, 1
    call sennit_message_plan_create(comm, plans(i))
    call sennit_plan_irecv(plans(i), u(0, 1, i), 1, row, up, 0, comm, SENNIT_SIGNAL_NULL)
    call sennit_plan_isend(plans(i), u(rows, 1, i), 1, row, down, 0, comm, SENNIT_SIGNAL_NULL)
    call sennit_plan_irecv(plans(i), u(rows + 1, 1, i), 1, row, down, 1, comm, SENNIT_SIGNAL_NULL)
    call sennit_plan_isend(plans(i), u(1, 1, i), 1, row, up, 1, comm, SENNIT_SIGNAL_NULL)
    call sennit_message_plan_commit(plans(i), SENNIT_FOREVER)
  end do
  do step = 0, steps - 1
    now = modulo(step, 2)
    call sennit_message_plan_start(plans(now))
    call MPI_Irecv(u(1, 0, now), rows, MPI_DOUBLE_PRECISION, left, 2, comm, all(1))
    call MPI_Isend(u(1, columns, now), rows, MPI_DOUBLE_PRECISION, right, 2, comm, all(2))
    call MPI_Irecv(u(1, columns + 1, now), rows, MPI_DOUBLE_PRECISION, right, 3, comm, all(3))
    call MPI_Isend(u(1, 1, now), rows, MPI_DOUBLE_PRECISION, left, 3, comm, all(4))
    call sennit_message_plan_wait(plans(now), SENNIT_FOREVER)
    call MPI_Waitall(4, all, MPI_STATUSES_IGNORE)
    call compute(u(:, :, now), u(:, :, 1 - now))
  end do
  call MPI_Barrier(comm) ! all have waited for their last run
  do i = 0, 1
    call sennit_message_plan_destroy(plans(i))
  end do
  call check_and_free()
  call sennit_finalize()
  call MPI_Finalize()
end program stage
