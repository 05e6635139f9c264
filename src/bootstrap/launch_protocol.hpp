// SPDX-License-Identifier: BSD-3-Clause
// The protocol between `sennit run` and its ranks: environment variables, and messages of fixed
// layout. Included by the rank's side (launcher.cpp) and the launcher's side (cli/launch/).
// frontends/openshmem/ending.cpp has a copy of two variables and of the two messages of one byte.
//
// Every rank's process inherits one end of a socket pair (SOCK_SEQPACKET), the control socket. A
// rank claims its number by one LaunchHello on it, together with one end of a new SOCK_STREAM pair.
// Everything else goes over this private connection: a LaunchFrame, then its payload. So other
// processes that share the inherited socket (such as a shell that started the rank) never read the
// answers for the rank, and the connection ends when the rank's process ends. A rank has at most
// one connection at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sennit::runtime {

// Set for every rank; a nested launcher replaces them.
inline constexpr const char *kLaunchRankVariable = "SENNIT_RANK";
inline constexpr const char *kLaunchSizeVariable = "SENNIT_SIZE";
inline constexpr const char *kLaunchControlVariable = "SENNIT_CONTROL_FD";
// "PID-COOKIE": the process that made the control sockets, in decimal, and 32 hex digits.
inline constexpr const char *kLaunchJobVariable = "SENNIT_JOB";
inline constexpr const char *kLaunchVariables[] = {kLaunchRankVariable, kLaunchSizeVariable,
                                                   kLaunchControlVariable, kLaunchJobVariable};

inline constexpr std::uint64_t kLaunchMagic = 0x534e5452554e3031u;  // "SNTRUN01"
inline constexpr std::uint32_t kLaunchVersion = 2;
inline constexpr std::size_t kLaunchCookieBytes = 16;
inline constexpr int kLaunchRanksMax = 4096;
// The largest size of an allgather's whole result.
inline constexpr std::uint64_t kLaunchGatherBytesMax = std::uint64_t{256} << 20;

// Rank to launcher on the control socket, with one descriptor as SCM_RIGHTS.
struct LaunchHello {
    std::uint64_t magic;
    std::uint32_t version;
    std::int32_t rank;
    std::int32_t size;
    std::uint32_t zero;
    unsigned char cookie[kLaunchCookieBytes];
};
static_assert(sizeof(LaunchHello) == 40 && std::is_trivially_copyable_v<LaunchHello>);
static_assert(offsetof(LaunchHello, version) == 8 && offsetof(LaunchHello, rank) == 12);
static_assert(offsetof(LaunchHello, size) == 16 && offsetof(LaunchHello, cookie) == 24);

// Rank to launcher on the control socket, without a descriptor: the process exits properly, but has
// no connection for kGoodbye.
inline constexpr unsigned char kLaunchFarewell = 'F';
// Like kLaunchFarewell, from a process that is about to end all ranks of the job: it is the cause
// if the other ranks fail.
inline constexpr unsigned char kLaunchEndsAll = 'E';

enum class LaunchKind : std::uint32_t {
    kWelcome = 1,  // from the launcher: accepts the claim of LaunchHello
    kRefused = 2,  // from the launcher, which closes the connection; payload: the reason
    kGather = 3,   // from a rank; payload: its part of allgather `sequence`
    // The launcher's answers to kGather.
    kGathered = 4,  // payload: all parts, in the order of ranks
    kLost = 5,  // allgather `sequence` cannot end, because rank `peer` has ended; payload: reason
    kGoodbye = 6,    // from a rank: the end of its connection is no death
    kWhoIsLate = 7,  // from a rank: asks for which ranks allgather `sequence` waits
    // The launcher's answer to kWhoIsLate: the allgather waits for `peer`, and perhaps for others.
    // `sequence` is the lowest waiting rank; only this rank warns the user. Payload: a text that
    // names the late ranks.
    kLate = 8
};

// On the private connection; `bytes` bytes of payload follow.
struct LaunchFrame {
    std::uint64_t magic;
    LaunchKind kind;
    std::uint32_t sequence;  // number of the allgather, from 0 on this connection (kLate: a rank)
    std::uint64_t bytes;
    std::int32_t peer;  // -1 if none
    std::uint32_t zero;
};
static_assert(sizeof(LaunchFrame) == 32 && std::is_trivially_copyable_v<LaunchFrame>);
static_assert(offsetof(LaunchFrame, kind) == 8 && offsetof(LaunchFrame, sequence) == 12);
static_assert(offsetof(LaunchFrame, bytes) == 16 && offsetof(LaunchFrame, peer) == 24);

}  // namespace sennit::runtime
