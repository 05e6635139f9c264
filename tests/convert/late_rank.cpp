// A commit whose partner never makes the matching call, and a run whose sender starts late. Broken
// by a silent wait, or a warning at each poll.
#include <unistd.h>

#include "rank.hpp"

namespace {

// Collects this process's stderr.
class Stderr {
  public:
    Stderr() : m_saved(dup(STDERR_FILENO)), m_file(std::tmpfile()) {
        need(m_file != nullptr && dup2(fileno(m_file), STDERR_FILENO) >= 0, "no file");
    }
    Stderr(const Stderr &) = delete;
    Stderr &operator=(const Stderr &) = delete;
    ~Stderr() { (void)std::fclose(m_file); }
    // Restores stderr and returns the collected text.
    std::string text() const {
        (void)dup2(m_saved, STDERR_FILENO);
        (void)close(m_saved);
        std::rewind(m_file);
        std::string all;
        for (int c = std::fgetc(m_file); c != EOF; c = std::fgetc(m_file))
            all += static_cast<char>(c);
        return all;
    }

  private:
    int m_saved;
    std::FILE *m_file;
};

// Rank 1 starts its run after 10.7 s.
void wait_for_late_run() {
    const Plan plan(kWorld);
    int value = rank;
    if (rank == 1)
        ok(sennit_plan_isend(plan.get(), &value, 1, MPI_INT, 0, 7, kWorld, kNone, nullptr));
    else if (rank == 0)
        ok(sennit_plan_irecv(plan.get(), &value, 1, MPI_INT, 1, 7, kWorld, kNone, nullptr));
    ok(sennit_message_plan_commit(plan.get(), SENNIT_FOREVER));
    if (rank == 1) (void)usleep(10'700'000);
    ok(sennit_message_plan_start(plan.get()));
    const Stderr log;
    ok(sennit_message_plan_wait(plan.get(), SENNIT_FOREVER));
    const std::string text = log.text();
    const std::string warning =
        "sennit: rank 0: warning: sennit_message_plan_wait has waited 10 s for the message of "
        "sennit_plan_irecv from rank 1 of the communicator, tag 7: its sender has not started the "
        "run, or makes no such send\n";
    need(text == (rank == 0 ? warning : ""), "a wrong warning: " + text);
    need(value == 1, "a wrong value");
}

}  // namespace

int main(int argc, char **argv) {
    begin_mpi(&argc, &argv);
    ok(sennit_init_mpi(kWorld, nullptr));
    const int out = 1;
    {
        const Plan alone(kWorld);
        if (rank == 0) {
            const std::string begin =
                "sennit: rank 0: warning: sennit_message_plan_commit has waited 1";
            const std::string end =
                " s for the partner of sennit_plan_isend to rank 1 of the communicator, tag 9: ";
            ok(sennit_plan_isend(alone.get(), &out, 1, MPI_INT, 1, 9, kWorld, kNone, nullptr));
            const Stderr log;
            const sennit_status status = sennit_message_plan_commit(alone.get(), 11'000'000'000);
            const std::string text = log.text();
            need(status == SENNIT_ERR_TIMEOUT, "a wrong status");
            const std::size_t at = text.find(begin);
            need(at != std::string::npos, "no warning: " + text);
            need(text.find(end, at) != std::string::npos, "the warning lacks the message: " + text);
            need(text.find(begin, at + 1) == std::string::npos, "a second warning: " + text);
        }
    }
    wait_for_late_run();
    ok(sennit_finalize());
    MPI_Finalize();
    return 0;
}
