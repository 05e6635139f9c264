// Errors that need an artificial fault: a datatype of an unknown kind, and a block that cannot be
// attached. This program replaces the functions that the headers call. Broken by an error that does
// not name its message, or an unknown datatype that is read as a known one.
#include "rank.hpp"

extern "C" {

// Makes contiguous types a kind that Sennit does not know.
int MPI_Type_get_envelope(MPI_Datatype type, int *numbers, int *places, int *types, int *combiner) {
    const int code = PMPI_Type_get_envelope(type, numbers, places, types, combiner);
    if (*combiner == MPI_COMBINER_CONTIGUOUS) *combiner = 0x5e2217;
    return code;
}

sennit_status sennit_block_attach(const sennit_block *, sennit_peer_block *) {
    return sennit_error_report(SENNIT_ERR_NOMEM, "sennit_block_attach", "no room", 5);
}

}  // extern "C"

namespace {

// Calls refuse the datatype, also inside another datatype.
void an_unknown_datatype_is_refused() {
    double memory[8] = {};
    MPI_Datatype strange = MPI_DATATYPE_NULL;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_DOUBLE, &strange);
    MPI_Type_vector(2, 1, 2, strange, &outer);
    const Plan plan(kWorld);
    const int other = (rank + 1) % size;
    const std::string message = " rank " + std::to_string(other) +
                                " of the communicator, tag 3: a datatype that cannot be read";
    for (const MPI_Datatype type : {strange, outer}) {
        refused(sennit_plan_irecv(plan.get(), memory, 1, type, other, 3, kWorld, kNone, nullptr),
                SENNIT_ERR_UNSUPPORTED, ("sennit_plan_irecv from" + message).c_str());
        named("sennit_plan_irecv");
        refused(sennit_plan_isend(plan.get(), memory, 1, type, other, 3, kWorld, kNone, nullptr),
                SENNIT_ERR_UNSUPPORTED, ("sennit_plan_isend to" + message).c_str());
    }
    refused(sennit_plan_alltoall(plan.get(), memory, 1, outer, memory + 4, 1, MPI_DOUBLE, kWorld,
                                 kNone, kNone),
            SENNIT_ERR_UNSUPPORTED, "sennit_plan_alltoall to rank 0 of the communicator, tag 0: ");
    MPI_Type_free(&outer);
    MPI_Type_free(&strange);
}

// The sender's commit reports the block.
void a_block_that_can_not_be_attached_is_named() {
    double memory[2] = {};
    const Plan plan(kWorld);
    if (rank == 0)
        ok(sennit_plan_isend(plan.get(), memory, 1, MPI_DOUBLE, 1, 7, kWorld, kNone, nullptr));
    if (rank == 1)
        ok(sennit_plan_irecv(plan.get(), memory, 1, MPI_DOUBLE, 0, 7, kWorld, kNone, nullptr));
    if (rank != 0) return plan.commit();
    refused(sennit_message_plan_commit(plan.get(), kTimeNs), SENNIT_ERR_NOMEM,
            "sennit_plan_isend to rank 1 of the communicator, tag 7: no room");
    named("sennit_message_plan_commit");
    need(sennit_last_error()->provider_code == 5, "another code");
    refused(sennit_message_plan_start(plan.get()), SENNIT_ERR_STATE, "can only be destroyed");
}

}  // namespace

int main(int argc, char **argv) {
    begin_mpi(&argc, &argv);
    ok(sennit_init_mpi(kWorld, nullptr));
    an_unknown_datatype_is_refused();
    a_block_that_can_not_be_attached_is_named();
    ok(sennit_finalize());
    MPI_Finalize();
    return 0;
}
