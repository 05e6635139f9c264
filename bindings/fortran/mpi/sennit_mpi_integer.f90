! Module sennit_mpi, as in sennit_mpi.f90, for an MPI without module mpi_f08: communicators are integers.
module sennit_mpi
  use iso_c_binding
  use sennit
  use sennit_mpi_bootstrap
  implicit none
  private
  public :: sennit_init_mpi

contains

  subroutine sennit_init_mpi(comm, options, stat)
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
  end subroutine sennit_init_mpi

end module sennit_mpi
