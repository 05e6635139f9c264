// What the search of event_cells_test.cpp goes through: a state of a sender with two rails, an
// owner, and a network between them, and the bounds and mistakes of a search.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "op/event_cells.hpp"
#include "signal/counters.hpp"

namespace event_cells {

using namespace sennit;
using op::CellKind;
using op::Settling;

enum class Mistake : std::uint8_t {
    none,
    no_check,            // the sender does not look at the epoch that it knows
    guesses_epoch,       // it takes it that the owner has reset what it has sent
    trusts_completion,   // what was delivered counts as counted
    repeats_event,       // the event goes again with the data
    repeats_all,         // data goes again without a look at the cell
    asks_before,         // the owner is asked before the endpoint is closed
    settles_first,       // before the data is there
    settles_by_two,      // two settlements of a cell are under way
    carries_out_again,   // a settlement that comes late
    sends_on,            // events go by a rail that is not settled
    lands_late,          // events in the queue of a closed endpoint are taken
    compares_old,        // a row is compared with what had been sent when it was asked for
    forgets_epoch,       // data of an epoch that the owner has left goes again
    forgets_before,      // the same where the sender knows no epochs
    keeps_before,        // the owner tells of an epoch that is over
    counts_undelivered,  // an event that no rail brings, before its data is there
    settles_at_once,     // while events of the message that has failed may still come
    keeps_sum,           // what was counted of the message that has failed stays
    drops_count,         // its events are taken off the count too
    fails_unjudged       // a message fails, all of whose events may have been taken
};

constexpr unsigned kRails = 2;
constexpr unsigned kNone = kRails;  // the cell of no rail
constexpr unsigned kCells = kRails + 1;
constexpr unsigned kMostPieces = 4;
constexpr unsigned kMostEpochs = 3;

struct PieceBounds {
    std::uint8_t epoch;
    std::uint64_t addend;
};
struct Bounds {
    CellKind kind;
    bool is_checked;  // the sender looks at the epoch that it knows; else the program orders
    std::vector<PieceBounds> pieces;
    unsigned epochs;
    unsigned faults;
    unsigned without_rail;  // so many pieces may find no rail for their event
    bool fails;  // the message in the first two pieces may fail, and the third takes its place
};

enum class Piece : std::uint8_t {
    none,
    out,
    lost,   // the data has to go again
    again,  // it does, by plain_by
    there,  // and was delivered; a settlement is to come
    done,
    failed
};

struct State {
    // The owner, and what the network does there.
    std::array<op::OwnerCell, kCells> owner{};
    std::array<std::uint64_t, 2> slot{};
    std::uint8_t epoch = 0;
    std::array<bool, kMostEpochs> is_read{};
    std::array<bool, kMostEpochs + 1> told{};  // an epoch that was pushed
    std::array<bool, kMostPieces> data{};
    std::array<bool, kMostPieces> queued{};
    std::array<bool, kMostPieces> event_flies{};
    std::array<bool, kMostPieces> plain_flies{};
    std::array<std::uint8_t, kRails> opened{};
    std::array<bool, kRails> has_lost{};  // the sender has not heard of it
    std::uint8_t faults = 0;
    std::uint8_t without_rail = 0;
    // Questions.
    std::array<bool, kRails> is_asked{};
    std::array<bool, kRails> is_answered{};
    std::array<op::CellRow, kRails> answer{};
    bool wants_rows = false;
    bool has_rows = false;
    std::array<op::CellRow, kCells> rows{};
    std::array<std::array<std::uint32_t, 2>, kCells> sent_then{};  // for compares_old
    // The settlement that is out.
    bool settles = false;
    bool carried_out = false;
    std::array<bool, kCells> in_it{};
    std::array<std::array<op::Settlement, op::kCellPlaces>, kCells> said{};
    // And one that comes again, for rules with a mistake.
    std::array<bool, kCells> in_old{};
    std::array<std::array<op::Settlement, op::kCellPlaces>, kCells> old_said{};
    // The sender.
    std::array<op::SenderCell, kCells> cells{};
    std::array<Piece, kMostPieces> pieces{};
    std::array<std::uint8_t, kMostPieces> home{};  // cell
    std::array<std::uint8_t, kMostPieces> plain_by{};
    std::array<std::uint32_t, kMostPieces> number{};
    std::array<bool, kMostPieces> has_ok{};  // it has heard of the delivery
    std::array<std::uint8_t, kRails> number_of{};
    std::array<bool, kRails> in_doubt{};
    std::uint8_t known = 0;
    std::uint8_t next = 0;
    bool has_failed = false;
    bool has_ended = false;
};

// All of a state, in few bytes: values are small, also below zero.
class Key {
  public:
    explicit Key(const State &s) {
        add(s.slot, s.epoch, s.is_read, s.told, s.data, s.queued, s.event_flies, s.plain_flies,
            s.opened, s.has_lost, s.faults, s.without_rail, s.is_asked, s.is_answered, s.wants_rows,
            s.has_rows, s.sent_then, s.settles, s.carried_out, s.in_it, s.in_old, s.pieces, s.home,
            s.plain_by, s.number, s.has_ok, s.number_of, s.in_doubt, s.known, s.next, s.has_failed,
            s.has_ended);
        for (unsigned cell = 0; cell < kCells; ++cell) {
            add(s.owner[cell].sum, s.owner[cell].count, s.rows[cell].epoch, s.rows[cell].count);
            const op::SenderCell &sender = s.cells[cell];
            add(sender.sum, sender.last, sender.sent, sender.confirmed, sender.settling,
                sender.has_changed);
            for (const auto *said : {&s.said[cell], &s.old_said[cell]})
                for (const op::Settlement &settlement : *said)
                    add(settlement.epoch, settlement.sum, settlement.count);
        }
        for (const op::CellRow &row : s.answer)
            add(row.epoch, row.count);
    }
    std::string take() { return std::move(bytes_); }

