! The six calls of ZCom by their names: sennit_zcom.h for Fortran. Compile it, after sennit_mpi_bootstrap.f90 and
! sennit_zcom_calls.f90, with the MPI compiler of the program. If the MPI has no module mpi_f08, use sennit_zcom_integer.f90
! instead.
!
!   call ZCom_init(buffers, sizes, comm, target_ranks, num_targets, attached, ids [, err])
!   ZCom_can_write(id [, err])   ZCom_have_written(id [, err])   ZCom_can_read(id [, err])   ZCom_have_read(id [, err])
!   call ZCom_cleanup(ids, num_targets, comm [, err])
! comm is of type(MPI_Comm) or an integer; buffers and attached are arrays of type(c_ptr). Arguments are in the order of C, and
! the four functions return 1 or 0 as in C. err becomes 0 or a status of Sennit. Channels are closed by the language that opened
! them.
module sennit_zcom
  use iso_c_binding
  use mpi_f08, only: MPI_Comm
  use sennit_zcom_calls
  implicit none
  private
  public :: ZCom_init, ZCom_can_write, ZCom_have_written, ZCom_can_read, ZCom_have_read, ZCom_cleanup

  interface ZCom_init
    procedure :: open_with_handle, zcom_open
  end interface ZCom_init
  interface ZCom_cleanup
    procedure :: close_with_handle, zcom_close
  end interface ZCom_cleanup

contains

  subroutine open_with_handle(buffers, sizes, comm, target_ranks, num_targets, attached, ids, err)
    type(c_ptr), target, intent(in) :: buffers(*)
    integer(c_size_t), target, intent(in) :: sizes(*)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: target_ranks(*)
    integer(c_int), value :: num_targets
    type(c_ptr), intent(inout) :: attached(*)
    integer(c_int), intent(inout) :: ids(*)
    integer(c_int), optional, intent(out) :: err
    call zcom_open(buffers, sizes, comm%MPI_VAL, target_ranks, num_targets, attached, ids, err)
  end subroutine open_with_handle

  subroutine close_with_handle(ids, num_targets, comm, err)
    integer(c_int), intent(in) :: ids(*)
    integer(c_int), value :: num_targets
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), optional, intent(out) :: err
    call zcom_close(ids, num_targets, comm%MPI_VAL, err)
  end subroutine close_with_handle

end module sennit_zcom
