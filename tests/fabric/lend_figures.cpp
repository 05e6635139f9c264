// The cost of making private memory usable by a provider, for the thresholds of lent.cpp; the
// figures are in docs/design/fabric-providers.md.
//     lend_figures [ROUNDS [PROVIDER...]]
// `copy` and `registration` involve only this rank. The puts go in a window of 16; the time of each
// is the time from the first call to the last delivery, divided by 16: `direct` without copy or
// registration, `injected`, `copied` to registered memory, and `registered` for each put, with the
// end of the registration. Both rails are in this process, on the loopback interface. Medians, in
// ns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "transport/fabric/rail.hpp"

namespace {

using namespace sennit::transport::fabric;
using std::chrono::steady_clock;

constexpr std::uint64_t kKey = 77;
constexpr std::size_t kWindow = 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kBytes[] = {8,        64,       128,       256,       512,
                                  1 << 10,  2 << 10,  4 << 10,   8 << 10,   16 << 10,
                                  32 << 10, 64 << 10, 256 << 10, kMostBytes};

enum class Way { direct, injected, copied, registered };

void need(bool holds, const char *what) {
    if (holds) return;
    (void)std::fprintf(stderr, "lend_figures: %s: %s\n", what, sennit::thread_error()->text);
    std::exit(1);
}

double now_ns() {
    return std::chrono::duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

class Pair {
  public:
    bool find(const Library &library, const char *provider) {
        Settings settings;
        std::strcpy(settings.provider, provider);
        std::strcpy(settings.host, "127.0.0.1");
        if (found_here_.find(library, settings) != SENNIT_OK ||
            found_there_.find(library, settings) != SENNIT_OK)
            return false;
        need(here_.open(found_here_, 0, 8) == SENNIT_OK, "a rail");
        need(there_.open(found_there_, 0, 8) == SENNIT_OK, "a rail");
        need(there_.expose({target_.data(), target_.size()}, kKey, &exposed_) == SENNIT_OK,
             "the target's memory");
        std::uint8_t name[kNameBytes];
        need(there_.passive_name(name) == SENNIT_OK, "a name");
        need(here_.insert(name, &address_) == SENNIT_OK, "an address");
        bounce_.memory = iovec{bounce_memory_.data(), bounce_memory_.size()};
        need(here_.lend(Rail::Use::transfer, &bounce_) == 0, "registered memory");
        return true;
    }
    ~Pair() {
        if (exposed_ != nullptr) (void)fi_close(&exposed_->fid);
    }

    std::size_t most_injected() const { return here_.most_injected(); }
    bool wants_descriptors() const { return here_.wants_descriptors(); }

    // The next place, in turn, so that places are no better cached than in a program.
    std::byte *next_place(std::size_t bytes) {
        at_ = at_ + 2 * bytes <= private_.size() ? at_ + bytes : 0;
        return private_.data() + at_;
    }

    double copy_ns(std::size_t bytes, std::size_t times) {
        const double start = now_ns();
        for (std::size_t i = 0; i < times; ++i)
            std::memcpy(bounce_memory_.data() + i % kWindow * bytes, next_place(bytes), bytes);
        return (now_ns() - start) / static_cast<double>(times);
    }

    double registration_ns(std::size_t bytes, std::size_t times) {
        const double start = now_ns();
        for (std::size_t i = 0; i < times; i += kWindow) {
            fid_mr *made[kWindow];
            for (fid_mr *&each : made)
                need(here_.lend_once(next_place(bytes), bytes, &each) == 0, "a registration");
            for (fid_mr *each : made)
                (void)fi_close(&each->fid);
        }
        return (now_ns() - start) / static_cast<double>(times);
    }

    double put_ns(Way way, std::size_t bytes) {
        std::byte *from[kWindow];
        fid_mr *lent[kWindow] = {};
        for (std::size_t i = 0; i < kWindow; ++i) {
            from[i] = next_place(bytes);
            from[i][0] = static_cast<std::byte>(++marks_);
        }
        ended_ = 0;
        const RemoteKey key = there_.remote_key(exposed_, target_.data());
        const double start = now_ns();
        for (std::size_t i = 0; i < kWindow; ++i) {
            Rail::Transfer put{address_,      key.key, key.base + i * bytes, from[i], bytes,
                               contexts_ + i, nullptr};
            put.is_injected = way == Way::injected;
            if (way == Way::copied) {
                put.local = std::memcpy(bounce_memory_.data() + i * bytes, from[i], bytes);
                put.descriptor = bounce_.descriptor();
            }
            if (way == Way::registered) {
                need(here_.lend_once(from[i], bytes, lent + i) == 0, "a registration");
                put.descriptor = fi_mr_desc(lent[i]);
            }
            ssize_t code = 0;
            while ((code = here_.put(put)) == -FI_EAGAIN)
                poll();
            need(code == 0, "a put");
        }
        while (ended_ < kWindow)
            poll();
        for (fid_mr *each : lent)
            if (each != nullptr) (void)fi_close(&each->fid);
        const double length = now_ns() - start;
        for (std::size_t i = 0; i < kWindow; ++i)
            need(std::memcmp(target_.data() + i * bytes, from[i], bytes) == 0,
                 "the delivered data is not there");
        return length / static_cast<double>(kWindow);
    }

  private:
    void poll() {
        RailCompletion completions[kWindow];
        const std::size_t count = here_.poll(completions, kWindow);
        for (std::size_t i = 0; i < count; ++i)
            need(completions[i].error == 0, "the end of a put");
        ended_ += count;
        (void)there_.poll(completions, kWindow);
    }

    std::vector<std::byte> private_ = std::vector<std::byte>(kWindow * kMostBytes, std::byte{1});
    std::vector<std::byte> bounce_memory_ = private_;
    std::vector<std::byte> target_ = private_;
    std::size_t at_ = 0;
    std::size_t ended_ = 0;
    unsigned marks_ = 0;
    fi_context2 contexts_[kWindow];
    LentMemory bounce_;
    Interfaces found_here_;
    Interfaces found_there_;
    Rail here_;
    Rail there_;
    fid_mr *exposed_ = nullptr;
    fi_addr_t address_ = FI_ADDR_UNSPEC;
};

double median(std::vector<double> samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
}

void print_line(Pair &pair, std::size_t bytes, std::size_t rounds) {
    const std::size_t times = std::max<std::size_t>(16, (256 << 10) / bytes);
    const bool wants = pair.wants_descriptors();
    const std::function<double()> ways[] = {
        [&] { return pair.copy_ns(bytes, times); },
        [&] { return pair.registration_ns(bytes, std::min<std::size_t>(times, 256)); },
        [&] { return wants ? 0.0 : pair.put_ns(Way::direct, bytes); },
        [&] { return bytes > pair.most_injected() ? 0.0 : pair.put_ns(Way::injected, bytes); },
        [&] { return pair.put_ns(Way::copied, bytes); },
        [&] { return pair.put_ns(Way::registered, bytes); }};
    constexpr std::size_t kWays = std::size(ways);
    std::vector<double> samples[kWays];
    for (std::size_t round = 0; round <= rounds; ++round)
        for (std::size_t i = 0; i < kWays; ++i) {
            const std::size_t way = (i + round) % kWays;
            const double ns = ways[way]();
            if (round != 0) samples[way].push_back(ns);
        }
    (void)std::printf("| %zu |", bytes);
    for (const std::vector<double> &each : samples) {
        const double ns = median(each);
        if (ns == 0)
            (void)std::printf(" |");
        else
            (void)std::printf(" %.*f |", ns < 1000 ? 1 : 0, ns);
    }
    (void)std::printf("\n");
    (void)std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
    const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 31;
    std::vector<const char *> providers(argv + std::min(argc, 2), argv + argc);
    if (providers.empty()) providers = {"net", "tcp", "tcp;ofi_rxm"};
    const Library *library = nullptr;
    need(library_open(&library) == SENNIT_OK, "libfabric");
    for (const char *provider : providers) {
        Pair pair;
        if (!pair.find(*library, provider)) continue;
        (void)std::printf("%s, up to %zu bytes injected%s\n", provider, pair.most_injected(),
                          pair.wants_descriptors() ? ", memory to be registered" : "");
        (void)std::printf(
            "| bytes | copy | registration | put direct | injected | copied | "
            "registered |\n|---|---|---|---|---|---|---|\n");
        for (const std::size_t bytes : kBytes)
            print_line(pair, bytes, std::max<std::size_t>(rounds, 1));
    }
    return 0;
}
