// The kernels with Sennit.
#include "versions/versions.hpp"

#include "common/sennit_ranks.hpp"

int main(int argc, char **argv) {
    return apps::run_with_sennit("kernels", [&] {
        apps::SennitRanks ranks;
        const kernels::Versions versions{
            .daxpy = {{"sennit", kernels::daxpy_sennit},
                      {"sennit-pipelined", kernels::daxpy_sennit_pipelined}},
            .cannon = {{"sennit", kernels::cannon_sennit},
                       {"sennit-notified", kernels::cannon_sennit_notified}},
            .summa = {{"sennit", kernels::summa_sennit}},
            .sort = {{"sennit", kernels::sort_sennit}}};
        return kernels::run(ranks, versions, argc, argv);
    });
}
