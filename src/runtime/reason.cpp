// The sentences of reason.hpp.
#include "runtime/reason.hpp"

#include <cstdio>
#include <cstring>

namespace sennit {

void reason_text(const Reason &reason, sennit_path candidate, char *text, std::size_t bytes) {
    const char *name = sennit_path_name(candidate);
    char system[96];
    switch (reason.code) {
        case Reason::Code::not_tried:
            (void)std::snprintf(text, bytes, "not tried: a better path was taken");
            return;
        case Reason::Code::taken:
            (void)std::snprintf(text, bytes, "taken: the first path that worked both ways");
            return;
        case Reason::Code::not_built:
            (void)std::snprintf(text, bytes, "this build does not have the path %s", name);
            return;
        case Reason::Code::not_allowed:
            (void)std::snprintf(text, bytes, "%s",
                                candidate == SENNIT_PATH_SIM
                                    ? "for tests: only if SENNIT_PATHS names it"
                                    : "left out by SENNIT_PATHS or the options of init");
            return;
        case Reason::Code::is_self:
            (void)std::snprintf(text, bytes, "the peer is the caller itself");
            return;
        case Reason::Code::not_self:
            (void)std::snprintf(text, bytes, "the peer is another rank");
            return;
        case Reason::Code::other_process:
            (void)std::snprintf(text, bytes, "the peer is in another process");
            return;
        case Reason::Code::same_process:
            (void)std::snprintf(text, bytes, "the peer is in the same process");
            return;
        case Reason::Code::other_node:
            (void)std::snprintf(text, bytes,
                                "other node: boot id, network namespace or SENNIT_NODE differ");
            return;
        case Reason::Code::no_memory_file:
            (void)std::snprintf(text, bytes, "the peer's memory file was not received: %s",
                                strerror_r(reason.detail, system, sizeof system));
            return;
        case Reason::Code::map_failed:
            (void)std::snprintf(text, bytes, "mapping the peer's memory failed: %s",
                                strerror_r(reason.detail, system, sizeof system));
            return;
        case Reason::Code::wrong_content:
            (void)std::snprintf(text, bytes, "the mapped memory is not the peer's control block");
            return;
        case Reason::Code::peer_refused:
            (void)std::snprintf(text, bytes, "the peer could not reach this rank by it");
            return;
        case Reason::Code::transport_failed:
            (void)std::snprintf(text, bytes, "the transport refused with code %d",
                                static_cast<int>(reason.detail));
            return;
    }
    (void)std::snprintf(text, bytes, "unknown");
}

}  // namespace sennit

extern "C" const char *sennit_path_name(sennit_path path) {
    static const char *const kNames[] = {"none", "self",   "inproc", "mapped",
                                         "cma",  "fabric", "mpi",    "sim"};
    static_assert(sizeof kNames / sizeof kNames[0] == SENNIT_PATH_COUNT);
    const auto index = static_cast<unsigned>(path);
    return index < SENNIT_PATH_COUNT ? kNames[index] : "unknown";
}
