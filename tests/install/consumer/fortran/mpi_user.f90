! A Fortran program with MPI, as another project might write it: each rank of a communicator puts its number into the memory of the
! next rank. With "use mpi" instead of mpi_f08 it is a program for sennit_mpi_integer.f90.
program mpi_user
  use iso_c_binding
  use mpi_f08
  use sennit
  use sennit_mpi
  implicit none
  type(sennit_gptr) :: box
  integer(c_int), pointer :: mine
  integer(c_int) :: rank, size
  integer :: code
  call MPI_Init(code)
  call sennit_init_mpi(MPI_COMM_WORLD)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, box)
  call sennit_put(sennit_gptr_at(box, modulo(rank + 1, size)), rank, c_sizeof(rank))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_pointer(box, mine)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ' found ', mine
  call sennit_free(box)
  call sennit_finalize()
  call MPI_Finalize(code)
end program mpi_user
