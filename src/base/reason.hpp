// Why a path was taken to a peer, or not: a code and a number, turned into a sentence only when
// somebody asks. Kept per peer and path.
#pragma once

#include <sennit/info.h>

#include <cstddef>
#include <cstdint>

namespace sennit {

struct Reason {
    enum class Code : std::uint8_t {
        not_tried = 0,  // a better path was taken
        taken,          // this is the path
        not_built,      // not in this build
        not_allowed,    // SENNIT_PATHS or options.paths leave it out
        is_self,        // the peer is the caller, which only the path self serves
        not_self,
        other_process,      // needs one address space
        same_process,       // needs two processes
        other_node,         // boot id, network namespace or SENNIT_NODE differ
        no_memory_file,     // the peer's memory file was not received; detail: errno
        map_failed,         // mapping it failed; detail: errno
        wrong_content,      // mapped, but it does not hold the peer's control block
        peer_refused,       // the peer could not reach this rank by it, so neither uses it
        transport_failed,   // the transport said no; detail: its code
        not_allowed_there,  // the peer's SENNIT_PATHS or options leave it out
        kernel_refused,     // the kernel does not copy between the processes; detail: errno
        same_node,          // serves peers on other nodes only
        private_memory,     // works; taken for private memory that the peer registers
        no_rail,            // this rank has no card that the path could use
        no_answer,          // the peer does not answer by it; detail: errno, 0 if there is none
        other_provider      // the peer has another provider of libfabric
    };
    Code code = Code::not_tried;
    std::int32_t detail = 0;
};

// Where the kernel shows why a process may not copy from another one. Tests have folders of their
// own.
struct RefusalPlaces {
    const char *status = "/proc/self/status";
    const char *ptrace_scope = "/proc/sys/kernel/yama/ptrace_scope";
};

// The end of the sentence for kernel_refused with that errno: what this process can see of the
// cause, in parentheses, or "".
const char *cause_of_refusal(int error, const RefusalPlaces &places = {});

// One sentence, cut to `bytes`, always terminated.
void reason_text(const Reason &reason, sennit_path candidate, char *text, std::size_t bytes);

}  // namespace sennit
