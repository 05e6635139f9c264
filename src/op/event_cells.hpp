// Events that are counted by cells: the two halves of the bookkeeping between one sender and one
// owner of a signal. Pure functions. docs/design/decisions/0005-notified-puts-in-one-message.md has
// the rules, and why they suffice; tests/models/event_cells_test.cpp searches what can happen with
// these functions.
//
// Both keep a cell for each rail of a subscription, and one for events that no rail brings. A cell
// counts: the sender's what it has sent, the owner's what it has taken, which is never more. Equal
// counts mean that all has come. After a fence nothing that was sent and not taken comes any more,
// and a settlement makes the owner's cell equal to the sender's.
#pragma once

#include <cstdint>

namespace sennit::op {

// Whether the sender names the epoch of an event. If not, it is counted in the epoch that the owner
// is in when it comes.
enum class CellKind : std::uint8_t { explicit_epoch, current_epoch };

// A cell of kind explicit_epoch counts even and odd epochs apart; the other kind uses the first
// place alone.
inline constexpr unsigned kCellPlaces = 2;
constexpr unsigned places_of(CellKind kind) {
    return kind == CellKind::current_epoch ? 1 : kCellPlaces;
}
constexpr unsigned place_of(CellKind kind, std::uint64_t epoch) {
    return static_cast<unsigned>(epoch % places_of(kind));
}

// Numbers of events, modulo 2^32: `number` is not behind the first `count` of them.
constexpr bool is_among(std::uint32_t number, std::uint32_t count) {
    return static_cast<std::int32_t>(number - count) <= 0;
}

// ---- The owner's half.

struct OwnerCell {
    std::uint64_t sum[kCellPlaces] = {};    // of what the events taken add to the signal
    std::uint32_t count[kCellPlaces] = {};  // events taken
};
static_assert(sizeof(OwnerCell) == 24);
// Kind current_epoch: sum[1] is an epoch, and count[1] how many were taken when it began.

// What the owner tells of a cell. count[1] as in the cell.
struct CellRow {
    std::uint64_t epoch = 0;  // the owner's
    std::uint32_t count[kCellPlaces] = {};
};

// The sender says what the cell is to be.
struct Settlement {
    std::uint64_t epoch = 0;  // of the last event of this place
    std::uint64_t sum = 0;
    std::uint32_t count = 0;
    std::uint8_t place = 0;
};

// Before anything is taken or told.
constexpr void note_owner_epoch(OwnerCell &cell, CellKind kind, std::uint64_t owners_epoch) {
    if (kind != CellKind::current_epoch || cell.sum[1] == owners_epoch) return;
    cell.sum[1] = owners_epoch;
    cell.count[1] = cell.count[0];
}

// An event has come, whether it is added to the signal or refused.
constexpr void take_event(OwnerCell &cell, CellKind kind, std::uint64_t owners_epoch,
                          std::uint64_t epoch, std::uint64_t addend) {
    note_owner_epoch(cell, kind, owners_epoch);
    const unsigned place = place_of(kind, epoch);
    cell.sum[place] += addend;
    ++cell.count[place];
}

constexpr CellRow row_of(OwnerCell &cell, CellKind kind, std::uint64_t owners_epoch) {
    note_owner_epoch(cell, kind, owners_epoch);
    return CellRow{owners_epoch, {cell.count[0], cell.count[1]}};
}

// Returns what is to be added to the signal, in the epoch of the settlement, or in the owner's for
// kind current_epoch. A settlement may come again, then it returns 0.
constexpr std::uint64_t settle(OwnerCell &cell, CellKind kind, std::uint64_t owners_epoch,
                               const Settlement &settlement) {
    note_owner_epoch(cell, kind, owners_epoch);
    const std::uint64_t missing = settlement.sum - cell.sum[settlement.place];
    cell.sum[settlement.place] = settlement.sum;
    cell.count[settlement.place] = settlement.count;
    return missing;
}

// ---- The sender's half.

enum class Settling : std::uint8_t {
    no,
    open,    // a message has failed, and its events may still come
    cut,     // nothing comes any more that is not taken; the owner is to be asked
    asked,   // the question was sent after the cut
    wanted,  // the owner's count is known, and is to be changed when all data is there
    under_way
};

struct SenderCell {
    std::uint64_t sum[kCellPlaces] = {};
    std::uint64_t last[kCellPlaces] = {};  // epoch
    std::uint32_t sent[kCellPlaces] = {};
    std::uint32_t confirmed[kCellPlaces] = {};  // of those sent, the first
    Settling settling = Settling::no;
    bool has_changed = false;  // what was sent adds something else than the sum
};

// An event that was sent by the cell, and whose data is kept.
struct SentEvent {
    std::uint64_t epoch;
    std::uint32_t number;  // in its place of the cell, from 1
};

constexpr bool is_confirmed(const SenderCell &cell) {
    return cell.confirmed[0] == cell.sent[0] && cell.confirmed[1] == cell.sent[1] &&
           !cell.has_changed;
}

// May an event go by the rail? All cells of the peer and the rail must say so.
constexpr bool takes_events(const SenderCell &cell) {
    return cell.settling == Settling::no;
}

// The transport has accepted the event.
constexpr SentEvent count_sent(SenderCell &cell, CellKind kind, std::uint64_t epoch,
                               std::uint64_t addend) {
    const unsigned place = place_of(kind, epoch);
    cell.sum[place] += addend;
    if (cell.last[place] < epoch) cell.last[place] = epoch;
    return SentEvent{epoch, ++cell.sent[place]};
}

// The data of an event that no rail brings has been delivered. In the cell of no rail alone; a
// settlement tells of it.
constexpr SentEvent count_delivered(SenderCell &cell, CellKind kind, std::uint64_t epoch,
                                    std::uint64_t addend) {
    if (cell.settling == Settling::no) cell.settling = Settling::wanted;
    return count_sent(cell, kind, epoch, addend);
}

// What was sent by the rail so far and is not taken yet never comes.
constexpr void cut(SenderCell &cell) {
    const bool is_open = cell.settling == Settling::no || cell.settling == Settling::open;
    if (is_open && !is_confirmed(cell)) cell.settling = Settling::cut;
}

// A question about the cell is sent. True: its answer goes to judge(), any other row to confirm().
constexpr bool ask(SenderCell &cell) {
    if (cell.settling != Settling::cut) return false;
    cell.settling = Settling::asked;
    return true;
}

// Does the row show that the event was counted?
constexpr bool is_counted(const SenderCell &cell, CellKind kind, const CellRow &row,
                          const SentEvent &event) {
    if (kind == CellKind::explicit_epoch) {
        if (row.epoch > event.epoch) return true;
    } else if (is_among(event.number, row.count[1])) {
        return true;
    }
    const unsigned place = place_of(kind, event.epoch);
    return row.count[place] == cell.sent[place];
}

// More than was sent: the provider has brought an event twice, and counts say nothing any more.
constexpr bool is_ahead(const SenderCell &cell, CellKind kind, const CellRow &row) {
    for (unsigned place = 0; place < places_of(kind); ++place)
        if (!is_among(row.count[place], cell.sent[place])) return true;
    return false;
}

// A row has come, which may be late. Returns how many events are confirmed by it.
constexpr std::uint32_t confirm(SenderCell &cell, CellKind kind, const CellRow &row) {
    std::uint32_t news = 0;
    const auto confirm_to = [&](unsigned place, std::uint32_t count) {
        if (is_among(count, cell.confirmed[place])) return;
        news += count - cell.confirmed[place];
        cell.confirmed[place] = count;
    };
    bool is_equal = true;
    for (unsigned place = 0; place < places_of(kind); ++place) {
        const bool is_all = row.count[place] == cell.sent[place];
        const bool is_past = kind == CellKind::explicit_epoch && row.epoch > cell.last[place];
        if (is_all || is_past) confirm_to(place, cell.sent[place]);
        is_equal = is_equal && is_all;
    }
    if (kind == CellKind::current_epoch) confirm_to(0, row.count[1]);
    // Nothing is on its way.
    if (cell.settling == Settling::open && is_equal) cell.settling = Settling::wanted;
    return news;
}

// The answer to a question that was sent after the cut. The data of each event for which
// is_counted() is false then goes again, unless it was delivered. Returns what confirm() returns.
constexpr std::uint32_t judge(SenderCell &cell, CellKind kind, const CellRow &row) {
    const std::uint32_t news = confirm(cell, kind, row);
    if (cell.settling == Settling::asked)
        cell.settling = is_confirmed(cell) ? Settling::no : Settling::wanted;
    return news;
}

// When all data of the cell's events that are not counted has been delivered.
constexpr bool wants_settlement(const SenderCell &cell) {
    return cell.settling == Settling::wanted;
}
constexpr Settlement settlement_of(const SenderCell &cell, unsigned place) {
    return Settlement{cell.last[place], cell.sum[place], cell.sent[place],
                      static_cast<std::uint8_t>(place)};
}
// Settlements of all places are sent.
constexpr void begin_settling(SenderCell &cell) {
    cell.settling = Settling::under_way;
    cell.has_changed = false;
}
// The owner has carried out what was said of each place. Returns how many events are confirmed by
// it.
constexpr std::uint32_t end_settling(SenderCell &cell, CellKind kind,
                                     const Settlement (&said)[kCellPlaces]) {
    std::uint32_t news = 0;
    for (unsigned place = 0; place < places_of(kind); ++place) {
        news += said[place].count - cell.confirmed[place];
        cell.confirmed[place] = said[place].count;
    }
    cell.settling = is_confirmed(cell) ? Settling::no : Settling::wanted;
    return news;
}

// The message of an event that the cell has counted fails: the owner takes it back. Not while a
// settlement is under way.
constexpr void take_off(SenderCell &cell, CellKind kind, std::uint64_t epoch,
                        std::uint64_t addend) {
    const bool is_final = is_confirmed(cell);
    cell.sum[place_of(kind, epoch)] -= addend;
    cell.has_changed = true;
    if (cell.settling == Settling::no) cell.settling = is_final ? Settling::wanted : Settling::open;
}

}  // namespace sennit::op
