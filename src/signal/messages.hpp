// The steps by which messages look at a signal's record and count an event: what count.cpp does one
// after the other, and batch.cpp for many events at a time. Each start_ has its operands and its
// answer in variables that nobody lends (op::Completion::is_kept).
#pragma once

#include "op/rma.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

// So much of a record is fetched: all that is in use.
inline constexpr std::size_t kFetchedBytes = 160;
static_assert(kFetchedBytes > offsetof(SignalRecord, event_bits));

// `how` is op::kKept, or with a request and is_kept.
sennit_status start_look(Rank &rank, const RemoteSignal &remote, SignalRecord *copy,
                         const op::Completion &how);
Seen seen_in(const SignalRecord &copy);
// What check_epoch() makes of what was seen.
sennit_status judge_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                          const Seen &seen);

// *counter becomes what the slot held before.
sennit_status start_count(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                          std::uint64_t *counter, const op::Completion &how);
// *fires: they were the last of their epoch. If there were too many of them they are taken back:
// SIGNAL_OVERFLOW.
sennit_status judge_count(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                          const Expected &expected, std::uint64_t counter, bool *fires);

// The marks of a signal that has fired, which come in this order.
enum class Mark : std::uint8_t { signal, summary };
sennit_status start_mark(Rank &rank, const RemoteSignal &remote, Mark which,
                         const op::Completion &how);

}  // namespace sennit::signal
