! The last rank calls sennit_init_mpi 30 s late. Breaks when SENNIT_INIT_TIMEOUT does not limit the wait for the duplicate of the
! communicator, as in C. MPI cannot cancel that wait, so the others leave without the last rank, which the launcher then ends.
program late_rank_test
  use iso_c_binding
  use mpi_f08
  use sennit
  use sennit_mpi
  implicit none
  interface
    function sleep(seconds) bind(C, name="sleep") result(left)
      import
      integer(c_int), value :: seconds
      integer(c_int) :: left
    end function sleep
  end interface
  integer :: rank, size, status, ignored
  real(c_double) :: start

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  if (rank == size - 1) ignored = sleep(30)
  start = sennit_wtime()
  call sennit_init_mpi(MPI_COMM_WORLD, stat=status)
  if (status == SENNIT_ERR_TIMEOUT .and. sennit_wtime() - start < 6 .and. .not. sennit_initialized() &
      .and. index(sennit_last_error_text(), 'SENNIT_INIT_TIMEOUT') > 0) then
    print '(a)', 'timed out'
    flush (6)
    stop 3
  end if
  print '(4a)', 'status ', sennit_status_string(status), ': ', sennit_last_error_text()
  error stop 1
end program late_rank_test
