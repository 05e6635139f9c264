! sennit_init_mpi with communicators of both forms, its errors, and MPI_Finalize before sennit_finalize. Breaks when another
! communicator is used than the one given, an argument error reaches MPI, or the duplicate is touched after MPI_Finalize.
program communicators_test
  use iso_c_binding
  use checks
  use mpi_f08
  use sennit
  use sennit_mpi
  implicit none
  type(MPI_Comm) :: reversed
  type(sennit_options) :: options
  type(sennit_bootstrap), target :: bootstrap
  integer :: status, rank, size, numbers(2), sums(2)

  call sennit_init_mpi(MPI_COMM_WORLD, stat=status)
  call check_status(status, SENNIT_ERR_STATE, 'before MPI_Init')
  call MPI_Init()
  call sennit_init_mpi(MPI_COMM_NULL, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'no communicator')
  options%bootstrap = c_loc(bootstrap)
  call sennit_init_mpi(MPI_COMM_WORLD, options, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'options with another bootstrap')

  call sennit_init_mpi(MPI_COMM_SELF%MPI_VAL)
  call check(sennit_size() == 1, 'each process is a job of its own')
  call sennit_init_mpi(MPI_COMM_WORLD)
  call check(sennit_size() == 1, 'a second call keeps the job')
  call sennit_finalize()
  call sennit_finalize()

  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed)
  options = sennit_options(thread_level=SENNIT_THREAD_MULTIPLE)
  call sennit_init_mpi(reversed, options)
  call MPI_Comm_free(reversed)
  call check(sennit_rank() == size - 1 - rank .and. sennit_size() == size, 'rank i of the communicator is world rank i')
  call check(sennit_thread_level_granted() == SENNIT_THREAD_MULTIPLE, 'the options arrive')
  numbers = [1, sennit_rank()]
  call sennit_allreduce(SENNIT_TEAM_WORLD, numbers, sums, sennit_reduction_of(2, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)
  call check(all(sums == [size, size * (size - 1) / 2]), 'the ranks reach each other')
  call MPI_Finalize()
  call sennit_finalize()
  call end_of_test()
end program communicators_test
