#include "bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sennit::cli {

namespace {

using bench::Record;

// From this size on the rate is shown.
constexpr std::uint64_t kRateFromBytes = 1024;

bool is_sennit(const Record &record) {
    return record.subject.rfind("sennit-", 0) == 0;
}

double value_of(const Record &record) {
    return record.time_ns ? record.time_ns->median : record.memory->private_bytes.median;
}

// Median of the first Sennit subject for each size.
std::map<std::uint64_t, double> sennit_values(const std::vector<Record> &records) {
    std::map<std::uint64_t, double> values;
    for (const Record &record : records) {
        if (is_sennit(record)) {
            values.emplace(record.bytes, value_of(record));
        }
    }
    return values;
}

std::string ratio_to_sennit(const Record &record, const std::map<std::uint64_t, double> &values) {
    const auto found = values.find(record.bytes);
    return found == values.end() ? "" : fmt::format("{:.2f}", value_of(record) / found->second);
}

std::size_t widest_subject(const std::vector<Record> &records) {
    std::size_t width = 7;
    for (const Record &record : records) {
        width = std::max(width, record.subject.size());
    }
    return width;
}

std::string rate(const Record &record) {
    if (record.bytes < kRateFromBytes) {
        return "";
    }
    return fmt::format("{:.2f}", static_cast<double>(record.bytes) / record.time_ns->median);
}

// The cost of a word in addition to the bare store or load, because a ratio of two very small times
// is misleading.
std::string word_notes(const std::vector<Record> &records) {
    static const std::set<std::string> word_benches{"put", "get", "fetch-add", "compare-swap"};
    std::string text;
    const Record *raw = nullptr;
    for (const Record &record : records) {
        if (record.bytes != 8 || record.hosts > 1 || !word_benches.count(record.bench)) {
            continue;
        }
        if (raw == nullptr) {
            raw = &record;
        } else {
            text += fmt::format("  8 bytes: {} takes {:.2f} ns more than {}\n", record.subject,
                                value_of(record) - value_of(*raw), raw->subject);
        }
    }
    return text;
}

// Items or puts per second, one line for each size.
std::string item_notes(const std::vector<Record> &records) {
    std::string text;
    std::uint64_t last_bytes = 0;
    for (const Record &record : records) {
        const bool is_queue = record.bench == "queue";
        if (!is_queue && record.bench != "rate") continue;
        if (record.bytes != last_bytes)
            text += fmt::format("{}  {} bytes, million {} a second:", text.empty() ? "" : "\n",
                                format_bytes(record.bytes), is_queue ? "items" : "puts");
        else
            text += ",";
        last_bytes = record.bytes;
        text += fmt::format(" {} {:.2f}", record.subject, 1e3 / value_of(record));
    }
    return text.empty() ? text : text + "\n";
}

// For each size the fastest raw rail, and the sum of all rails.
std::string rail_notes(const std::vector<Record> &records) {
    std::map<std::uint64_t, std::vector<double>> rails;  // times of each rail alone, by size
    for (const Record &record : records)
        if (record.bench == "rails" && record.subject.rfind("raw-", 0) == 0)
            rails[record.bytes].push_back(value_of(record));
    std::string text;
    for (const Record &record : records) {
        if (record.bench != "rails" || !is_sennit(record)) continue;
        double sum = 0.0;
        for (const double time : rails[record.bytes])
            sum += 1.0 / time;
        const std::vector<double> &alone = rails[record.bytes];
        if (alone.empty()) continue;
        text += fmt::format(
            "  {}: {} goes at {:.2f} times the rate of the fastest rail, {:.2f} of the sum of "
            "all\n",
            format_bytes(record.bytes), record.subject,
            *std::min_element(alone.begin(), alone.end()) / value_of(record),
            1.0 / (value_of(record) * sum));
    }
    return text;
}

// The spread of the results, for benchmarks in which a few percent matter.
std::string interval_notes(const std::vector<Record> &records) {
    std::string text;
    for (const Record &record : records) {
        const bool is_use =
            record.bench.rfind("adopted-", 0) == 0 || record.bench.rfind("peer-", 0) == 0;
        if (is_use && record.ratio_high > 0.0) {
            text += fmt::format("  {}: {} takes {:.3f} to {:.3f} of raw (95 % interval)\n",
                                format_bytes(record.bytes), record.subject, record.ratio_low,
                                record.ratio_high);
        }
    }
    return text;
}

}  // namespace

