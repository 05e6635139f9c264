! The Fortran side of tests/channel/zcom_rank.c: the errors of the ZCom calls, the order of arguments as in C, communicators of both
! forms, and repeated starts, each as good as the first. Breaks when an error is not in err, a failing call writes something, a
! target is taken for a rank of another communicator, or a start is not undone.
program zcom_test
  use iso_c_binding
  use checks
  use mpi_f08
  use sennit
  use sennit_mpi
  use sennit_zcom
  implicit none
  integer :: rank, ranks, turn

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call targets_that_do_not_exist(ranks)
  call targets_that_do_not_exist(-1)
  ! Only rank 0 is wrong: the others must not wait for it.
  call targets_that_do_not_exist(merge(ranks, 0, rank == 0))
  do turn = 1, 4
    ! If Sennit already runs on MPI_COMM_WORLD, its ranks differ from those of the communicator.
    if (turn > 2) call sennit_init_mpi(MPI_COMM_WORLD)
    call a_ring_of_another_communicator(mod(turn, 2) == 0)
    call check(sennit_initialized() .eqv. turn > 2, 'ZCom ends Sennit only if it has started Sennit')
    if (turn > 2) call sennit_finalize()
  end do
  call MPI_Finalize()
  call end_of_test()

contains

  ! All ranks name a target that does not exist, or only rank 0 does: no rank waits.
  subroutine targets_that_do_not_exist(no_rank)
    integer, intent(in) :: no_rank
    integer(c_int), target :: word
    type(c_ptr) :: theirs(1)
    integer(c_int) :: ids(1), err
    type(sennit_error) :: error
    theirs = c_loc(word)
    ids = 55
    call ZCom_init([c_loc(word)], [4_c_size_t], MPI_COMM_WORLD, [no_rank], 1, theirs, ids, err)
    call check_status(err, SENNIT_ERR_RANGE, 'a target that does not exist')
    error = sennit_last_error()
    call check(error%status == SENNIT_ERR_RANGE, 'the last error is that of ZCom_init')
    call check(ids(1) == 55 .and. c_associated(theirs(1), c_loc(word)), 'nothing is written')
    call check(.not. sennit_initialized(), 'ZCom has ended Sennit')
  end subroutine targets_that_do_not_exist

  subroutine ids_that_do_not_exist()
    integer(c_int), parameter :: ids(4) = [0, -1, 1, huge(0)]
    integer(c_int) :: err(4)
    integer :: i
    do i = 1, size(ids)
      err = 0
      call check(ZCom_can_write(ids(i), err(1)) == 0, 'can_write of no id')
      call check(ZCom_can_read(ids(i), err(2)) == 0, 'can_read of no id')
      call check(ZCom_have_written(ids(i), err(3)) == 0, 'have_written of no id')
      call check(ZCom_have_read(ids(i), err(4)) == 0, 'have_read of no id')
      call check(all(err == SENNIT_ERR_ARG), 'an id that does not exist gives SENNIT_ERR_ARG')
      call check(ZCom_have_read(ids(i)) == 0, 'err may be absent')
    end do
  end subroutine ids_that_do_not_exist

  ! A ring in a communicator with the ranks in reverse order. A number in each buffer identifies it.
  subroutine a_ring_of_another_communicator(with_integer)
    logical, intent(in) :: with_integer
    integer(c_int), target :: own(2, 2)
    integer(c_int), pointer :: theirs(:)
    type(MPI_Comm) :: backwards
    type(c_ptr) :: buffers(2), attached(2)
    integer(c_int) :: targets(2), ids(2), err
    integer :: here, back
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, backwards)
    call MPI_Comm_rank(backwards, here)
    targets = [modulo(here + 1, ranks), modulo(here - 1, ranks)]
    back = merge(2, 1, ranks > 2)
    buffers = [c_loc(own(1, 1)), c_loc(own(1, 2))]
    err = -1
    if (with_integer) then
      call ZCom_init(buffers, [8_c_size_t, 8_c_size_t], backwards%MPI_VAL, targets, 2, attached, ids, err)
    else
      call ZCom_init(buffers, [8_c_size_t, 8_c_size_t], backwards, targets, 2, attached, ids, err)
    end if
    call check_status(err, SENNIT_OK, 'ZCom_init')
    call ids_that_do_not_exist()
    call check(ZCom_have_read(ids(1), err) == 0, 'have_read without a message returns 0')
    call check_status(err, SENNIT_ERR_STATE, 'have_read without a message gives SENNIT_ERR_STATE')
    call MPI_Barrier(MPI_COMM_WORLD)
    own(:, 1) = [1000 + here, -here]
    call check(ZCom_can_write(ids(1), err) == 1, 'the first message may be written')
    call check_status(err, SENNIT_OK, 'the call gives SENNIT_OK')
    call check(ZCom_have_written(ids(1), err) == 1, 'the first message is written')
    call check_status(err, SENNIT_OK, 'the call gives SENNIT_OK')
    do while (ZCom_can_read(ids(back), err) == 0)
      call check_status(err, SENNIT_OK, 'ZCom_can_read')
      if (err /= 0) exit
    end do
    call c_f_pointer(attached(back), theirs, [2])
    call check(all(theirs == [1000 + targets(2), -targets(2)]), 'the numbers of the previous rank')
    call check(ZCom_have_read(ids(back), err) == 1, 'the message is read')
    call check_status(err, SENNIT_OK, 'the call gives SENNIT_OK')
    if (with_integer) then
      call ZCom_cleanup(ids, 2, backwards%MPI_VAL, err)
    else
      call ZCom_cleanup(ids, 2, backwards, err)
    end if
    call check_status(err, SENNIT_OK, 'ZCom_cleanup')
    call MPI_Comm_free(backwards)
  end subroutine a_ring_of_another_communicator

end program zcom_test