  private:
    template <class... T>
    void add(const T &...values) {
        (add_one(values), ...);
    }
    template <class T>
    void add_one(const T &value) {
        if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
            bytes_.push_back(static_cast<char>(value));
        } else {
            for (const auto &element : value)
                add_one(element);
        }
    }
    std::string bytes_;
};

// All states that can be reached from the first, and the ways between them.
class Graph {
  public:
    virtual ~Graph() = default;

    // Empty, or what is wrong.
    std::string run() {
        visit(State{});
        while (!open_.empty() && wrong_.empty()) {
            const auto [state, index] = std::move(open_.back());
            open_.pop_back();
            from_ = index;
            step(state);
        }
        if (wrong_.empty()) look_for_end();
        return wrong_;
    }
    std::size_t states() const { return seen_.size(); }

  protected:
    void visit(const State &state) {
        const auto [place, is_new] =
            seen_.emplace(Key(state).take(), static_cast<std::uint32_t>(seen_.size()));
        edges_.emplace_back(place->second, from_);
        if (!is_new) return;
        if (is_end(state)) ends_.push_back(place->second);
        open_.emplace_back(state, place->second);
    }

    void require(bool holds, const char *what) {
        if (!holds && wrong_.empty()) wrong_ = what;
    }

  private:
    virtual void step(const State &state) = 0;
    virtual bool is_end(const State &state) const = 0;

    // From every state an end can be reached.
    void look_for_end() {
        std::vector<std::uint32_t> first(seen_.size() + 1, 0);
        for (const auto &edge : edges_)
            ++first[edge.first + 1];
        for (std::size_t i = 1; i < first.size(); ++i)
            first[i] += first[i - 1];
        std::vector<std::uint32_t> before(edges_.size());
        std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
        for (const auto &edge : edges_)
            before[at[edge.first]++] = edge.second;
        std::vector<bool> reaches(seen_.size(), false);
        std::vector<std::uint32_t> open = ends_;
        std::size_t found = 0;
        while (!open.empty()) {
            const std::uint32_t state = open.back();
            open.pop_back();
            if (reaches[state]) continue;
            reaches[state] = true;
            ++found;
            for (std::uint32_t i = first[state]; i < first[state + 1]; ++i)
                open.push_back(before[i]);
        }
        require(found == seen_.size(), "something waits for ever");
    }

    std::unordered_map<std::string, std::uint32_t> seen_;
    std::vector<std::pair<State, std::uint32_t>> open_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // to, from
    std::vector<std::uint32_t> ends_;
    std::uint32_t from_ = 0;
    std::string wrong_;
};

// One message of two parts in the first epoch, or of one.
inline const std::uint64_t kWhole = signal::kWholeMessage;
inline const std::uint64_t kFirst = signal::first_part(2, 1);
inline const std::uint64_t kFurther = signal::further_part(1);

inline const Bounds kTwoParts = {
    CellKind::explicit_epoch, true, {{0, kFirst}, {0, kFurther}, {1, kWhole}}, 2, 1, 0, false};
inline const Bounds kThreeEpochs = {
    CellKind::explicit_epoch, true, {{0, kWhole}, {1, kWhole}, {2, kWhole}}, 3, 1, 0, false};
inline const Bounds kWithoutRail = {
    CellKind::explicit_epoch, true, {{0, kFirst}, {0, kFurther}}, 1, 1, 2, false};
inline const Bounds kUnchecked = {
    CellKind::explicit_epoch, false, {{0, kWhole}, {1, kWhole}, {2, kWhole}}, 3, 1, 0, false};
inline const Bounds kCurrent = {
    CellKind::current_epoch, false, {{0, kFirst}, {0, kFurther}, {1, kWhole}}, 2, 1, 1, false};
inline const Bounds kFailing = {
    CellKind::explicit_epoch, true, {{0, kFirst}, {0, kFurther}, {0, kWhole}}, 1, 1, 1, true};

}  // namespace event_cells
