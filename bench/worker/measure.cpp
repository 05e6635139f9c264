#include "worker/measure.hpp"

#include <fmt/format.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <numeric>
#include <random>

#include "common/record.hpp"

namespace sennit::bench {

namespace {

// Ends the job at once if a subject fails on this rank: the other ranks are inside the subject, and
// its resources can only be freed collectively.
Interval run_or_end(const Subject &subject, std::size_t operations) {
    try {
        return subject.run(operations);
    } catch (const std::exception &error) {
        std::fputs(fmt::format("sennit-bench-worker: {}: {}\n", subject.name, error.what()).c_str(),
                   stderr);
        std::fflush(stderr);
        std::_Exit(1);
    }
}

// Nanoseconds of one batch.
double run_batch(const Job &job, const Subject &subject, std::size_t operations) {
    job.barrier();
    return job.span_over_ranks(run_or_end(subject, operations));
}

struct Batch {
    std::size_t operations = 1;
    double duration_ns = 0.0;
};

// The shortest of three tries: the first one has cold caches and page faults, and each may be
// disturbed.
double shortest_of_three(const Job &job, const Subject &subject, std::size_t operations,
                         double wanted_ns) {
    double shortest = std::numeric_limits<double>::infinity();
    const int most_tries = wanted_ns > 0.0 ? 3 : 1;
    for (int tries = 0; tries < most_tries && shortest >= wanted_ns; ++tries) {
        shortest = std::min(shortest, run_batch(job, subject, operations));
    }
    return shortest;
}

// All ranks use the same times, so all compute the same numbers.
Batch find_batch(const Job &job, const Subject &subject, double batch_ns,
                 std::size_t most_operations) {
    Batch batch;
    for (;;) {
        batch.duration_ns = shortest_of_three(job, subject, batch.operations, batch_ns);
        if (batch.duration_ns >= batch_ns || batch.operations >= most_operations) {
            break;
        }
        const double wanted = static_cast<double>(batch.operations) * 1.1 * batch_ns /
                              std::max(batch.duration_ns, 1.0);
        const auto most = static_cast<double>(std::min(batch.operations * 16, most_operations));
        batch.operations =
            std::max(batch.operations + 1, static_cast<std::size_t>(std::min(wanted, most)));
    }
    return batch;
}

bool begins_with(const std::string &text, const char *begin) {
    return text.rfind(begin, 0) == 0;
}

// The value of SENNIT_PROGRESS, from the environment or by default.
std::string progress_setting() {
    sennit_knob knob{};
    for (int i = 0; sennit_knob_get(i, &knob) == SENNIT_OK; ++i)
        if (std::string(knob.name) == "SENNIT_PROGRESS") return knob.value;
    return "";
}

// Adds provider and rails of the subject between nodes. For an MPI they are not known.
void add_network(const Job &job, const Subject &subject, Record &record) {
    record.hosts = job.hosts();
    record.provider = subject.provider;
    if (!begins_with(subject.name, "sennit-") || !job.spans_nodes()) return;
    record.rails = job.rails();
    record.provider = job.provider();
    record.level = job.level();
    record.progress = progress_setting();
}

void print_case(const Job &job, const Case &what, const std::vector<std::vector<double>> &samples) {
    std::vector<Summary> summaries;
    double raw_median = std::numeric_limits<double>::infinity();
    std::size_t raw = what.subjects.size();
    for (std::size_t i = 0; i < what.subjects.size(); ++i) {
        summaries.push_back(summarise(samples[i]));
        if (begins_with(what.subjects[i].name, "raw-")) {
            if (summaries[i].median < raw_median) raw = i;
            raw_median = std::min(raw_median, summaries[i].median);
        }
    }
    for (std::size_t i = 0; i < what.subjects.size(); ++i) {
        Record record;
        record.bench = what.bench;
        record.subject = what.subjects[i].name;
        record.job = job.name();
        record.bytes = what.bytes;
        record.ranks = job.size();
        add_network(job, what.subjects[i], record);
        record.time_ns = summaries[i];
        record.ratio_to_raw = summaries[i].median / raw_median;
        if (raw < samples.size() && raw != i) {
            std::vector<double> ratios;
            for (std::size_t round = 0; round < samples[i].size(); ++round)
                ratios.push_back(samples[i][round] / samples[raw][round]);
            const Interval95 interval = median_interval(std::move(ratios));
            record.ratio_low = interval.low;
            record.ratio_high = interval.high;
        }
        fmt::print("{}", line_of(record));
    }
    std::fflush(stdout);
}

}  // namespace

std::vector<std::vector<double>> sample_in_turn(const Job &job,
                                                const std::vector<Subject> &subjects,
                                                const Limits &limits) {
    const double batch_ns = job.is_oversubscribed() ? limits.shared_batch_ns : limits.batch_ns;
    std::vector<Batch> batches;
    double round_ns = 0.0;
    for (const Subject &subject : subjects) {
        batches.push_back(find_batch(job, subject, batch_ns, limits.most_operations));
        round_ns += batches.back().duration_ns * 1.2;
    }
    const double affordable = limits.seconds * 1e9 / round_ns;
    const auto rounds = static_cast<std::size_t>(
        std::clamp(affordable, static_cast<double>(std::min(limits.min_rounds, limits.rounds)),
                   static_cast<double>(limits.rounds)));

    std::vector<std::vector<double>> samples(subjects.size());
    std::vector<std::size_t> order(subjects.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 shuffler(1);  // the same on every rank
    for (std::size_t round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), shuffler);
        for (const std::size_t i : order) {
            const double elapsed = run_batch(job, subjects[i], batches[i].operations);
            samples[i].push_back(elapsed / static_cast<double>(batches[i].operations));
        }
    }
    return samples;
}

void measure_in_turn(const Job &job, const Case &what, const Limits &limits) {
    std::vector<std::vector<double>> samples = sample_in_turn(job, what.subjects, limits);
    for (std::vector<double> &of_subject : samples)
        for (double &sample : of_subject)
            sample /= what.parts_per_operation;
    if (job.rank() == 0) {
        print_case(job, what, samples);
    }
}

}  // namespace sennit::bench
