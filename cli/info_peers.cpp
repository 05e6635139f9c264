// The peers section of `sennit info`. For every pair of ranks it has the chosen path, and for every
// path the reason for or against it. For every rank and every kind of memory (heap, variables,
// stack) it has the mechanism that reaches registered memory, and the reasons against better
// mechanisms. Each rank registers some memory to find the mechanism. Every other rank queries this
// memory, since a peer may need another mechanism than the owner. Every rank writes its results
// into its piece of a global allocation, and rank 0 gets all pieces.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "info.hpp"
#include "interfaces.hpp"

namespace sennit::cli {
namespace {

constexpr std::int64_t kTimeoutNs = 30'000'000'000;
constexpr std::size_t kReasonBytes = 192;
constexpr int kRails = 8;   // shown for each rank, at most
constexpr int kCards = 16;  // of a node, at most

// The result of registering memory of one kind.
struct Trial {
    std::int32_t status;
    std::int32_t mechanism;
    char reasons[SENNIT_MECHANISM_END][kReasonBytes];
};

constexpr const char *kKinds[] = {"heap", "static", "stack"};
constexpr std::size_t kKindCount = std::size(kKinds);

// An interface of a rank's node.
struct Card {
    char name[16];
    char address[16];
    std::int32_t mtu;
    std::int32_t speed_mbit;
};

// One rank's piece: an Identity, then one View for every rank.
struct Identity {
    std::int32_t process;
    char host[60];
    char bootstrap[32];
    Trial trials[kKindCount];
    sennit_region region;  // memory of the heap, which the other ranks query
    std::int32_t card_count;
    Card cards[kCards];
};

struct View {
    std::int32_t path;
    std::int32_t locality;
    char reasons[SENNIT_PATH_END][kReasonBytes];
    Trial memory;  // how this rank reaches the other's memory
    std::int32_t rail_count;
    sennit_rail rails[kRails];
    CardPlace places[kRails];  // of the rails' cards
};
static_assert(sizeof(View) == 12 + SENNIT_PATH_END * kReasonBytes + sizeof(Trial) +
                                  kRails * (sizeof(sennit_rail) + sizeof(CardPlace)));

void must(sennit_status status, const char *what) {
    if (status == SENNIT_OK) return;
    throw std::runtime_error(
        fmt::format("{}: {}: {}", what, sennit_status_string(status), sennit_last_error()->text));
}

template <std::size_t bytes>
std::string text_of(const char (&text)[bytes]) {
    return std::string(text, strnlen(text, bytes));
}

Trial failed_trial(sennit_status status) {
    Trial trial{};
    trial.status = status;
    std::strncpy(trial.reasons[0], sennit_last_error()->text, kReasonBytes - 1);
    return trial;
}

// How this rank reaches the region, and the reason against better mechanisms.
Trial query_region(sennit_region region) {
    Trial trial{};
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    sennit_status status = sennit_region_mechanism(region, &mechanism);
    trial.mechanism = mechanism;
    for (int candidate = SENNIT_MECHANISM_INPROC;
         candidate < SENNIT_MECHANISM_END && status == SENNIT_OK; ++candidate) {
        status = sennit_region_reason(region, static_cast<sennit_mechanism>(candidate),
                                      trial.reasons[candidate], kReasonBytes);
    }
    return status == SENNIT_OK ? trial : failed_trial(status);
}

// The result of registering memory; `region` is null if that failed. let_go() deregisters it.
struct Registered {
    Trial trial;
    sennit_region region = SENNIT_REGION_NULL;
};

Registered registered(void *memory, std::size_t bytes) {
    Registered registered;
    const sennit_status status = sennit_register(memory, bytes, 0, &registered.region);
    registered.trial = status == SENNIT_OK ? query_region(registered.region) : failed_trial(status);
    return registered;
}

void let_go(const Registered &registered) {
    if (registered.region.gptr.segment != 0)
        must(sennit_deregister(registered.region), "sennit_deregister");
}

constexpr std::size_t kTriedBytes = 65536;

// Tries to register memory of other kinds.
void try_others(Identity &identity) {
    static char of_program[kTriedBytes];
    char on_stack[64];
    const Registered tries[] = {registered(of_program, kTriedBytes),
                                registered(on_stack, sizeof on_stack)};
    for (std::size_t i = 0; i < std::size(tries); ++i) {
        identity.trials[i + 1] = tries[i].trial;
        let_go(tries[i]);
    }
}

void describe_cards(Identity &identity) {
    for (const Interface &one : interfaces()) {
        if (identity.card_count == kCards) return;
        Card &card = identity.cards[identity.card_count++];
        std::strncpy(card.name, one.name.c_str(), sizeof card.name - 1);
        std::strncpy(card.address, one.address.c_str(), sizeof card.address - 1);
        card.mtu = one.mtu;
        card.speed_mbit = one.speed_mbit;
    }
}

std::vector<char> own_piece(int size, const Registered &on_heap) {
    std::vector<char> piece(sizeof(Identity) + static_cast<std::size_t>(size) * sizeof(View));
    Identity identity{};
    identity.process = getpid();
    (void)gethostname(identity.host, sizeof identity.host - 1);
    const char *bootstrap = sennit_bootstrap_used();
    if (bootstrap != nullptr) {
        std::strncpy(identity.bootstrap, bootstrap, sizeof identity.bootstrap - 1);
    }
    describe_cards(identity);
    try_others(identity);
    identity.trials[0] = on_heap.trial;
    identity.region = on_heap.region;
    std::memcpy(piece.data(), &identity, sizeof identity);
    return piece;
}

View view_of(int rank, sennit_region region) {
    View view{};
    sennit_path path = SENNIT_PATH_NONE;
    sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
    if (sennit_peer_path(rank, &path) != SENNIT_OK) path = SENNIT_PATH_NONE;
    if (sennit_locality(rank, &level) != SENNIT_OK) level = SENNIT_LOCALITY_NETWORK;
    view.path = path;
    view.locality = level;
    for (int candidate = SENNIT_PATH_SELF; candidate < SENNIT_PATH_END; ++candidate) {
        (void)sennit_peer_path_reason(rank, static_cast<sennit_path>(candidate),
                                      view.reasons[candidate], kReasonBytes);
    }
    while (view.rail_count < kRails &&
           sennit_peer_rail(rank, view.rail_count, &view.rails[view.rail_count]) == SENNIT_OK) {
        const sennit_rail &rail = view.rails[view.rail_count];
        view.places[view.rail_count++] =
            card_place(text_of(rail.bus), text_of(rail.interface_name));
    }
    // A rank that could not register its memory has no region.
    view.memory = region.gptr.segment != 0 ? query_region(region) : Trial{SENNIT_ERR_STATE, 0, {}};
    return view;
}

// Adds this rank's view of each rank. The pieces must already have the identities of all ranks.
void add_views(sennit_gptr pieces, int size, std::vector<char> &piece) {
    for (int rank = 0; rank < size; ++rank) {
        Identity theirs{};
        if (sennit_get(&theirs, sennit_gptr_at(pieces, rank), sizeof theirs) != SENNIT_OK) {
            theirs = Identity{};
        }
        const View view = view_of(rank, theirs.region);
        std::memcpy(piece.data() + sizeof theirs + static_cast<std::size_t>(rank) * sizeof view,
                    &view, sizeof view);
    }
}

Json trial_json(const char *kind, const Trial &trial) {
    Json json = {{"memory", kind}};
    if (trial.status != SENNIT_OK) {
        json["error"] = text_of(trial.reasons[0]);
        return json;
    }
    json["mechanism"] = sennit_mechanism_name(static_cast<sennit_mechanism>(trial.mechanism));
    for (int candidate = SENNIT_MECHANISM_INPROC; candidate < SENNIT_MECHANISM_END; ++candidate) {
        json["reasons"][sennit_mechanism_name(static_cast<sennit_mechanism>(candidate))] =
            text_of(trial.reasons[candidate]);
    }
    return json;
}

Json rails_json(const View &view) {
    Json rails = Json::array();
    for (int i = 0; i < view.rail_count; ++i) {
        const sennit_rail &rail = view.rails[i];
        rails.push_back({{"interface", text_of(rail.interface_name)},
                         {"provider", text_of(rail.provider)},
                         {"address", text_of(rail.address)},
                         {"peer_address", text_of(rail.peer_address)},
                         {"used", rail.is_used != 0},
                         {"number", rail.number},
                         {"level", rail.level},
                         {"reason", text_of(rail.reason)},
                         {"bus", text_of(rail.bus)},
                         {"speed_mbit", rail.speed_mbit}});
        add_place(view.places[i], &rails.back());
    }
    return rails;
}

Json pair_json(int from, int to, const View &view) {
    Json pair = {{"from", from},
                 {"to", to},
                 {"path", sennit_path_name(static_cast<sennit_path>(view.path))},
                 {"locality", locality_name(view.locality)}};
    for (int candidate = SENNIT_PATH_SELF; candidate < SENNIT_PATH_END; ++candidate) {
        pair["reasons"][sennit_path_name(static_cast<sennit_path>(candidate))] =
            text_of(view.reasons[candidate]);
    }
    pair["rails"] = rails_json(view);
    pair["registered_memory"] = trial_json("heap", view.memory);
    return pair;
}

// The mechanism of the memory, and the reason against better ones.
std::string trial_text(const Json &trial) {
    const auto kind = trial["memory"].get<std::string>();
    if (trial.contains("error")) {
        return fmt::format("    {:<7} {}\n", kind, trial["error"].get<std::string>());
    }
    const auto taken = trial["mechanism"].get<std::string>();
    std::string text = fmt::format("    {:<7} by {}{}\n", kind, taken,
                                   taken == sennit_mechanism_name(SENNIT_MECHANISM_CMA)
                                       ? " (copied by the kernel, or by the path's messages)"
                                       : "");
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
    section["ranks"].back()["interfaces"] = Json::array();
    for (int i = 0; i < identity.card_count; ++i) {
        const Card &card = identity.cards[i];
        section["ranks"].back()["interfaces"].push_back({{"name", text_of(card.name)},
                                                         {"address", text_of(card.address)},
                                                         {"mtu", card.mtu},
                                                         {"speed_mbit", card.speed_mbit}});
    }
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

// The piece that stands for a rank that this rank cannot reach.
std::vector<char> unknown_piece(std::size_t bytes, int size, int rank) {
    std::vector<char> piece(bytes);
    constexpr char kText[] = "rank 0, which asks, has no path to this rank";
    static_assert(sizeof kText <= kReasonBytes);
    View view{};
    view.locality = -1;
    for (auto &reason : view.reasons)
        std::memcpy(reason, kText, sizeof kText);
    view.memory.status = SENNIT_ERR_OTHER_NODE;
    std::memcpy(view.memory.reasons[0], kText, sizeof kText);
    Identity identity{};
    sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
    must(sennit_locality(rank, &level), "sennit_locality");
    if (level == SENNIT_LOCALITY_NETWORK)
        std::strncpy(identity.host, "another node", sizeof identity.host - 1);
    else
        (void)gethostname(identity.host, sizeof identity.host - 1);
    for (Trial &trial : identity.trials)
        trial = view.memory;
    std::memcpy(piece.data(), &identity, sizeof identity);
    for (int to = 0; to < size; ++to)
        std::memcpy(piece.data() + sizeof identity + static_cast<std::size_t>(to) * sizeof view,
                    &view, sizeof view);
    return piece;
}

bool is_better(const std::string &candidate, const std::string &taken) {
    // In the order of preference; sim is for tests and never preferred.
    for (int path = SENNIT_PATH_SELF; path < SENNIT_PATH_END; ++path) {
        const std::string name = sennit_path_name(static_cast<sennit_path>(path));
        if (name == taken) return false;
        if (name == candidate) return path != SENNIT_PATH_SIM;
    }
    return false;
}

// Null if the rank has no interface with that address.
const Json *card_at(const Json &rank, const Json &address) {
    for (const Json &card : rank["interfaces"])
        if (card["address"] == address) return &card;
    return nullptr;
}

// Warns of different frame sizes: frames that are too large for the other end are lost without an
// error.
Json warnings_of(const Json &section) {
    std::set<std::string> texts;
    for (const Json &pair : section["pairs"]) {
        for (const Json &rail : pair["rails"]) {
            const Json &from = section["ranks"][pair["from"].get<std::size_t>()];
            const Json &to = section["ranks"][pair["to"].get<std::size_t>()];
            const Json *here = card_at(from, rail["address"]);
            const Json *there = card_at(to, rail["peer_address"]);
            if (here == nullptr || there == nullptr || (*here)["mtu"] <= (*there)["mtu"]) continue;
            texts.insert(fmt::format("MTU differs: {} of {} has {}, {} of {} has {}",
                                     (*here)["name"].get<std::string>(),
                                     from["host"].get<std::string>(), (*here)["mtu"].get<int>(),
                                     (*there)["name"].get<std::string>(),
                                     to["host"].get<std::string>(), (*there)["mtu"].get<int>()));
        }
    }
    return texts;
}

// The interfaces to other nodes, with their properties.
std::string used_cards_text(const Json &section, std::size_t rank) {
    std::set<std::string> used;
    for (const Json &pair : section["pairs"])
        for (const Json &rail : pair["rails"])
            if (pair["from"] == rank && rail["used"].get<bool>())
                used.insert(rail["address"].get<std::string>());
    std::string text;
    for (const std::string &address : used) {
        const Json *card = card_at(section["ranks"][rank], address);
        if (card == nullptr) continue;
        const int speed = (*card)["speed_mbit"].get<int>();
        text += fmt::format("    by {} {}, MTU {}{}\n", (*card)["name"].get<std::string>(), address,
                            (*card)["mtu"].get<int>(),
                            speed > 0 ? fmt::format(", {} Mbit/s", speed) : "");
    }
    return text;
}

std::string rails_text(const Json &pair) {
    std::string text;
    for (const Json &rail : pair["rails"]) {
        text += fmt::format("    rail    {} ({}) {}: {}", rail["interface"].get<std::string>(),
                            rail["provider"].get<std::string>(),
                            rail["used"].get<bool>()
                                ? fmt::format("used as number {}", rail["number"].get<int>())
                                : "not used",
                            rail["reason"].get<std::string>());
        if (rail["used"].get<bool>()) text += fmt::format("; level {}", rail["level"].get<int>());
        if (rail["speed_mbit"].get<int>() > 0)
            text += fmt::format("; {} Mbit/s", rail["speed_mbit"].get<int>());
        const std::string place = place_text(rail);
        text += place.empty() ? "\n" : fmt::format("; {}\n", place);
    }
    return text;
}

// The reason for the path of a pair, and the reasons against all better paths. Further lines
// describe the rails between different nodes, whether CMA reaches private memory of the peer, and
// the mechanism of registered memory if it differs from the owner's.
std::string explanation(const Json &pair, const Json &ranks) {
    const auto taken = pair["path"].get<std::string>();
    std::string text;
    for (const auto &[candidate, reason] : pair["reasons"].items()) {
        if (candidate == "self" && taken != "self")
            continue;  // self is never a path to another rank
        if (candidate != taken && !is_better(candidate, taken)) continue;
        const auto sentence = reason.get<std::string>();
        text += fmt::format("    {:<7} {}{}\n", candidate,
                            candidate == taken ? "" : "not taken: ", sentence);
    }
    if (pair["locality"] == locality_name(SENNIT_LOCALITY_NETWORK)) text += rails_text(pair);
    const auto cma = pair["reasons"]["cma"].get<std::string>();
    if (taken == "mapped") text += fmt::format("    {:<7} {}\n", "cma", cma);
    const Json &here = pair["registered_memory"];
    const Json &there = ranks[pair["to"].get<std::size_t>()]["registered_memory"][0];
    if (here.contains("mechanism") && here["mechanism"] != there["mechanism"]) {
        text += "   registered memory\n" + trial_text(here);
    }
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
    const auto memory = std::make_unique<char[]>(kTriedBytes);
    const Registered on_heap = registered(memory.get(), kTriedBytes);
    std::vector<char> mine = own_piece(size, on_heap);
    sennit_gptr pieces = SENNIT_GPTR_NULL;
    must(sennit_alloc(SENNIT_TEAM_WORLD, mine.size(), 0, 0, &pieces), "sennit_alloc");
    // First the identities, then the views, which need the identities of all ranks.
    for (const bool all_are_named : {false, true}) {
        if (all_are_named) add_views(pieces, size, mine);
        must(sennit_put(sennit_gptr_at(pieces, rank), mine.data(), mine.size()), "sennit_put");
        must(sennit_barrier(SENNIT_TEAM_WORLD, kTimeoutNs), "sennit_barrier");
    }
    let_go(on_heap);
    Json section;
    if (rank == 0) {
        section = {{"ranks", Json::array()}, {"pairs", Json::array()}};
        for (int from = 0; from < size; ++from) {
            std::vector<char> piece(mine.size());
            const sennit_status status =
                sennit_get(piece.data(), sennit_gptr_at(pieces, from), piece.size());
            if (status == SENNIT_ERR_OTHER_NODE) {
                piece = unknown_piece(piece.size(), size, from);
            } else {
                must(status, "sennit_get");
            }
            append_rank(section, from, piece, size);
        }
    }
    must(sennit_free(pieces), "sennit_free");
    if (rank == 0) section["warnings"] = warnings_of(section);
    if (rank == 0) count_levels(&section);
    return section;
}

std::string peers_text(const Json &section) {
    std::string text;
    for (const Json &rank : section["ranks"]) {
        const auto number = rank["rank"].get<int>();
        const auto host = rank["host"].get<std::string>();
        const auto launcher = rank["started_by"].get<std::string>();
        text += launcher.empty()
                    ? fmt::format("  rank {}: on {}, no path from rank 0\n", number, host)
                    : fmt::format("  rank {}: process {} on {}, started by {}\n", number,
                                  rank["process"].get<int>(), host, launcher);
        text += used_cards_text(section, rank["rank"].get<std::size_t>());
    }
    for (const Json &warning : section["warnings"])
        text += fmt::format("  {}\n", warning.get<std::string>());
    text += matrix_text(section);
    text += counts_text(section);
    // Pairs with the same text are shown together.
    std::map<std::string, std::vector<std::string>> stories;
    for (const Json &pair : section["pairs"]) {
        stories[explanation(pair, section["ranks"])].push_back(
            fmt::format("{}-{}", pair["from"].get<int>(), pair["to"].get<int>()));
    }
    for (const auto &[story, pairs] : stories) {
        constexpr std::size_t kShown = 12;
        std::string list;
        for (std::size_t i = 0; i < pairs.size() && i < kShown; ++i) {
            list += (i == 0 ? "" : ", ") + pairs[i];
        }
        if (pairs.size() > kShown) list += fmt::format(" and {} more", pairs.size() - kShown);
        text += fmt::format("  {} {}\n{}", pairs.size() == 1 ? "pair" : "pairs", list, story);
    }
    std::map<std::string, std::vector<int>> registered;
    for (const Json &rank : section["ranks"]) {
        std::string story;
        for (const Json &trial : rank["registered_memory"]) {
            story += trial_text(trial);
        }
        registered[story].push_back(rank["rank"].get<int>());
    }
    for (const auto &[story, ranks] : registered) {
        const bool is_one = ranks.size() == 1;
        text += fmt::format("  how other ranks reach memory that rank{} {} register{}\n{}",
                            is_one ? "" : "s", fmt::join(ranks, ", "), is_one ? "s" : "", story);
    }
    return text;
}

}  // namespace sennit::cli
