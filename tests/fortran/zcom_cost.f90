! Measures as cost.f90 does, for the four ZCom calls of a message, from this process to itself.
!     mpirun -n 1 zcom_cost [MESSAGES]
program zcom_cost
  use iso_c_binding
  use costs
  use mpi_f08
  use sennit
  use sennit_zcom
  implicit none
  procedure(loop_of_c), bind(C) :: cost_zcom
  integer(c_int), target, asynchronous :: own
  integer(c_int) :: ids(1), rank, err
  type(c_ptr) :: attached(1)
  integer(c_int64_t) :: word
  integer(c_long) :: messages

  messages = turns_asked_for()
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call ZCom_init([c_loc(own)], [c_sizeof(own)], MPI_COMM_WORLD, [rank], 1, attached, ids, err)
  if (err /= SENNIT_OK) error stop 'ZCom_init failed'
  if (rank == 0) then
    call head_of_costs()
    word = ids(1)
    call measure('ZCom', 4, cost_zcom, hand_over, SENNIT_GPTR_NULL, word, messages)
  end if
  call ZCom_cleanup(ids, 1, MPI_COMM_WORLD, err)
  call MPI_Finalize()

contains

  function hand_over(place, word, count) result(status)
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), value :: count
    integer(c_int) :: status, id, err
    integer(c_long) :: i
    status = merge(0, 1, sennit_gptr_is_null(place))
    id = int(word, c_int)
    do i = 1, count
      if (ZCom_can_write(id, err) /= 1) status = 1
      if (ZCom_have_written(id, err) /= 1) status = 1
      if (ZCom_can_read(id, err) /= 1) status = 1
      if (ZCom_have_read(id, err) /= 1) status = 1
    end do
  end function hand_over

end program zcom_cost
