! A program with plans of MPI's calls, as another project might write it: each of two ranks sends its number to the other. With "use
! mpi" instead of mpi_f08 it is a program for sennit_mpi_plan_integer.f90.
program plan_user
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  implicit none
  type(sennit_message_plan) :: plan
  integer, asynchronous :: mine, theirs
  integer :: rank, size, code
  call MPI_Init(code)
  call sennit_init_mpi(MPI_COMM_WORLD)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call sennit_message_plan_create(MPI_COMM_WORLD, plan)
  call sennit_plan_sendrecv(plan, mine, 1, MPI_INTEGER, 1 - rank, 0, theirs, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, &
                            SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL)
  call sennit_message_plan_commit(plan, SENNIT_FOREVER)
  mine = rank
  call sennit_message_plan_start(plan)
  call sennit_message_plan_wait(plan, SENNIT_FOREVER)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ' found ', theirs
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call sennit_message_plan_destroy(plan)
  call sennit_finalize()
  call MPI_Finalize(code)
end program plan_user
