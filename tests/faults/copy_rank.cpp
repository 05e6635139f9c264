// Copies to and from a dead rank whose process number now belongs to a stranger. Broken by a
// rank that only copies and never waits, and so reads and writes a foreign process.
#include <sennit/sennit.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "scenes.hpp"

namespace {

using sennit::test::die;
using sennit::test::expect;
using sennit::test::play;
using sennit::test::sleep_ms;

// Set when the kernel has given the number to another process: any copy succeeds.
std::atomic<bool> has_stranger{false};

ssize_t copy(long call, pid_t process, const iovec *local, unsigned long local_count,
             const iovec *remote, unsigned long remote_count) {
    if (has_stranger) return static_cast<ssize_t>(local[0].iov_len);
    return syscall(call, process, local, local_count, remote, remote_count, 0);
}

void run(const std::string &) {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    std::array<char, 64> memory{};
    sennit_region region = SENNIT_REGION_NULL;
    std::array<sennit_region, 2> regions{};
    expect(sennit_register(memory.data(), memory.size(), 0, &region), SENNIT_OK, "register");
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, region, regions.data()), SENNIT_OK, "attach");
    if (sennit_rank() == 1) die();
    // From here on no call reaches the kernel, and this rank waits for nobody.
    has_stranger = true;
    std::array<char, 64> mine{};
    sennit_status status = SENNIT_OK;
    for (int i = 0; i < 500 && status == SENNIT_OK; ++i) {
        sleep_ms(10);
        status = sennit_get(mine.data(), regions[1].gptr, mine.size());
    }
    expect(status, SENNIT_ERR_PEER_LOST, "a get from a dead rank");
    status = sennit_put(regions[1].gptr, mine.data(), mine.size());
    expect(status, SENNIT_ERR_PEER_LOST, "a put to a dead rank");
    has_stranger = false;
    expect(sennit_finalize(), SENNIT_ERR_PEER_LOST, "finalize");
}

}  // namespace

// Replaces the C library's function.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec *local, unsigned long local_count,
                                    const iovec *remote, unsigned long remote_count,
                                    unsigned long) {
    return copy(SYS_process_vm_readv, process, local, local_count, remote, remote_count);
}
extern "C" ssize_t process_vm_writev(pid_t process, const iovec *local, unsigned long local_count,
                                     const iovec *remote, unsigned long remote_count,
                                     unsigned long) {
    return copy(SYS_process_vm_writev, process, local, local_count, remote, remote_count);
}

int main(int count, char **words) {
    // With this setting no pages of other processes are mapped.
    (void)setenv("SENNIT_REGISTER", "cma", 1);
    return play(count, words, run);
}
