#include "common/record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sennit::bench {

namespace {

std::string complaint_about(const Summary &summary, const std::string &what) {
    if (!(summary.median > 0.0) || !std::isfinite(summary.p95)) {
        return what + " is not positive and finite";
    }
    if (!(summary.p5 <= summary.median && summary.median <= summary.p95)) {
        return what + ": p5, median and p95 are not in order";
    }
    return summary.rounds == 0 ? what + " has no rounds" : "";
}

}  // namespace

nlohmann::ordered_json to_json(const Record &record) {
    nlohmann::ordered_json line;
    line["bench"] = record.bench;
    line["subject"] = record.subject;
    line["bytes"] = record.bytes;
    line["ranks"] = record.ranks;
    line["median_ns"] = nullptr;
    line["p5_ns"] = nullptr;
    line["p95_ns"] = nullptr;
    if (record.time_ns) {
        line["median_ns"] = record.time_ns->median;
        line["p5_ns"] = record.time_ns->p5;
        line["p95_ns"] = record.time_ns->p95;
        line["rounds"] = record.time_ns->rounds;
    } else if (record.memory) {
        line["rounds"] = record.memory->private_bytes.rounds;
    }
    line["ratio_to_raw"] = record.ratio_to_raw;
    if (record.ratio_high > 0.0) {
        line["ratio_low"] = record.ratio_low;
        line["ratio_high"] = record.ratio_high;
    }
    line["job"] = record.job;
    if (record.hosts > 1) {
        line["hosts"] = record.hosts;
        line["rails"] = record.rails;
        line["provider"] = record.provider;
        if (record.level >= 0) {
            line["level"] = record.level;
            line["progress"] = record.progress;
        }
    }
    if (record.memory) {
        line["private_bytes"] = record.memory->private_bytes.median;
        line["private_p5_bytes"] = record.memory->private_bytes.p5;
        line["private_p95_bytes"] = record.memory->private_bytes.p95;
        line["pss_bytes"] = record.memory->pss_bytes;
    }
    return line;
}

std::string line_of(const Record &record) {
    return to_json(record).dump() + '\n';
}

std::string line_of(const JobNote &note) {
    nlohmann::ordered_json line;
    line["job"] = note.job;
    line["library"] = note.library;
    line["ranks"] = note.ranks;
    line["binding"] = note.binding;
    line["oversubscribed"] = note.oversubscribed;
    return line.dump() + '\n';
}

Record record_from_json(const nlohmann::ordered_json &line) {
    Record record;
    record.bench = line.at("bench").get<std::string>();
    record.subject = line.at("subject").get<std::string>();
    record.job = line.at("job").get<std::string>();
    record.bytes = line.at("bytes").get<std::uint64_t>();
    record.ranks = line.at("ranks").get<int>();
    record.hosts = line.value("hosts", 1);
    record.rails = line.value("rails", 1);
    record.provider = line.value("provider", std::string());
    record.level = line.value("level", -1);
    record.progress = line.value("progress", std::string());
    record.ratio_to_raw = line.at("ratio_to_raw").get<double>();
    record.ratio_low = line.value("ratio_low", 0.0);
    record.ratio_high = line.value("ratio_high", 0.0);
    const auto rounds = line.at("rounds").get<std::size_t>();
    if (!line.at("median_ns").is_null()) {
        record.time_ns = Summary{line.at("median_ns").get<double>(), line.at("p5_ns").get<double>(),
                                 line.at("p95_ns").get<double>(), rounds};
    }
    if (line.contains("private_bytes")) {
        record.memory = MemoryUse{Summary{line.at("private_bytes").get<double>(),
                                          line.at("private_p5_bytes").get<double>(),
                                          line.at("private_p95_bytes").get<double>(), rounds},
                                  line.at("pss_bytes").get<double>()};
    }
    const std::string complaint = complaint_about(record);
    if (!complaint.empty()) {
        throw std::invalid_argument(record.bench + " " + record.subject + ": " + complaint);
    }
    return record;
}

std::string complaint_about(const Record &record) {
    if (record.bench.empty() || record.subject.find('-') == std::string::npos) {
        return "bench or subject has no proper name";
    }
    if (record.ranks < 1) {
        return "ranks is not positive";
    }
    if (!(record.ratio_to_raw > 0.0) || !std::isfinite(record.ratio_to_raw)) {
        return "ratio_to_raw is not positive and finite";
    }
    if (record.time_ns.has_value() == record.memory.has_value()) {
        return "a record holds either times or memory";
    }
    return record.time_ns ? complaint_about(*record.time_ns, "the time")
                          : complaint_about(record.memory->private_bytes, "private memory");
}

}  // namespace sennit::bench
