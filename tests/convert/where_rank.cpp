// `sennit trace where` names the message that a message plan waits for, in commit and in a run.
// Ranks' notes name the message, since these calls are not part of the library. Rank 1 reads the
// trace of rank 0 while rank 0 waits for it. Broken by "in no call", or by a signal alone.
//     where_rank SENNIT FILE    FILE: the value of SENNIT_TRACE, with %r
#include <cstdlib>

#include <unistd.h>

#include "rank.hpp"

namespace {

// The command that shows rank 0's call.
std::string ask;

std::string answer() {
    std::string all;
    std::FILE *const out = popen(ask.c_str(), "r");
    need(out != nullptr, "no process");
    for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out))
        all += static_cast<char>(c);
    (void)pclose(out);
    return all;
}

// On rank 1: waits until rank 0's note is `wanted`.
void expect_note(const std::string &wanted) {
    std::string seen;
    for (int i = 0; i < 400; ++i) {
        seen = answer();
        if (seen.find("  " + wanted + "\n") != std::string::npos) return;
        (void)usleep(50'000);
    }
    need(false, "not there: " + wanted + "; but: " + seen);
}

}  // namespace

int main(int argc, char **argv) {
    need(argc == 3, "two arguments are needed");
    const std::string file = argv[2];
    const std::size_t place = file.find("%r");
    need(place != std::string::npos, "FILE has no %r");
    ask = std::string(argv[1]) + " trace where " + file.substr(0, place) + "0" +
          file.substr(place + 2) + ".0.part 2>&1";
    (void)setenv("SENNIT_TRACE", argv[2], 1);
    begin_mpi(&argc, &argv);
    ok(sennit_init_mpi(kWorld, nullptr));
    {
        const Plan plan(kWorld);
        const int other = 1 - rank;
        const int out = rank;
        int in = -1;
        if (rank == 1)
            expect_note(
                "in sennit_message_plan_commit: sennit_plan_isend to rank 1 of the communicator, "
                "tag 7: that rank has not made a call that matches");
        ok(sennit_plan_irecv(plan.get(), &in, 1, MPI_INT, other, 7, kWorld, kNone, nullptr));
        ok(sennit_plan_isend(plan.get(), &out, 1, MPI_INT, other, 7, kWorld, kNone, nullptr));
        ok(sennit_message_plan_commit(plan.get(), SENNIT_FOREVER));
        if (rank == 1)
            expect_note(
                "in sennit_message_plan_wait: sennit_plan_isend to rank 1 of the communicator, tag "
                "7: the rank that is sent to has not started its run");
        ok(sennit_message_plan_open(plan.get()));
        if (rank == 1)
            expect_note(
                "in sennit_message_plan_wait: sennit_plan_irecv from rank 1 of the communicator, "
                "tag 7: its sender has not started the run, or makes no such send");
        ok(sennit_message_plan_start(plan.get()));
        ok(sennit_message_plan_wait(plan.get(), SENNIT_FOREVER));
        need(in == other, "a wrong value");
        if (rank == 1) need(answer().find("  in sennit_message") == std::string::npos, "old note");
        MPI_Barrier(kWorld);
    }
    ok(sennit_finalize());
    MPI_Finalize();
    return 0;
}
