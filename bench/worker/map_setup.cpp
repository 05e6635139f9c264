// `sennit map`: the set-up before the first copy by each way. Rank 0 owns the memory, and rank 1 is
// going to copy from it. Copies by the kernel (cma) need no set-up.
#include <unistd.h>

#include <algorithm>

#include "worker/check.hpp"
#include "worker/map.hpp"
#include "worker/map_source.hpp"

namespace sennit::bench {

namespace {

constexpr int kOwner = 0;

template <class Step>
double time_of(Step step) {
    const double start = now_ns();
    step();
    return now_ns() - start;
}

// One rank runs `once`, which returns its time in nanoseconds.
template <class Once>
Subject by_parts(const Job &job, int rank, std::string name, Once once) {
    return {std::move(name), [&job, rank, once](std::size_t operations) {
                if (job.rank() != rank) return kNotTimed;
                double sum = 0.0;
                for (std::size_t i = 0; i < operations; ++i)
                    sum += once();
                return Interval{0.0, sum};
            }};
}

double touch_private(std::uint64_t bytes) {
    const Pages pages(bytes);
    return time_of([&] { pages.touch(); });
}

double touch_file(std::uint64_t bytes) {
    std::unique_ptr<MemoryFile> file;
    std::unique_ptr<Pages> pages;
    return time_of([&] {
        file = std::make_unique<MemoryFile>(bytes);
        pages = std::make_unique<Pages>(bytes, file->descriptor(), false);
        pages->touch();
    });
}

double map_file(const MapOffer &offer, std::uint64_t bytes) {
    std::unique_ptr<Pages> pages;
    return time_of([&] { pages = map_file_of(offer, bytes, true); });
}

double register_pages(std::uint64_t bytes) {
    const Pages pages(bytes);
    pages.touch();
    sennit_region region = SENNIT_REGION_NULL;
    const double elapsed = time_of(
        [&] { check(sennit_register(pages.data(), bytes, 0, &region), "sennit_register"); });
    check(sennit_deregister(region), "sennit_deregister");
    return elapsed;
}

// Gets the pointer and touches the pages.
double reach_region(const sennit_region &region, std::uint64_t bytes) {
    constexpr std::uint64_t kPage = 4096;
    std::uint64_t sum = 0;
    const double elapsed = time_of([&] {
        const auto *const there = static_cast<const std::byte *>(sennit_ptr(region.gptr));
        if (there == nullptr) check(sennit_last_error()->status, "sennit_ptr");
        for (std::uint64_t at = 0; at < bytes; at += kPage)
            sum += static_cast<std::uint64_t>(there[at]);
    });
    keep(sum);
    check(sennit_region_detach(region), "sennit_region_detach");
    return elapsed;
}

}  // namespace

void measure_setup(const Job &job, const MapTransfer &pair, std::uint64_t bytes,
                   const std::vector<std::string> &ways, const Limits &limits) {
    const auto has = [&](const char *way) {
        return std::find(ways.begin(), ways.end(), way) != ways.end();
    };
    const int reader = 1;
    const std::string registers = has("adopted") ? "adopt" : has("xpmem") ? "xpmem" : "";
    const MemoryFile file(bytes);
    const Pages of_file(bytes, file.descriptor(), false);
    const Pages registered(bytes);
    MapOffer mine;
    mine.process = getpid();
    mine.descriptor = file.descriptor();
    if (job.rank() == kOwner) {
        of_file.touch();
        registered.touch();
        if (!registers.empty())
            check(sennit_register(registered.data(), bytes, 0, &mine.region), "sennit_register");
    }
    const MapOffer theirs = exchange(job, mine)[kOwner];

    std::vector<Subject> subjects;
    if (!has("xpmem"))
        subjects.push_back(
            by_parts(job, kOwner, "first-touch", [=] { return touch_private(bytes); }));
    if (has("mapped")) {
        subjects.push_back(
            by_parts(job, kOwner, "first-touch-file", [=] { return touch_file(bytes); }));
        subjects.push_back(by_parts(job, reader, "map", [=] { return map_file(theirs, bytes); }));
    }
    if (!registers.empty()) {
        subjects.push_back(by_parts(job, kOwner, registers, [=] { return register_pages(bytes); }));
        subjects.push_back(by_parts(job, reader, "reach-" + registers,
                                    [=] { return reach_region(theirs.region, bytes); }));
    }
    const auto samples = sample_in_turn(job, subjects, limits);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        MapFigure figure{"setup", subjects[i].name, pair.from, pair.to, bytes};
        figure.time_ns = summarise(samples[i]);
        print_figure(job, figure);
    }
    job.barrier();
    if (mine.region.bytes > 0) check(sennit_deregister(mine.region), "sennit_deregister");
}

}  // namespace sennit::bench
