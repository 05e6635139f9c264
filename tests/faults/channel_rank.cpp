// One rank of a job in which a rank dies or is stopped while it has channels, opens them, or does
// anything in between. Started by faults_test.py under `sennit run`; the argument names the scene.
// A rank prints "as promised" if its part went as promised.
#include <sennit/sennit.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "scenes.hpp"

namespace {

using sennit::test::die;
using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;
using sennit::test::sleep_ms;
using sennit::test::state_of;

constexpr std::int64_t kLong = 20'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

struct Scene {
    int rank = 0;
    int victim = 0;  // the last rank
    std::uint64_t *memory = nullptr;
    sennit_gptr segment = SENNIT_GPTR_NULL;  // at its ninth word

    bool is_victim() const { return rank == victim; }
};

Scene open_scene() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    sennit_gptr segment = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &segment), SENNIT_OK, "alloc");
    Scene scene{sennit_rank(), sennit_size() - 1, static_cast<std::uint64_t *>(sennit_ptr(segment)),
                sennit_gptr_add(segment, 64)};
    require(scene.memory != nullptr, "the memory is mapped");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the first barrier");
    return scene;
}

// Flags of all channels: a scene that ends with ":mirror" or ":pull" uses copies.
unsigned channel_flags = 0;

struct End {
    sennit_channel channel = SENNIT_CHANNEL_NULL;
    std::uint64_t *theirs = nullptr;
};

sennit_status open(int peer, std::uint64_t *own, std::int64_t timeout_ns, End *end) {
    void *const buffer = own;
    const std::size_t bytes = own != nullptr ? sizeof *own : 0;
    const sennit_channel_ends ends{1, &peer, &buffer, &bytes};
    void *theirs = nullptr;
    const sennit_status status = sennit_channel_open(SENNIT_TEAM_WORLD, &ends, channel_flags,
                                                     timeout_ns, &theirs, &end->channel);
    if (status == SENNIT_OK) end->theirs = static_cast<std::uint64_t *>(theirs);
    return status;
}

// Opens a channel between this rank and the victim.
End open_with_victim(const Scene &scene) {
    End end;
    expect(open(scene.victim, scene.memory, kLong, &end), SENNIT_OK, "open with the victim");
    return end;
}

void close(const End &end) {
    expect(sennit_channel_close(&end.channel, 1, SENNIT_FOREVER), SENNIT_OK, "close");
}

// Expects the error that names the dead rank.
void expect_lost(const Scene &scene, sennit_status status, const char *what) {
    expect(status, SENNIT_ERR_PEER_LOST, what);
    require(sennit_last_error()->peer == scene.victim, "the error names the dead rank");
}

// Tests find the death too, some time later.
void expect_lost_by_test(const Scene &scene, sennit_status (*test)(sennit_channel, int *),
                         const End &end, const char *what) {
    for (int i = 0; i < 20000; ++i) {
        int can = -1;
        const sennit_status status = test(end.channel, &can);
        if (status != SENNIT_OK) return expect_lost(scene, status, what);
        require(can == 0, "there is nothing to do");
        sleep_ms(1);
    }
    fail("tests do not notice the death");
}

// The victim opens a channel with every other rank and calls `last` for each before it dies.
template <class Last>
[[noreturn]] void be_victim(const Scene &scene, Last last) {
    for (int peer = 0; peer < scene.victim; ++peer) {
        End end;
        expect(open(peer, scene.memory + peer, kLong, &end), SENNIT_OK, "open of the victim");
        last(end);
    }
    die();
}

void permitted() {
    const Scene scene = open_scene();
    if (scene.is_victim())
        be_victim(scene, [](const End &end) {
            int can = 0;
            expect(sennit_channel_can_write(end.channel, &can), SENNIT_OK, "can_write");
            require(can == 1, "the victim may write");
            *end.theirs = 1;
        });
    const End end = open_with_victim(scene);
    expect_lost(scene, sennit_channel_wait_read(end.channel, SENNIT_FOREVER), "wait_read");
    expect_lost_by_test(scene, sennit_channel_can_read, end, "can_read");
    close(end);
}

// Counts descriptors, and mappings of memory files.
std::pair<std::ptrdiff_t, int> count_held() {
    std::ifstream maps("/proc/self/maps");
    int mappings = 0;
    for (std::string line; std::getline(maps, line);)
        mappings += line.find("memfd:sennit") != std::string::npos ? 1 : 0;
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return {std::distance(begin(descriptors), end(descriptors)), mappings};
}

