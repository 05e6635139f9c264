! Starts Sennit on a communicator of any MPI: sennit_mpi.h for Fortran. Compile it, after sennit_mpi_bootstrap.f90, with the MPI
! compiler of the program. If the MPI has no module mpi_f08, use sennit_mpi_integer.f90 instead.
!
!   call sennit_init_mpi(comm [, options] [, stat])
! comm is of type(MPI_Comm) or an integer; its rank i becomes world rank i. Collective over comm, after MPI_Init.
! <sennit/sennit_mpi.h> has the details.
module sennit_mpi
  use iso_c_binding
  use mpi_f08, only: MPI_Comm
  use sennit
  use sennit_mpi_bootstrap
  implicit none
  private
  public :: sennit_init_mpi

  interface sennit_init_mpi
    module procedure init_with_handle, init_with_integer
  end interface sennit_init_mpi

contains

  subroutine init_with_handle(comm, options, stat)
    type(MPI_Comm), intent(in) :: comm
    type(sennit_options), optional, intent(in) :: options
    integer(c_int), optional, intent(out) :: stat
    call init_with_integer(comm%MPI_VAL, options, stat)
  end subroutine init_with_handle

  subroutine init_with_integer(comm, options, stat)
    integer(mpi_kind), intent(in) :: comm
    type(sennit_options), optional, intent(in) :: options
    integer(c_int), optional, intent(out) :: stat
    integer(c_int) :: status
    call sennit_mpi_start(comm, options, status)
    if (present(stat)) then
      stat = status
    else if (status /= SENNIT_OK) then
      error stop 'sennit_init_mpi: ' // sennit_status_string(status) // ': ' // sennit_last_error_text()
    end if
  end subroutine init_with_integer

end module sennit_mpi