std::string format_time(double nanoseconds) {
    if (nanoseconds < 10.0) {
        return fmt::format("{:.2f} ns", nanoseconds);
    }
    if (nanoseconds < 1e3) {
        return fmt::format("{:.1f} ns", nanoseconds);
    }
    if (nanoseconds < 1e6) {
        return fmt::format("{:.2f} us", nanoseconds / 1e3);
    }
    return nanoseconds < 1e9 ? fmt::format("{:.2f} ms", nanoseconds / 1e6)
                             : fmt::format("{:.2f} s", nanoseconds / 1e9);
}

std::string format_bytes(std::uint64_t bytes) {
    constexpr std::uint64_t kKi = 1024;
    if (bytes >= kKi * kKi && bytes % (kKi * kKi) == 0) {
        return fmt::format("{} Mi", bytes / (kKi * kKi));
    }
    return bytes >= kKi && bytes % kKi == 0 ? fmt::format("{} Ki", bytes / kKi)
                                            : std::to_string(bytes);
}

std::string bench_sentence(const std::string &bench) {
    static const std::map<std::string, std::string> sentences{
        {"pingpong", "half the round trip of a message that is written, sent and read"},
        {"put", "a blocking put from rank 0 to rank 1, which does nothing"},
        {"get", "a blocking get by rank 0 from rank 1, which does nothing"},
        {"rate",
         "64 puts of 8 bytes from rank 0 to rank 1 and the wait for their delivery; time of each "
         "put"},
        {"wake", "operations of rank 0 on memory of rank 1, which makes no call"},
        {"wake-put", "a put of 8 bytes; rank 1 sleeps"},
        {"wake-get", "a get of 8 bytes; rank 1 sleeps"},
        {"wake-put-busy", "a put of 8 bytes; rank 1 computes, on the same processor as its thread"},
        {"wake-get-busy", "a get of 8 bytes; rank 1 computes"},
        {"barrier", "a barrier of all ranks, one after the other"},
        {"channel", "half the round trip of a channel's buffer; MPI moves it"},
        {"notify",
         "half the round trip of a message that is put with an event, waited for and read"},
        {"plan", "64 pieces from rank 0 into memory of rank 1, which does nothing"},
        {"rails",
         "half the round trip of a message with its event: by each rail alone, and by all of them"},
        {"rails-steady",
         "two pairs of ranks, two ping-pongs each; between a message and its answer a rank "
         "computes "
         "for as long as a message takes by one rail; the time of a message"},
        {"rails-unsteady",
         "the same with four ping-pongs each, and computations of N(T, 0.3 T); T is the time of a "
         "message by one rail"},
        {"progress", "the progress thread, with a setting of SENNIT_PROGRESS"},
        {"progress-asleep", "a put of 8 bytes to rank 1, which sleeps and makes a call each 2 ms"},
        {"progress-busy",
         "a put of 8 bytes to rank 1, which computes and makes a call about each millisecond"},
        {"progress-work",
         "time of a piece of rank 1's work, without puts to it and under permanent puts of rank 0; "
         "thread: processor time of the other threads of its process"},
        {"queue",
         "items that the other ranks put in and rank 0 takes out; the time from one to the next"},
        {"strided", "a strided put from rank 0 to rank 1: words 64 bytes apart, rows 2 KiB apart"},
        {"cma", "get and put of private memory of rank 1, which does nothing"},
        {"adopt", "memory that rank 0 has used is registered, so that rank 1 maps it, and back"},
        {"adopted-read", "rank 0 reads the memory from its start to its end"},
        {"adopted-write", "rank 0 writes it from its start to its end"},
        {"adopted-random", "rank 0 adds to words at random places, one for each 64 bytes"},
        {"adopted-read-small",
         "rank 0 reads memory that has small pages from its start to its end"},
        {"adopted-write-small", "rank 0 writes it from its start to its end"},
        {"adopted-random-small", "rank 0 adds to words at random places, one for each 64 bytes"},
        {"peer-read", "rank 1 reads the memory of rank 0 from its start to its end"},
        {"peer-write", "rank 1 writes it from its start to its end"},
        {"peer-random", "rank 1 adds to words at random places, one for each 64 bytes"},
        {"peer-read-small", "rank 1 reads memory of rank 0 that has small pages"},
        {"peer-write-small", "rank 1 writes it from its start to its end"},
        {"peer-random-small", "rank 1 adds to words at random places, one for each 64 bytes"},
        {"atomic", "atomic operations and locks in memory of rank 1"},
        {"fetch-add", "rank 0 adds to a word of rank 1 and gets the old value"},
        {"fetch-add-contended", "all ranks do this on one word"},
        {"compare-swap", "rank 0 compares and swaps a word of rank 1"},
        {"accumulate", "rank 0 adds an array of doubles to one of rank 1"},
        {"lock", "rank 0 acquires a lock and releases it"},
        {"lock-contended", "all ranks do this with one lock"},
        {"broadcast", "a broadcast of data that is written before and read after"},
        {"allreduce", "a sum of vectors of doubles that are written before and read after"},
        {"alltoall", "a block from each to each, written before and read after; bytes of a block"},
        {"start",
         "wall time of a job that only initialises and finalises; raw: as many processes of "
         "`true`"},
        {"memory",
         "private memory of a rank after initialisation and a barrier; raw: an empty program"},
    };
    const auto found = sentences.find(bench);
    return found == sentences.end() ? "" : found->second;
}