// Like `permitted`, over memory of the program: after the channel with the dead rank is closed,
// the survivors hold the same descriptors and mappings as before it was opened.
void kept() {
    const Scene scene = open_scene();
    constexpr std::size_t kPage = 4096;
    const std::unique_ptr<void, void (*)(void *)> page(std::aligned_alloc(kPage, kPage), std::free);
    auto *const own = static_cast<std::uint64_t *>(page.get());
    if (scene.is_victim()) {
        for (int peer = 0; peer < scene.victim; ++peer) {
            End first;
            expect(open(peer, nullptr, kLong, &first), SENNIT_OK, "the first open of the victim");
            close(first);
        }
        for (int peer = 0; peer < scene.victim; ++peer) {
            End end;
            expect(open(peer, own, kLong, &end), SENNIT_OK, "open of the victim");
            expect(sennit_channel_wait_write(end.channel, kLong), SENNIT_OK, "wait_write");
            *end.theirs = 1;
        }
        die();
    }
    End end;
    // The first channels create resources that all channels share.
    expect(open(scene.rank, own, kLong, &end), SENNIT_OK, "open with itself");
    close(end);
    expect(open(scene.victim, nullptr, kLong, &end), SENNIT_OK, "the first open");
    close(end);
    const auto before = count_held();
    expect(open(scene.victim, own, kLong, &end), SENNIT_OK, "open with the victim");
    expect_lost(scene, sennit_channel_wait_read(end.channel, SENNIT_FOREVER), "wait_read");
    close(end);
    require(count_held() == before, "nothing of the channel is kept");
}

void written() {
    const Scene scene = open_scene();
    if (scene.is_victim())
        be_victim(scene, [](const End &end) {
            *end.theirs = 17;
            expect(sennit_channel_have_written(end.channel), SENNIT_OK, "have_written");
        });
    const End end = open_with_victim(scene);
    sleep_ms(50);
    expect(sennit_channel_wait_read(end.channel, SENNIT_FOREVER), SENNIT_OK, "the last message");
    require(*scene.memory == 17, "it is whole");
    expect(sennit_channel_have_read(end.channel), SENNIT_OK, "have_read");
    expect_lost(scene, sennit_channel_wait_read(end.channel, SENNIT_FOREVER), "wait_read");
    close(end);
}

void unread() {
    const Scene scene = open_scene();
    if (scene.is_victim())
        be_victim(scene, [](const End &end) {
            expect(sennit_channel_wait_read(end.channel, SENNIT_FOREVER), SENNIT_OK, "wait_read");
        });
    const End end = open_with_victim(scene);
    const End second = end;
    *end.theirs = 3;
    expect(sennit_channel_have_written(end.channel), SENNIT_OK, "have_written");
    if (scene.rank == 0) {
        close(second);  // ends because of the death
        return;
    }
    expect_lost(scene, sennit_channel_wait_write(end.channel, SENNIT_FOREVER), "wait_write");
    expect_lost_by_test(scene, sennit_channel_can_write, end, "can_write");
    close(end);
}

void opening() {
    const Scene scene = open_scene();
    if (scene.is_victim()) {
        sleep_ms(30);
        die();
    }
    End end;
    expect_lost(scene, open(scene.victim, scene.memory, kLong, &end), "open");
    expect_lost(scene, open(scene.victim, scene.memory, kLong, &end), "open with a dead rank");
    // The survivors go on.
    if (scene.victim == 2) {
        expect(open(1 - scene.rank, scene.memory, kLong, &end), SENNIT_OK, "open of the living");
        close(end);
    }
}

// A rank leaves instead of opening its end, as after an error: the waiting rank is told before the
// leaving rank's last barrier is over, since that barrier waits for it.
void leaving() {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "100", 1);
    const Scene scene = open_scene();
    End end;
    const double begin = sennit_wtime();
    if (scene.is_victim()) {
        expect(open(0, reinterpret_cast<std::uint64_t *>(8), kLong, &end), SENNIT_ERR_ARG,
               "open with memory that is not mapped");
    } else {
        expect_lost(scene, open(scene.victim, scene.memory, SENNIT_FOREVER, &end), "open");
        require(std::strstr(sennit_last_error()->text, "has left") != nullptr, "the text says why");
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    require(sennit_wtime() - begin < 50.0, "no wait lasts until its timeout");
}

