// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 protocol on one connected socket: one line per request, one per answer. Owned by
// pmi1.cpp, one per process; used by one thread at a time. Invariants: between two calls nothing is
// unread, because MPI may use the same socket. After a call that did not read its complete answer
// the wire is broken, and every later call fails.
#pragma once

#include <sennit/error.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.hpp"

namespace sennit::runtime {

// An exchange: this rank, the number of ranks, and the number of the exchange for its keys.
struct Pmi1Exchange {
    int rank;
    int size;
    std::uint32_t generation;
};

// Errors of all calls: BOOTSTRAP (the launcher refused, closed or sent an invalid answer), TIMEOUT,
// OS.
class Pmi1Wire {
  public:
    explicit Pmi1Wire(int fd) : fd_(fd) {}

    // The first request after connecting to a port: sends the caller's id, gets rank and size.
    sennit_status introduce(const char *pmi_id, Deadline deadline, int *rank, int *size);

    // Starts the session. Not called on a socket on which MPI has done so.
    sennit_status initialise(Deadline deadline);

    // Gets the name of the key space and its limits. Called before allgather().
    sennit_status learn_limits(Deadline deadline);

    sennit_status barrier(Deadline deadline);

    // Each rank gives `bytes` bytes and gets those of all ranks in order. Splits data that is
    // longer than a value over several keys.
    sennit_status allgather(const Pmi1Exchange &exchange, const void *mine, void *all,
                            std::size_t bytes, Deadline deadline);

    // Ends the session: the launcher then closes the connection.
    sennit_status finalise(Deadline deadline);

    bool broken() const { return broken_; }

  private:
    static constexpr std::size_t kLineBytes = 8192;
    static constexpr std::size_t kNameBytes = 512;
    static constexpr std::size_t kValueBytesMax = 4096;

    sennit_status ask(const char *expected, Deadline deadline);
    sennit_status send_request(Deadline deadline);
    sennit_status read_line(Deadline deadline);
    sennit_status wait_for(short events, Deadline deadline);
    sennit_status break_off(sennit_status status);
    sennit_status check_result(const char *what);
    sennit_status put(const Pmi1Exchange &exchange, const unsigned char *mine, std::size_t bytes,
                      Deadline deadline);
    sennit_status get(const Pmi1Exchange &exchange, int from, unsigned char *theirs,
                      std::size_t bytes, Deadline deadline);
    bool field(std::string_view name, std::string_view *value) const;
    bool number_field(std::string_view name, long *number) const;

    int fd_;
    bool broken_ = false;
    std::size_t part_bytes_ = 0;  // bytes per value, two digits each
    char key_space_[kNameBytes] = {};
    std::size_t request_bytes_ = 0;
    std::size_t received_bytes_ = 0;  // in received_, the source of read_line()
    char request_[kLineBytes] = {};
    char received_[kLineBytes] = {};
    char line_[kLineBytes] = {};  // the current answer without its newline
};

}  // namespace sennit::runtime
