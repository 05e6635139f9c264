/* Plans from MPI calls for Fortran: the calls of sennit_mpi_plan.h with Fortran's handles, which
 * only the program's own MPI can convert to those of C. So this file is compiled by the C compiler
 * of that MPI. Only module sennit_mpi_plan_calls calls these functions.
 */
#include <sennit/sennit_mpi_plan.h>

/* MPI_IN_PLACE of C. */
const void *sennit_message_plan_in_place_f(void) {
    return MPI_IN_PLACE;
}

sennit_status sennit_message_plan_create_f(MPI_Fint comm, sennit_message_plan **plan) {
    return sennit_message_plan_create(MPI_Comm_f2c(comm), plan);
}

sennit_status sennit_message_plan_use_f(sennit_message_plan *plan, MPI_Fint comm) {
    return sennit_message_plan_use(plan, MPI_Comm_f2c(comm));
}

sennit_status sennit_message_plan_commit_f(sennit_message_plan *plan, int64_t timeout_ns) {
    return sennit_message_plan_commit(plan, timeout_ns);
}

sennit_status sennit_message_plan_twin_f(sennit_message_plan *plan, const void *first,
                                         const void *second, size_t bytes,
                                         sennit_message_plan **twin) {
    return sennit_message_plan_twin(plan, first, second, bytes, twin);
}

sennit_status sennit_message_plan_open_f(sennit_message_plan *plan) {
    return sennit_message_plan_open(plan);
}

sennit_status sennit_message_plan_be_strict_f(sennit_message_plan *plan) {
    return sennit_message_plan_be_strict(plan);
}

sennit_status sennit_message_plan_start_f(sennit_message_plan *plan) {
    return sennit_message_plan_start(plan);
}

sennit_status sennit_message_plan_wait_f(sennit_message_plan *plan, int64_t timeout_ns) {
    return sennit_message_plan_wait(plan, timeout_ns);
}

sennit_status sennit_message_plan_test_f(sennit_message_plan *plan, int *is_over) {
    return sennit_message_plan_test(plan, is_over);
}

/* Sets the variable to null if the plan was destroyed, so that a second destroy is an error. */
sennit_status sennit_message_plan_destroy_f(sennit_message_plan **plan) {
    sennit_message_plan *const ended = *plan;
    if (ended == NULL || !ended->is_running) *plan = NULL;
    return sennit_message_plan_destroy(ended);
}

/* Converts the request that a call has made to a handle of Fortran. */
static sennit_status end_of_exchange(sennit_status status, MPI_Request request,
                                     MPI_Fint *exchange) {
    if (exchange != NULL) *exchange = MPI_Request_c2f(request);
    return status;
}

sennit_status sennit_plan_isend_f(sennit_message_plan *plan, const void *buffer, int count,
                                  MPI_Fint type, int dest, int tag, MPI_Fint comm,
                                  sennit_signal sent, MPI_Fint *exchange) {
    MPI_Request request = MPI_REQUEST_NULL;
    const sennit_status status =
        sennit_plan_isend(plan, buffer, count, MPI_Type_f2c(type), dest, tag, MPI_Comm_f2c(comm),
                          sent, exchange == NULL ? NULL : &request);
    return end_of_exchange(status, request, exchange);
}

sennit_status sennit_plan_irecv_f(sennit_message_plan *plan, void *buffer, int count, MPI_Fint type,
                                  int source, int tag, MPI_Fint comm, sennit_signal arrived,
                                  MPI_Fint *exchange) {
    MPI_Request request = MPI_REQUEST_NULL;
    const sennit_status status =
        sennit_plan_irecv(plan, buffer, count, MPI_Type_f2c(type), source, tag, MPI_Comm_f2c(comm),
                          arrived, exchange == NULL ? NULL : &request);
    return end_of_exchange(status, request, exchange);
}

sennit_status sennit_plan_sendrecv_f(sennit_message_plan *plan, const void *send_buffer,
                                     int send_count, MPI_Fint send_type, int dest, int send_tag,
                                     void *receive_buffer, int receive_count, MPI_Fint receive_type,
                                     int source, int receive_tag, MPI_Fint comm, sennit_signal sent,
                                     sennit_signal arrived) {
    return sennit_plan_sendrecv(plan, send_buffer, send_count, MPI_Type_f2c(send_type), dest,
                                send_tag, receive_buffer, receive_count, MPI_Type_f2c(receive_type),
                                source, receive_tag, MPI_Comm_f2c(comm), sent, arrived);
}

sennit_status sennit_plan_alltoall_f(sennit_message_plan *plan, const void *send_buffer,
                                     int send_count, MPI_Fint send_type, void *receive_buffer,
                                     int receive_count, MPI_Fint receive_type, MPI_Fint comm,
                                     sennit_signal sent, sennit_signal arrived) {
    return sennit_plan_alltoall(plan, send_buffer, send_count, MPI_Type_f2c(send_type),
                                receive_buffer, receive_count, MPI_Type_f2c(receive_type),
                                MPI_Comm_f2c(comm), sent, arrived);
}

sennit_status sennit_plan_alltoallv_f(sennit_message_plan *plan, const void *send_buffer,
                                      const int send_counts[], const int send_places[],
                                      MPI_Fint send_type, void *receive_buffer,
                                      const int receive_counts[], const int receive_places[],
                                      MPI_Fint receive_type, MPI_Fint comm, sennit_signal sent,
                                      sennit_signal arrived) {
    return sennit_plan_alltoallv(plan, send_buffer, send_counts, send_places,
                                 MPI_Type_f2c(send_type), receive_buffer, receive_counts,
                                 receive_places, MPI_Type_f2c(receive_type), MPI_Comm_f2c(comm),
                                 sent, arrived);
}

sennit_status sennit_plan_neighbor_alltoallv_f(sennit_message_plan *plan, const void *send_buffer,
                                               const int send_counts[], const int send_places[],
                                               MPI_Fint send_type, void *receive_buffer,
                                               const int receive_counts[],
                                               const int receive_places[], MPI_Fint receive_type,
                                               MPI_Fint comm, sennit_signal sent,
                                               sennit_signal arrived) {
    return sennit_plan_neighbor_alltoallv(plan, send_buffer, send_counts, send_places,
                                          MPI_Type_f2c(send_type), receive_buffer, receive_counts,
                                          receive_places, MPI_Type_f2c(receive_type),
                                          MPI_Comm_f2c(comm), sent, arrived);
}