// A rank is stopped while its offer is in the offer table: the other's call still ends at its
// timeout of 40 ms. On a busy machine the call may take as long as the other rank waits.
void stopped() {
    const Scene scene = open_scene();
    End end;
    if (scene.is_victim()) {
        scene.memory[8] = static_cast<std::uint64_t>(getpid());
        std::thread([] {
            sleep_ms(30);
            (void)kill(getpid(), SIGSTOP);
        }).detach();
        expect(open(0, scene.memory, kLong, &end), SENNIT_OK, "the opening after the stop");
    } else {
        std::uint64_t number = 0;
        for (int i = 0; number == 0 || state_of(static_cast<pid_t>(number)) != 'T'; ++i) {
            require(i < 20000, "the other rank is stopped");
            sleep_ms(1);
            expect(sennit_get(&number, sennit_gptr_at(scene.segment, scene.victim), 8), SENNIT_OK,
                   "get");
        }
        const double begin = sennit_wtime();
        expect(open(1, scene.memory, 40 * kMillisecond, &end), SENNIT_ERR_TIMEOUT, "open");
        require(sennit_wtime() - begin < kLong * 1e-9, "the call ends in its time");
        require(kill(static_cast<pid_t>(number), SIGCONT) == 0, "the stopped rank goes on");
        expect(open(1, scene.memory, kLong, &end), SENNIT_OK, "the next open");
    }
    expect(sennit_channel_have_written(end.channel), SENNIT_OK, "have_written");
    expect(sennit_channel_wait_read(end.channel, kLong), SENNIT_OK, "wait_read");
    expect(sennit_channel_have_read(end.channel), SENNIT_OK, "have_read");
    close(end);
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// True if the peer is still alive.
bool is_alive(sennit_status status, const char *what) {
    if (status == SENNIT_ERR_PEER_LOST || status == SENNIT_ERR_STATE) return false;
    expect(status, SENNIT_OK, what);
    return true;
}

// Opens a channel, sends a word and receives one; returns 0 if the peer is lost.
std::uint64_t exchange(int peer, std::uint64_t *own, std::uint64_t sent) {
    End end;
    *own = 0;
    if (!is_alive(open(peer, own, kLong, &end), "open")) return 0;
    bool alive = is_alive(sennit_channel_wait_write(end.channel, kLong), "wait_write");
    if (alive) {
        *end.theirs = sent;
        alive = is_alive(sennit_channel_have_written(end.channel), "have_written");
    }
    alive = alive && is_alive(sennit_channel_wait_read(end.channel, kLong), "wait_read");
    const std::uint64_t got = *own;
    alive = alive && is_alive(sennit_channel_have_read(end.channel), "have_read");
    close(end);
    return alive ? got : 0;
}

// All ranks open, use and close channels with each other without pause; the victim is killed
// meanwhile.
void any_moment(unsigned seed) {
    const Scene scene = open_scene();
    std::mt19937_64 random(seed * 1000u + static_cast<unsigned>(scene.rank));
    if (scene.is_victim()) {
        const auto delay = std::chrono::microseconds(random() % 20000);
        std::thread([delay] {
            std::this_thread::sleep_for(delay);
            die();
        }).detach();
    }
    bool is_lost = false;
    // Counts rounds after the survivors have told each other that the victim is lost; both count
    // the same.
    for (int after = 0; after < 20;) {
        for (int peer = 0; peer <= scene.victim; ++peer) {
            if (peer == scene.rank || (peer == scene.victim && is_lost)) continue;
            const std::uint64_t sent = is_lost ? 2 : 1;
            const std::uint64_t got = exchange(peer, scene.memory + peer, sent);
            if (got == 0) require(peer == scene.victim, "only the victim is lost");
            is_lost |= got == 0;
            if (sent == 2 && got == 2) ++after;
        }
    }
}

// Removes the part about copies from the scene's name.
std::string take_flags(std::string what) {
    const std::size_t end = what.rfind(':');
    const std::string last = end == std::string::npos ? "" : what.substr(end + 1);
    if (last == "mirror") channel_flags = SENNIT_CHANNEL_MIRROR;
    if (last == "pull") channel_flags = SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL;
    if (channel_flags != 0) what.resize(end);
    return what;
}

void run(const std::string &scene) {
    const std::string what = take_flags(scene);
    if (what == "permitted") return permitted();
    if (what == "kept") return kept();
    if (what == "written") return written();
    if (what == "unread") return unread();
    if (what == "opening") return opening();
    if (what == "leaving") return leaving();
    if (what == "stopped") return stopped();
    if (what.rfind("any_moment:", 0) == 0)
        return any_moment(static_cast<unsigned>(std::stoul(what.substr(11))));
    fail("there is no scene " + what);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, [](const std::string &what) {
        run(what);
        // This test does not check whether finalize notices the dead rank.
        (void)sennit_finalize();
    });
}
