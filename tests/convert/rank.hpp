// Helpers for the programs of this folder: the rank, checks that end the job, and a plan.
#pragma once

#include <mpi.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

constexpr std::int64_t kTimeNs = 20'000'000'000;
const MPI_Comm kWorld = MPI_COMM_WORLD;
const sennit_signal kNone = SENNIT_SIGNAL_NULL;

inline int rank = 0;
inline int size = 0;

inline void begin_mpi(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(kWorld, &rank);
    MPI_Comm_size(kWorld, &size);
}

inline void need(bool holds, const std::string &what) {
    if (holds) return;
    std::fprintf(stderr, "rank %d: %s: %s\n", rank, what.c_str(), sennit_last_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

inline void ok(sennit_status status) {
    need(status == SENNIT_OK, "an error");
}

// Checks the status, and that the last error's text contains `word`.
inline void refused(sennit_status status, sennit_status wanted, const char *word) {
    need(status == wanted, std::string("a wrong status for ") + word);
    need(std::strstr(sennit_last_error()->text, word) != nullptr, std::string("no text ") + word);
}

// Checks that the last error names this call.
inline void named(const char *call) {
    const char *const operation = sennit_last_error()->operation;
    need(std::strcmp(operation, call) == 0, std::string(operation) + " is named, not " + call);
}

class Plan {
  public:
    explicit Plan(MPI_Comm comm) { ok(sennit_message_plan_create(comm, &m_plan)); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan() {
        MPI_Barrier(kWorld);
        ok(sennit_message_plan_destroy(m_plan));
    }
    sennit_message_plan *get() const { return m_plan; }
    void commit() const { ok(sennit_message_plan_commit(m_plan, kTimeNs)); }
    void run() const {
        ok(sennit_message_plan_start(m_plan));
        ok(sennit_message_plan_wait(m_plan, kTimeNs));
    }

  private:
    sennit_message_plan *m_plan = nullptr;
};

inline std::vector<int> numbers(std::size_t count, int first) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = first + static_cast<int>(i);
    return values;
}
