! Modules sennit_mpi and sennit_zcom for an MPI without mpi_f08, where communicators are integers. Breaks when these sources are not
! kept up to date with the others. Two ranks.
program integer_communicators_test
  use iso_c_binding
  use checks
  use mpi
  use sennit
  use sennit_mpi
  use sennit_zcom
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
  call a_number_goes_to_the_other()
  call MPI_Comm_free(reversed, code)
  call MPI_Finalize(code)
  call end_of_test()

contains

  subroutine a_number_goes_to_the_other()
    integer(c_int), target :: own
    integer(c_int), pointer :: theirs
    type(c_ptr) :: attached(1)
    integer(c_int) :: ids(1), err
    call ZCom_init([c_loc(own)], [c_sizeof(own)], reversed, [rank], 1, attached, ids, err)
    call check_status(err, SENNIT_OK, 'ZCom_init')
    own = 70 + rank
    call check(ZCom_can_write(ids(1)) == 1, 'a number may be written')
    call check(ZCom_have_written(ids(1)) == 1, 'a number is written')
    do while (ZCom_can_read(ids(1), err) == 0)
      call check_status(err, SENNIT_OK, 'ZCom_can_read')
      if (err /= 0) exit
    end do
    call c_f_pointer(attached(1), theirs)
    call check(theirs == 71 - rank, 'the number of the other rank')
    call check(ZCom_have_read(ids(1)) == 1, 'the number is read')
    call ZCom_cleanup(ids, 1, reversed, err)
    call check_status(err, SENNIT_OK, 'ZCom_cleanup')
  end subroutine a_number_goes_to_the_other

end program integer_communicators_test