std::string time_table(const std::vector<Record> &records) {
    const auto sennit = sennit_values(records);
    const std::size_t width = widest_subject(records);
    const bool has_sizes = std::any_of(records.begin(), records.end(),
                                       [](const Record &r) { return r.bytes >= kRateFromBytes; });
    std::string text = fmt::format("  {:>7}  {:<{}}  {:>9}  {:>9}  {:>9}  {:>6}  {:>7}  {:>8}{}\n",
                                   "bytes", "subject", width, "median", "p5", "p95", "rounds",
                                   "x raw", "x sennit", has_sizes ? "    GB/s" : "");
    std::uint64_t last_bytes = records.empty() ? 0 : records.front().bytes;
    for (const Record &record : records) {
        if (record.bytes != last_bytes) {
            text += "\n";
            last_bytes = record.bytes;
        }
        std::string line =
            fmt::format("  {:>7}  {:<{}}  {:>9}  {:>9}  {:>9}  {:>6}  {:>7.2f}  {:>8}  {:>6}",
                        format_bytes(record.bytes), record.subject, width,
                        format_time(record.time_ns->median), format_time(record.time_ns->p5),
                        format_time(record.time_ns->p95), record.time_ns->rounds,
                        record.ratio_to_raw, ratio_to_sennit(record, sennit), rate(record));
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text + word_notes(records) + item_notes(records) + rail_notes(records) +
           interval_notes(records);
}

std::string memory_table(const std::vector<Record> &records) {
    const auto sennit = sennit_values(records);
    const std::size_t width = widest_subject(records);
    constexpr double kKiB = 1024.0;
    std::string text =
        fmt::format("  {:<{}}  {:>11}  {:>8}  {:>8}  {:>8}  {:>6}  {:>7}  {:>8}\n", "subject",
                    width, "private KiB", "p5", "p95", "Pss KiB", "rounds", "x raw", "x sennit");
    for (const Record &record : records) {
        const bench::Summary &use = record.memory->private_bytes;
        text += fmt::format(
            "  {:<{}}  {:>11.0f}  {:>8.0f}  {:>8.0f}  {:>8.0f}  {:>6}  {:>7.2f}  {:>8}\n",
            record.subject, width, use.median / kKiB, use.p5 / kKiB, use.p95 / kKiB,
            record.memory->pss_bytes / kKiB, use.rounds, record.ratio_to_raw,
            ratio_to_sennit(record, sennit));
    }
    return text;
}

}  // namespace sennit::cli
