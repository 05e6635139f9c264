// The sentences of refusal.hpp.
#include "memory/refusal.hpp"

#include <cstdio>
#include <cstring>

namespace sennit::memory {
namespace {

const char *const kSentences[] = {
    "not needed: a better one was taken",
    "left out by SENNIT_REGISTER",
    "the region has no bytes",
    "there are peers in other processes",
    "no peer maps this rank's memory",
    "libxpmem is not installed here",
    "XPMEM does not work here",
    "the memory is on the stack (SENNIT_REGISTER_STACK consents)",
    "the memory is on a stack of a thread (SENNIT_REGISTER_STACK consents) or in its thread-local "
    "storage",
    "the memory may not be read and written",
    "the memory is executable",
    "the memory is shared already",
    "the memory is mapped from a file or a device",
    "the memory has large pages of hugetlbfs",
    "the memory is locked",
    "the memory is excluded from fork, as what a network card has pinned",
    "the memory begins an arena of the allocator",
    "the memory is the kernel's own",
    "the first or last page is shared with other data that threads may write, and can not be "
    "protected (SENNIT_REGISTER_SHARED_PAGES consents)",
    "a page holds another region that the kernel copies",
    "a page lies in the memory file of another rank of this process",
    "the memory lies in too many pieces",
    "the process has adopted as many pieces as there can be",
    "there is no room for it in the memory file",
    "the kernel's record of the mappings can not be read",
    "the kernel refused to move the pages",
    "part of the range is not mapped",
    "the memory is on a stack and shares its first or last page with other data",
    "the memory is where functions run, where a thread has its own, or the lowest of a stack",
    "this rank can not attach what the owner offers by XPMEM",
    "the owner offers the memory by XPMEM",
    "this build of Sennit has no adoption (SENNIT_ADOPTION=OFF)",
};
static_assert(sizeof kSentences / sizeof kSentences[0] == static_cast<std::size_t>(Refusal::count));

}  // namespace

void refusal_text(Refused refused, char *text, std::size_t bytes) {
    const auto index = static_cast<std::size_t>(refused.code);
    const char *sentence =
        index < static_cast<std::size_t>(Refusal::count) ? kSentences[index] : "unknown";
    char system[96];
    if (refused.detail == 0) {
        (void)std::snprintf(text, bytes, "%s", sentence);
    } else {
        (void)std::snprintf(text, bytes, "%s: %s", sentence,
                            strerror_r(refused.detail, system, sizeof system));
    }
}

}  // namespace sennit::memory
