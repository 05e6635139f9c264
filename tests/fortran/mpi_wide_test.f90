! The modules for MPI in a program whose default integers have 8 bytes, compiled together by -fdefault-integer-8. Breaks when a
! module uses a default integer where MPI or C has 4 bytes. Two ranks.
program wide_integers_test
  use iso_c_binding
  use checks
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_mpi_plan
  use sennit_zcom
  implicit none
  integer(c_int) :: rank, size, other, status, sums(1)
  logical(4) :: is_over
  type(MPI_Comm) :: reversed
  call check(kind(1) == 8, 'default integers have 8 bytes')
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  other = 1_c_int - rank
  call MPI_Comm_split(MPI_COMM_WORLD, 0_c_int, -rank, reversed)
  call sennit_init_mpi(MPI_COMM_NULL%MPI_VAL, stat=status)
  call check_status(status, SENNIT_ERR_ARG, 'no communicator')
  call sennit_init_mpi(reversed)
  call check(sennit_rank() == size - 1 - rank .and. sennit_size() == size, 'rank i of the communicator is world rank i')
  call sennit_allreduce(SENNIT_TEAM_WORLD, [rank], sums, sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER)
  call check(sums(1) == 1, 'the ranks reach each other')
  call a_plan_moves_a_number()
  call sennit_finalize()
  call a_number_goes_to_the_other()
  call MPI_Comm_free(reversed)
  call MPI_Finalize()
  call end_of_test()

contains

  subroutine a_plan_moves_a_number()
    type(sennit_message_plan) :: plan
    type(MPI_Request) :: request
    integer, asynchronous :: mine, theirs
    mine = 5000000000_8 + rank
    call sennit_message_plan_create(MPI_COMM_WORLD, plan)
    call sennit_plan_irecv(plan, theirs, 1_c_int, MPI_INTEGER8, other, 0_c_int, MPI_COMM_WORLD, SENNIT_SIGNAL_NULL, request)
    call sennit_plan_isend(plan, mine, 1_c_int, MPI_INTEGER8%MPI_VAL, other, 0_c_int, MPI_COMM_WORLD%MPI_VAL, &
                           SENNIT_SIGNAL_NULL)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call sennit_message_plan_commit(plan, SENNIT_FOREVER)
    call sennit_message_plan_start(plan)
    is_over = .false.
    do while (.not. is_over)
      call sennit_message_plan_test(plan, is_over)
    end do
    call check(theirs == 5000000001_8 - rank, 'the plan moves the number of the other rank')
    call MPI_Barrier(MPI_COMM_WORLD)
    call sennit_message_plan_destroy(plan)
  end subroutine a_plan_moves_a_number

  subroutine a_number_goes_to_the_other()
    integer(c_int), target :: own
    integer(c_int), pointer :: theirs
    type(c_ptr) :: attached(1)
    integer(c_int) :: ids(1), err
    call ZCom_init([c_loc(own)], [c_sizeof(own)], reversed, [rank], 1_c_int, attached, ids, err)
    call check_status(err, SENNIT_OK, 'ZCom_init')
    own = 70_c_int + rank
    call check(ZCom_have_written(ids(1)) == 1, 'a number is written')
    do while (ZCom_can_read(ids(1), err) == 0 .and. err == SENNIT_OK)
    end do
    call c_f_pointer(attached(1), theirs)
    call check(theirs == 71 - rank, 'ZCom shows the number of the other rank')
    call check(ZCom_have_read(ids(1)) == 1, 'the number is read')
    call ZCom_cleanup(ids, 1_c_int, reversed%MPI_VAL, err)
    call check_status(err, SENNIT_OK, 'ZCom_cleanup')
  end subroutine a_number_goes_to_the_other

end program wide_integers_test
