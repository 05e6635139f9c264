// The peers section of `sennit info`: for every pair of ranks the path taken, and for every path
// why or why not; for every rank how memory of each kind that it registers is reached, and why not
// in a better way: tried by registering some. Every rank writes what it knows into its piece of a
// global allocation, rank 0 gets all pieces: the tool uses the library as any program would.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "info.hpp"

namespace sennit::cli {
namespace {

constexpr std::int64_t kTimeoutNs = 30'000'000'000;
constexpr std::size_t kReasonBytes = 192;

// What came of registering memory of one kind.
struct Trial {
    std::int32_t status;
    std::int32_t mechanism;
    char reasons[SENNIT_MECHANISM_COUNT][kReasonBytes];
};

constexpr const char *kKinds[] = {"heap", "static", "stack"};
constexpr std::size_t kKindCount = std::size(kKinds);

// One rank's piece: an Identity, then one View for every rank.
struct Identity {
    std::int32_t process;
    char host[60];
    char bootstrap[32];
    Trial trials[kKindCount];
};

struct View {
    std::int32_t path;
    std::int32_t locality;
    char reasons[SENNIT_PATH_COUNT][kReasonBytes];
};
static_assert(sizeof(View) == 8 + SENNIT_PATH_COUNT * kReasonBytes);

void must(sennit_status status, const char *what) {
    if (status == SENNIT_OK) return;
    throw std::runtime_error(
        fmt::format("{}: {}: {}", what, sennit_status_string(status), sennit_last_error()->text));
}

const char *locality_name(int level) {
    constexpr const char *kNames[] = {"self", "process", "numa", "node", "network"};
    return level >= 0 && level < 5 ? kNames[level] : "unknown";
}

template <std::size_t bytes>
std::string text_of(const char (&text)[bytes]) {
    return std::string(text, strnlen(text, bytes));
}

Trial try_memory(void *memory, std::size_t bytes) {
    Trial trial{};
    sennit_region region = SENNIT_REGION_NULL;
    trial.status = sennit_register(memory, bytes, 0, &region);
    if (trial.status != SENNIT_OK) {
        std::strncpy(trial.reasons[0], sennit_last_error()->text, kReasonBytes - 1);
        return trial;
    }
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    must(sennit_region_mechanism(region, &mechanism), "sennit_region_mechanism");
    trial.mechanism = mechanism;
    for (int candidate = SENNIT_MECHANISM_INPROC; candidate < SENNIT_MECHANISM_COUNT; ++candidate) {
        must(sennit_region_reason(region, static_cast<sennit_mechanism>(candidate),
                                  trial.reasons[candidate], kReasonBytes),
             "sennit_region_reason");
    }
    must(sennit_deregister(region), "sennit_deregister");
    return trial;
}

// Memory of the kinds that programs have.
void try_registrations(Identity &identity) {
    constexpr std::size_t kBytes = 65536;
    static char of_program[kBytes];
    char on_stack[64];
    const auto on_heap = std::make_unique<char[]>(kBytes);
    identity.trials[0] = try_memory(on_heap.get(), kBytes);
    identity.trials[1] = try_memory(of_program, kBytes);
    identity.trials[2] = try_memory(on_stack, sizeof on_stack);
}

std::vector<char> own_piece(int size) {
    std::vector<char> piece(sizeof(Identity) + static_cast<std::size_t>(size) * sizeof(View));
    Identity identity{};
    identity.process = getpid();
    (void)gethostname(identity.host, sizeof identity.host - 1);
    const char *bootstrap = sennit_bootstrap_used();
    if (bootstrap != nullptr) {
        std::strncpy(identity.bootstrap, bootstrap, sizeof identity.bootstrap - 1);
    }
    try_registrations(identity);
    std::memcpy(piece.data(), &identity, sizeof identity);
    for (int rank = 0; rank < size; ++rank) {
        View view{};
        sennit_path path = SENNIT_PATH_NONE;
        sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
        if (sennit_peer_path(rank, &path) != SENNIT_OK) path = SENNIT_PATH_NONE;
        if (sennit_locality(rank, &level) != SENNIT_OK) level = SENNIT_LOCALITY_NETWORK;
        view.path = path;
        view.locality = level;
        for (int candidate = SENNIT_PATH_SELF; candidate < SENNIT_PATH_COUNT; ++candidate) {
            (void)sennit_peer_path_reason(rank, static_cast<sennit_path>(candidate),
                                          view.reasons[candidate], kReasonBytes);
        }
        std::memcpy(piece.data() + sizeof identity + static_cast<std::size_t>(rank) * sizeof view,
                    &view, sizeof view);
    }
    return piece;
}

Json pair_json(int from, int to, const View &view) {
    Json pair = {{"from", from},
                 {"to", to},
                 {"path", sennit_path_name(static_cast<sennit_path>(view.path))},
                 {"locality", locality_name(view.locality)}};
    for (int candidate = SENNIT_PATH_SELF; candidate < SENNIT_PATH_COUNT; ++candidate) {
        pair["reasons"][sennit_path_name(static_cast<sennit_path>(candidate))] =
            text_of(view.reasons[candidate]);
    }
    return pair;
}

Json trial_json(const char *kind, const Trial &trial) {
    Json json = {{"memory", kind}};
    if (trial.status != SENNIT_OK) {
        json["error"] = text_of(trial.reasons[0]);
        return json;
    }
    json["mechanism"] = sennit_mechanism_name(static_cast<sennit_mechanism>(trial.mechanism));
    for (int candidate = SENNIT_MECHANISM_INPROC; candidate < SENNIT_MECHANISM_COUNT; ++candidate) {
        json["reasons"][sennit_mechanism_name(static_cast<sennit_mechanism>(candidate))] =
            text_of(trial.reasons[candidate]);
    }
    return json;
}

// How the memory is reached, and why not by the better ways.
std::string trial_text(const Json &trial) {
    const auto kind = trial["memory"].get<std::string>();
    if (trial.contains("error")) {
        return fmt::format("    {:<7} {}\n", kind, trial["error"].get<std::string>());
    }
    const auto taken = trial["mechanism"].get<std::string>();
    std::string text = fmt::format("    {:<7} by {}\n", kind, taken);
    for (const auto &[candidate, reason] : trial["reasons"].items()) {
        if (candidate == taken) break;
        text += fmt::format("            not {}: {}\n", candidate, reason.get<std::string>());
    }
    return text;
}

void append_rank(Json &section, int rank, const std::vector<char> &piece, int size) {
    Identity identity{};
    std::memcpy(&identity, piece.data(), sizeof identity);
    section["ranks"].push_back({{"rank", rank},
                                {"host", text_of(identity.host)},
                                {"process", identity.process},
                                {"started_by", text_of(identity.bootstrap)}});
    for (std::size_t kind = 0; kind < kKindCount; ++kind) {
        section["ranks"].back()["registered_memory"].push_back(
            trial_json(kKinds[kind], identity.trials[kind]));
    }
    for (int to = 0; to < size; ++to) {
        View view{};
        std::memcpy(&view,
                    piece.data() + sizeof identity + static_cast<std::size_t>(to) * sizeof view,
                    sizeof view);
        section["pairs"].push_back(pair_json(rank, to, view));
    }
}

bool is_better(const std::string &candidate, const std::string &taken) {
    // In the order of preference; sim is for tests and never preferred.
    for (int path = SENNIT_PATH_SELF; path < SENNIT_PATH_SIM; ++path) {
        const std::string name = sennit_path_name(static_cast<sennit_path>(path));
        if (name == taken) return false;
        if (name == candidate) return true;
    }
    return false;
}

// Why this pair takes its path: the reasons of the path itself and of all better ones, and whether
// memory that is private to the peer is reached.
std::string explanation(const Json &pair) {
    const auto taken = pair["path"].get<std::string>();
    std::string text;
    for (const auto &[candidate, reason] : pair["reasons"].items()) {
        if (candidate == "self" && taken != "self") continue;  // another rank is never oneself
        if (candidate != taken && !is_better(candidate, taken)) continue;
        const auto sentence = reason.get<std::string>();
        // The reason of the path taken says so itself.
        text += fmt::format("    {:<7} {}{}\n", candidate,
                            candidate == taken ? "" : "not taken: ", sentence);
    }
    const auto cma = pair["reasons"]["cma"].get<std::string>();
    if (taken == "mapped") text += fmt::format("    {:<7} {}\n", "cma", cma);
    return text;
}

std::string matrix_text(const Json &section) {
    const std::size_t size = section["ranks"].size();
    std::string text = "  from \\ to";
    for (std::size_t to = 0; to < size; ++to)
        text += fmt::format(" {:>7}", to);
    text += "\n";
    for (std::size_t from = 0; from < size; ++from) {
        text += fmt::format("  {:>9}", from);
        for (std::size_t to = 0; to < size; ++to) {
            text += fmt::format(" {:>7}",
                                section["pairs"][from * size + to]["path"].get<std::string>());
        }
        text += "\n";
    }
    return text;
}

}  // namespace

Json peers_section() {
    const int size = sennit_size();
    const int rank = sennit_rank();
    const std::vector<char> mine = own_piece(size);
    sennit_gptr pieces = SENNIT_GPTR_NULL;
    must(sennit_alloc(SENNIT_TEAM_WORLD, mine.size(), 0, 0, &pieces), "sennit_alloc");
    must(sennit_put(sennit_gptr_at(pieces, rank), mine.data(), mine.size()), "sennit_put");
    must(sennit_barrier(SENNIT_TEAM_WORLD, kTimeoutNs), "sennit_barrier");
    Json section;
    if (rank == 0) {
        section = {{"ranks", Json::array()}, {"pairs", Json::array()}};
        for (int from = 0; from < size; ++from) {
            std::vector<char> piece(mine.size());
            must(sennit_get(piece.data(), sennit_gptr_at(pieces, from), piece.size()),
                 "sennit_get");
            append_rank(section, from, piece, size);
        }
    }
    must(sennit_free(pieces), "sennit_free");
    return section;
}

std::string peers_text(const Json &section) {
    std::string text;
    for (const Json &rank : section["ranks"]) {
        text += fmt::format("  rank {}: process {} on {}, started by {}\n", rank["rank"].get<int>(),
                            rank["process"].get<int>(), rank["host"].get<std::string>(),
                            rank["started_by"].get<std::string>());
    }
    text += matrix_text(section);
    // Pairs with the same story are told once.
    std::map<std::string, std::vector<std::string>> stories;
    for (const Json &pair : section["pairs"]) {
        stories[explanation(pair)].push_back(
            fmt::format("{}-{}", pair["from"].get<int>(), pair["to"].get<int>()));
    }
    for (const auto &[story, pairs] : stories) {
        constexpr std::size_t kShown = 12;
        std::string list;
        for (std::size_t i = 0; i < pairs.size() && i < kShown; ++i) {
            list += (i == 0 ? "" : ", ") + pairs[i];
        }
        if (pairs.size() > kShown) list += fmt::format(" and {} more", pairs.size() - kShown);
        text += fmt::format("  pairs {}\n{}", list, story);
    }
    std::map<std::string, std::string> registered;
    for (const Json &rank : section["ranks"]) {
        std::string story;
        for (const Json &trial : rank["registered_memory"]) {
            story += trial_text(trial);
        }
        std::string &ranks = registered[story];
        ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank["rank"].get<int>());
    }
    for (const auto &[story, ranks] : registered) {
        text += fmt::format("  memory that ranks {} register is reached by other ranks\n{}", ranks,
                            story);
    }
    return text;
}

}  // namespace sennit::cli
