// `sennit map`: one pair of cores at a time. Rank 0 owns the memory on one core, rank 1 copies on
// the other one. Both ranks move from pair to pair.
#include <unistd.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "worker/map.hpp"
#include "worker/map_source.hpp"
#include "worker/private_buffer.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

namespace {

constexpr int kOwner = 0;
constexpr int kReader = 1;

struct NamedSource {
    std::string way;
    std::unique_ptr<MapSource> source;
};

// The ways that work between the two ranks. The others are reported and removed from `ways`.
std::vector<NamedSource> make_sources(const Job &job, const MapRole &role, std::uint64_t bytes,
                                      std::vector<std::string> *ways) {
    std::vector<NamedSource> sources;
    std::vector<std::string> working;
    for (const std::string &way : *ways) {
        MadeSource made = make_source(job, way, role, bytes);
        if (made.source == nullptr) {
            print_left_out(job, way, made.reason);
            continue;
        }
        working.push_back(way);
        sources.push_back({way, std::move(made.source)});
    }
    *ways = working;
    return sources;
}

void measure_copies(const Job &job, const MapTransfer &pair, std::uint64_t bytes,
                    std::vector<std::string> *ways, const Limits &limits) {
    const bool reads = job.rank() == kReader;
    const MapRole role{reads ? kOwner : -1, !reads, pair.from, false};
    const PrivateBuffer here(reads ? bytes : 0, 0);
    std::byte *const to = here.data();
    const std::vector<NamedSource> sources = make_sources(job, role, bytes, ways);
    std::vector<Subject> subjects;
    for (const NamedSource &one : sources) {
        if (reads) check_copy(*one.source, one.way, role, to, 0, bytes);
        subjects.push_back({one.way, [=, source = one.source.get()](std::size_t operations) {
                                if (!reads) return kNotTimed;
                                return time_batch(operations, [=] { source->copy(to, 0, bytes); });
                            }});
    }
    if (sources.empty()) return;
    const auto samples = sample_in_turn(job, subjects, limits);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (reads) check_copy(*sources[i].source, sources[i].way, role, to, 0, bytes);
        sources[i].source->leave();
        MapFigure figure{"pair", sources[i].way, pair.from, pair.to, bytes};
        figure.time_ns = summarise(samples[i]);
        print_figure(job, figure);
    }
    job.barrier();
}

// Half the round trip of a word, in memory of the first core.
void measure_flag(const Job &job, const MapTransfer &pair) {
    const bool starts = job.rank() == kOwner;
    constexpr std::size_t kBytes = 2 * kLineBytes;
    MapOffer mine;
    mine.process = getpid();
    const MemoryFile file(kBytes);
    mine.descriptor = file.descriptor();
    const auto of_starter = [&](const MapOffer &offer) {
        return map_file_of(offer, kBytes, false);
    };
    std::unique_ptr<Pages> memory = starts ? of_starter(mine) : nullptr;
    if (starts) memory->touch();
    const std::vector<MapOffer> offers = exchange(job, mine);
    if (!starts) memory = of_starter(offers[kOwner]);
    auto *const words = reinterpret_cast<std::uint64_t *>(memory->data());
    std::uint64_t *const of_owner = words;
    std::uint64_t *const of_reader = words + kLineBytes / sizeof *words;
    *(starts ? of_owner : of_reader) = 0;
    job.barrier();
    const auto send = [&](std::uint64_t number) {
        post_flag_at_once(starts ? of_reader : of_owner, number);
        return true;
    };
    const auto receive = [&](std::uint64_t number) {
        wait_for_flag(starts ? of_owner : of_reader, number, false);
        return true;
    };
    std::uint64_t trips = 0;
    const Subject bounce{"flag", [&](std::size_t operations) {
                             return time_trips(starts, trips, operations, send, receive);
                         }};
    Limits limits;
    limits.rounds = 51;
    limits.seconds = 0.02;
    std::vector<double> samples = sample_in_turn(job, {bounce}, limits).front();
    for (double &sample : samples)
        sample /= 2;
    MapFigure figure{"flag", "flag", pair.from, pair.to};
    figure.time_ns = summarise(std::move(samples));
    print_figure(job, figure);
}

// All pairs of cores, or a sample. Pairs whose set-up is measured are first. The others are in
// random order, so that the first ones have all distances.
std::vector<MapTransfer> pairs_of(const MapOptions &options) {
    std::vector<MapTransfer> pairs;
    for (const int from : options.cores)
        for (const int to : options.cores)
            pairs.push_back({from, to});
    std::shuffle(pairs.begin(), pairs.end(), std::mt19937(1));
    std::stable_partition(pairs.begin(), pairs.end(), [&](const MapTransfer &pair) {
        return std::any_of(
            options.setup_pairs.begin(), options.setup_pairs.end(),
            [&](const MapTransfer &one) { return one.from == pair.from && one.to == pair.to; });
    });
    if (options.pairs > 0 && options.pairs < pairs.size()) pairs.resize(options.pairs);
    return pairs;
}

}  // namespace

void run_map_pairs(const Run &run) {
    const MapOptions &options = *run.map;
    if (run.job.size() != 2) throw std::runtime_error("pairs of cores need two ranks");
    std::vector<std::string> ways = options.ways;
    const std::vector<MapTransfer> pairs = pairs_of(options);
    const std::size_t setups = std::min(options.setup_pairs.size(), pairs.size());
    Budget budget(options.seconds, (pairs.size() + setups) * run.sizes.size());
    for (std::size_t i = 0; i < pairs.size() && (i == 0 || !budget.is_over()); ++i) {
        if (ways.empty() && !options.has_flag) return;
        bind_to(run.job.rank() == kOwner ? pairs[i].from : pairs[i].to);
        if (options.has_flag && pairs[i].from != pairs[i].to) measure_flag(run.job, pairs[i]);
        for (const std::uint64_t bytes : run.sizes) {
            measure_copies(run.job, pairs[i], bytes, &ways, budget.next(run.limits.rounds));
            if (ways.empty()) break;
            if (i < setups)
                measure_setup(run.job, pairs[i], bytes, ways, budget.next(run.limits.rounds));
        }
    }
}

}  // namespace sennit::bench
