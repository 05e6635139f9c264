! Sennit beside MPI: the ranks of a communicator, and one exchange by both.
!     mpirun -n 4 mpi_hello
program mpi_hello
  use iso_c_binding
  use mpi_f08
  use must
  use sennit
  use sennit_mpi
  implicit none
  type(sennit_gptr) :: mine
  integer(c_int) :: rank, size, next, previous, by_sennit, by_mpi, world_rank

  ! snippet: start
  call MPI_Init()
  call sennit_init_mpi(MPI_COMM_WORLD)
  ! end of snippet
  rank = sennit_rank()
  size = sennit_size()
  next = modulo(rank + 1, size)
  previous = modulo(rank - 1, size)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank)
  call must_be(rank == world_rank, 'rank i of the communicator is world rank i')

  by_mpi = -1
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 0, by_mpi, 1, MPI_INTEGER, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, mine)
  call sennit_put(sennit_gptr_at(mine, next), rank, c_sizeof(rank))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  by_sennit = -2
  call sennit_get(by_sennit, mine, c_sizeof(by_sennit))
  call must_be(by_sennit == by_mpi, 'MPI and Sennit brought the same')

  if (rank == 0) print '(i0,2a)', size, ' ranks of MPI, started by ', sennit_bootstrap_used()
  call sennit_free(mine)
  call sennit_finalize()
  call MPI_Finalize()
end program mpi_hello
