! Module sennit_mpi_plan, as in sennit_mpi_plan.f90, for an MPI without module mpi_f08: handles are integers.
module sennit_mpi_plan
  use sennit_mpi_plan_calls, only: sennit_message_plan, sennit_message_plan_create => message_plan_create, &
                                   sennit_message_plan_use => message_plan_use, sennit_message_plan_commit, &
                                   sennit_message_plan_start, sennit_message_plan_wait, sennit_message_plan_test, &
                                   sennit_message_plan_destroy, sennit_message_plan_twin, sennit_message_plan_open, &
                                   sennit_message_plan_be_strict, sennit_plan_isend => plan_isend, &
                                   sennit_plan_irecv => plan_irecv, sennit_plan_sendrecv => plan_sendrecv, &
                                   sennit_plan_alltoall => plan_alltoall, sennit_plan_alltoallv => plan_alltoallv, &
                                   sennit_plan_neighbor_alltoallv => plan_neighbor_alltoallv
  implicit none
  public
end module sennit_mpi_plan
