! Plans from MPI calls: sennit_mpi_plan.h for Fortran. Compile it, after sennit_mpi_plan_calls.f90, with the MPI compiler of the
! program, and link sennit_mpi_plan_handles.c, compiled by the same MPI's compiler for C. If the MPI has no module mpi_f08, use
! sennit_mpi_plan_integer.f90 instead.
!
! Handles are those of mpi_f08 or integers; all handles of a call have the same form. Arguments are in the order of C; exchange and
! stat are optional. Buffers are any variables; a buffer that is not contiguous is refused.
module sennit_mpi_plan
  use iso_c_binding
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Request, MPI_BOTTOM, MPI_IN_PLACE, MPI_SUCCESS
  use sennit
  use sennit_mpi_plan_calls
  implicit none
  private
  public :: sennit_message_plan, sennit_message_plan_create, sennit_message_plan_use, sennit_message_plan_commit
  public :: sennit_message_plan_start, sennit_message_plan_wait, sennit_message_plan_test, sennit_message_plan_destroy
  public :: sennit_message_plan_twin, sennit_message_plan_open, sennit_message_plan_be_strict
  public :: sennit_plan_isend, sennit_plan_irecv, sennit_plan_sendrecv, sennit_plan_alltoall, sennit_plan_alltoallv
  public :: sennit_plan_neighbor_alltoallv

  interface sennit_message_plan_create
    procedure :: create_with_handle, create_with_integer
  end interface sennit_message_plan_create
  interface sennit_message_plan_use
    procedure :: use_handle, message_plan_use
  end interface sennit_message_plan_use
  interface sennit_plan_isend
    procedure :: isend_with_handles, plan_isend
  end interface sennit_plan_isend
  interface sennit_plan_irecv
    procedure :: irecv_with_handles, plan_irecv
  end interface sennit_plan_irecv
  interface sennit_plan_sendrecv
    procedure :: sendrecv_with_handles, plan_sendrecv
  end interface sennit_plan_sendrecv
  interface sennit_plan_alltoall
    procedure :: alltoall_with_handles, plan_alltoall
  end interface sennit_plan_alltoall
  interface sennit_plan_alltoallv
    procedure :: alltoallv_with_handles, plan_alltoallv
  end interface sennit_plan_alltoallv
  interface sennit_plan_neighbor_alltoallv
    procedure :: neighbor_alltoallv_with_handles, plan_neighbor_alltoallv
  end interface sennit_plan_neighbor_alltoallv

contains

  subroutine create_with_handle(comm, plan, stat)
    type(MPI_Comm), intent(in) :: comm
    type(sennit_message_plan), intent(inout) :: plan
    integer(c_int), optional, intent(out) :: stat
    call create_with_integer(comm%MPI_VAL, plan, stat)
  end subroutine create_with_handle

  subroutine create_with_integer(comm, plan, stat)
    integer(kind(MPI_SUCCESS)), intent(in) :: comm
    type(sennit_message_plan), intent(inout) :: plan
    integer(c_int), optional, intent(out) :: stat
    call plan_marks(MPI_BOTTOM, MPI_IN_PLACE)
    call message_plan_create(comm, plan, stat)
  end subroutine create_with_integer

  subroutine use_handle(plan, comm, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), optional, intent(out) :: stat
    call message_plan_use(plan, comm%MPI_VAL, stat)
  end subroutine use_handle

  subroutine isend_with_handles(plan, buffer, count, type, dest, tag, comm, sent, exchange, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: buffer
    integer(c_int), value :: count
    type(MPI_Datatype), intent(in) :: type
    integer(c_int), value :: dest, tag
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: sent
    type(MPI_Request), optional, intent(inout) :: exchange
    integer(c_int), optional, intent(out) :: stat
    if (present(exchange)) then
      call plan_isend(plan, buffer, count, type%MPI_VAL, dest, tag, comm%MPI_VAL, sent, exchange%MPI_VAL, stat)
    else
      call plan_isend(plan, buffer, count, type%MPI_VAL, dest, tag, comm%MPI_VAL, sent, stat=stat)
    end if
  end subroutine isend_with_handles

  subroutine irecv_with_handles(plan, buffer, count, type, source, tag, comm, arrived, exchange, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int), value :: count
    type(MPI_Datatype), intent(in) :: type
    integer(c_int), value :: source, tag
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: arrived
    type(MPI_Request), optional, intent(inout) :: exchange
    integer(c_int), optional, intent(out) :: stat
    if (present(exchange)) then
      call plan_irecv(plan, buffer, count, type%MPI_VAL, source, tag, comm%MPI_VAL, arrived, exchange%MPI_VAL, stat)
    else
      call plan_irecv(plan, buffer, count, type%MPI_VAL, source, tag, comm%MPI_VAL, arrived, stat=stat)
    end if
  end subroutine irecv_with_handles

  subroutine sendrecv_with_handles(plan, send_buffer, send_count, send_type, dest, send_tag, receive_buffer, receive_count, &
                                   receive_type, source, receive_tag, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), value :: send_count
    type(MPI_Datatype), intent(in) :: send_type
    integer(c_int), value :: dest, send_tag
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), value :: receive_count
    type(MPI_Datatype), intent(in) :: receive_type
    integer(c_int), value :: source, receive_tag
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    call plan_sendrecv(plan, send_buffer, send_count, send_type%MPI_VAL, dest, send_tag, receive_buffer, receive_count, &
                       receive_type%MPI_VAL, source, receive_tag, comm%MPI_VAL, sent, arrived, stat)
  end subroutine sendrecv_with_handles

  subroutine alltoall_with_handles(plan, send_buffer, send_count, send_type, receive_buffer, receive_count, receive_type, &
                                   comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), value :: send_count
    type(MPI_Datatype), intent(in) :: send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), value :: receive_count
    type(MPI_Datatype), intent(in) :: receive_type
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    call plan_alltoall(plan, send_buffer, send_count, send_type%MPI_VAL, receive_buffer, receive_count, receive_type%MPI_VAL, &
                       comm%MPI_VAL, sent, arrived, stat)
  end subroutine alltoall_with_handles

  subroutine alltoallv_with_handles(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, receive_counts, &
                                    receive_places, receive_type, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), intent(in) :: send_counts(*), send_places(*)
    type(MPI_Datatype), intent(in) :: send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), intent(in) :: receive_counts(*), receive_places(*)
    type(MPI_Datatype), intent(in) :: receive_type
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    call plan_alltoallv(plan, send_buffer, send_counts, send_places, send_type%MPI_VAL, receive_buffer, receive_counts, &
                        receive_places, receive_type%MPI_VAL, comm%MPI_VAL, sent, arrived, stat)
  end subroutine alltoallv_with_handles

  subroutine neighbor_alltoallv_with_handles(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, &
                                             receive_counts, receive_places, receive_type, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), intent(in) :: send_counts(*), send_places(*)
    type(MPI_Datatype), intent(in) :: send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), intent(in) :: receive_counts(*), receive_places(*)
    type(MPI_Datatype), intent(in) :: receive_type
    type(MPI_Comm), intent(in) :: comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    call plan_neighbor_alltoallv(plan, send_buffer, send_counts, send_places, send_type%MPI_VAL, receive_buffer, &
                                 receive_counts, receive_places, receive_type%MPI_VAL, comm%MPI_VAL, sent, arrived, stat)
  end subroutine neighbor_alltoallv_with_handles

end module sennit_mpi_plan
