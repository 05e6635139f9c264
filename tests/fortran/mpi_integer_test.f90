! Module sennit_mpi of an MPI without mpi_f08: communicators are integers. Breaks when that source is not kept with the other.
program integer_communicators_test
  use iso_c_binding
  use checks
  use mpi
  use sennit
  use sennit_mpi
  implicit none
  integer :: reversed, status, code, rank, size
  call sennit_init_mpi(MPI_COMM_WORLD, stat=status)
  call check_status(status, SENNIT_ERR_STATE, 'before MPI_Init')
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed, code)
  call sennit_init_mpi(reversed)
  call check(sennit_rank() == size - 1 - rank .and. sennit_size() == size, 'rank i of the communicator is world rank i')
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_finalize()
  call MPI_Comm_free(reversed, code)
  call MPI_Finalize(code)
  call end_of_test()
end program integer_communicators_test
