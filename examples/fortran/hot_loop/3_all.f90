! Stage 3: plans exchange everything; the rows use the datatype that they had for MPI.
!     mpirun -n 4 3_all
program stage
  use field
  use iso_c_binding
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  implicit none
  type(sennit_message_plan) :: plans(0:1)
  type(sennit_signal), parameter :: none = SENNIT_SIGNAL_NULL
  integer :: step, now, i
  call MPI_Init()
  call sennit_init_mpi(MPI_COMM_WORLD)
  call make_field()
  call sennit_message_plan_create(comm, plans(0))
  call sennit_plan_sendrecv(plans(0), u(rows, 1, 0), 1, row, down, 0, u(0, 1, 0), 1, row, up, 0, comm, none, none)
  call sennit_plan_sendrecv(plans(0), u(1, 1, 0), 1, row, up, 1, u(rows + 1, 1, 0), 1, row, down, 1, comm, none, none)
  call sennit_plan_sendrecv(plans(0), u(1, columns, 0), rows, MPI_DOUBLE_PRECISION, right, 2, &
                            u(1, 0, 0), rows, MPI_DOUBLE_PRECISION, left, 2, comm, none, none)
  call sennit_plan_sendrecv(plans(0), u(1, 1, 0), rows, MPI_DOUBLE_PRECISION, left, 3, &
                            u(1, columns + 1, 0), rows, MPI_DOUBLE_PRECISION, right, 3, comm, none, none)
  ! The same for the other state, which lies elsewhere.
  call sennit_message_plan_twin(plans(0), u(:, :, 0), u(:, :, 1), size(u(:, :, 0)) * c_sizeof(u(0, 0, 0)), plans(1))
  do i = 0, 1
    call sennit_message_plan_commit(plans(i), SENNIT_FOREVER)
  end do
  do step = 0, steps - 1
    now = modulo(step, 2)
    call sennit_message_plan_start(plans(now))
    call sennit_message_plan_wait(plans(now), SENNIT_FOREVER)
    call compute(u(:, :, now), u(:, :, 1 - now))
  end do
  call MPI_Barrier(comm)
  do i = 0, 1
    call sennit_message_plan_destroy(plans(i))
  end do
  call check_and_free()
  call sennit_finalize()
  call MPI_Finalize()
end program stage
