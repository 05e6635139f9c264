! Stage 1: a halo exchange by MPI only, as in a program without Sennit.
!     mpirun -n 4 1_mpi
program stage
  use field
  use mpi_f08
  implicit none
  type(MPI_Request) :: all(8)
  integer :: step, now
  call MPI_Init()
  call make_field()
  do step = 0, steps - 1
    now = modulo(step, 2)
    call MPI_Irecv(u(0, 1, now), 1, row, up, 0, comm, all(1))
    call MPI_Isend(u(rows, 1, now), 1, row, down, 0, comm, all(2))
    call MPI_Irecv(u(rows + 1, 1, now), 1, row, down, 1, comm, all(3))
    call MPI_Isend(u(1, 1, now), 1, row, up, 1, comm, all(4))
    call MPI_Irecv(u(1, 0, now), rows, MPI_DOUBLE_PRECISION, left, 2, comm, all(5))
    call MPI_Isend(u(1, columns, now), rows, MPI_DOUBLE_PRECISION, right, 2, comm, all(6))
    call MPI_Irecv(u(1, columns + 1, now), rows, MPI_DOUBLE_PRECISION, right, 3, comm, all(7))
    call MPI_Isend(u(1, 1, now), rows, MPI_DOUBLE_PRECISION, left, 3, comm, all(8))
    call MPI_Waitall(8, all, MPI_STATUSES_IGNORE)
    call compute(u(:, :, now), u(:, :, 1 - now))
  end do
  call check_and_free()
  call MPI_Finalize()
end program stage
