// flow with Sennit. The differences from MPI are in sennit_calls.hpp.
#include "run.hpp"
#include "sennit_calls.hpp"

int main(int argc, char **argv) {
    return apps::run_with_mpi("flow", &argc, &argv, [&] {
        flow::Calls exchange;
        return flow::run(exchange, argc, argv);
    });
}
