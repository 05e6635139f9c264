! Module sennit_zcom, as in sennit_zcom.f90, for an MPI without module mpi_f08: communicators are integers.
module sennit_zcom
  use sennit_zcom_calls, only: ZCom_init => zcom_open, ZCom_cleanup => zcom_close, ZCom_can_write, ZCom_have_written, &
                               ZCom_can_read, ZCom_have_read
  implicit none
  public
end module sennit_zcom
