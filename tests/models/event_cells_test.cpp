// Events that are counted by cells (src/op/event_cells.hpp), by the functions that the library
// uses: everything that a sender with two rails, an owner and a network between them can do is
// tried, within bounds, as events.pml, events_unchecked.pml, events_by_task.pml and
// events_cancelled.pml do by their own rules. And rules with a mistake in them, each of which must
// be found.
#include <gtest/gtest.h>

#include "event_cells_state.hpp"
#include "signal/counters.hpp"

namespace {

using namespace event_cells;

class Search : public Graph {
  public:
    Search(const Bounds &bounds, Mistake mistake) : bounds_(bounds), mistake_(mistake) {}

  private:
    bool with(Mistake mistake) const { return mistake_ == mistake; }
    unsigned all() const { return static_cast<unsigned>(bounds_.pieces.size()); }
    std::uint64_t epoch_of(unsigned piece) const { return bounds_.pieces[piece].epoch; }
    std::uint64_t addend_of(unsigned piece) const { return bounds_.pieces[piece].addend; }
    bool is_current() const { return bounds_.kind == CellKind::current_epoch; }
    bool is_of_message(unsigned piece) const { return bounds_.fails && piece < 2; }

    bool is_settled(const State &state) const {
        for (const op::SenderCell &cell : state.cells)
            if (!op::takes_events(cell)) return false;
        return true;
    }
    bool is_over(const State &state) const {
        if (!is_settled(state)) return false;
        for (unsigned piece = 0; piece < all(); ++piece) {
            const Piece is = state.pieces[piece];
            const bool is_trusted =
                with(Mistake::trusts_completion) && is == Piece::out && state.has_ok[piece];
            const bool is_left_out =
                bounds_.fails && piece == 2 && !state.has_failed && is == Piece::none;
            if (is != Piece::done && is != Piece::failed && !is_trusted && !is_left_out)
                return false;
        }
        return true;
    }
    bool is_end(const State &state) const override {
        return state.epoch == bounds_.epochs && state.has_ended;
    }

    void step(const State &state) override {
        for (unsigned rail = 0; rail < kRails; ++rail)
            owner_and_rail(state, rail);
        for (unsigned piece = 0; piece < all(); ++piece) {
            land(state, piece);
            land_plain(state, piece);
            take(state, piece);
        }
        owner(state);
        if (!state.has_ended) sender(state);
    }

    // ---- The sender.

    void sender(const State &state) {
        send(state);
        for (unsigned rail = 0; rail < kRails; ++rail)
            sender_and_rail(state, rail);
        for (unsigned piece = 0; piece < all(); ++piece)
            put_again(state, piece);
        for (unsigned epoch = 1; epoch <= bounds_.epochs; ++epoch)
            if (state.told[epoch] && epoch > state.known) {
                State next = state;
                merge(next, epoch);
                visit(next);
            }
        rows(state);
        settlement(state);
        fail(state);
        if (!is_over(state)) return;
        State next = state;
        next.has_ended = true;
        visit(next);
    }

    bool is_let_in(const State &state, std::uint64_t epoch) const {
        if (with(Mistake::no_check)) return true;
        if (is_current()) return state.epoch >= epoch;
        return (bounds_.is_checked ? state.known : state.epoch) + 1u >= epoch;
    }

    void send(const State &state) {
        unsigned piece = state.next;
        if (bounds_.fails && state.has_failed && piece < 2) piece = 2;
        if (piece >= all() || !is_let_in(state, epoch_of(piece))) return;
        // What takes its place comes after the report, which comes when nothing more can land.
        if (bounds_.fails && piece == 2) {
            if (!state.has_failed) return;
            if (!with(Mistake::sends_on) && !is_settled(state)) return;
        }
        for (unsigned rail = 0; rail < (piece == 0 ? 1 : kRails); ++rail) {
            if (state.in_doubt[rail]) continue;
            State next = state;
            next.next = static_cast<std::uint8_t>(piece + 1);
            if (op::takes_events(state.cells[rail]) || with(Mistake::sends_on)) {
                send_event(next, piece, rail);
                visit(next);
            }
            if (state.without_rail == bounds_.without_rail) continue;
            next = state;
            next.next = static_cast<std::uint8_t>(piece + 1);
            ++next.without_rail;
            next.home[piece] = kNone;
            if (with(Mistake::counts_undelivered)) deliver_without_rail(next, piece);
            send_plain(next, piece, rail);
            visit(next);
        }
    }

    void send_event(State &state, unsigned piece, unsigned rail) {
        state.pieces[piece] = Piece::out;
        state.home[piece] = static_cast<std::uint8_t>(rail);
        state.event_flies[piece] = state.number_of[rail] == state.opened[rail];
        state.number[piece] =
            op::count_sent(state.cells[rail], bounds_.kind, epoch_of(piece), addend_of(piece))
                .number;
        if (with(Mistake::guesses_epoch)) state.known = static_cast<std::uint8_t>(epoch_of(piece));
    }
    void send_plain(State &state, unsigned piece, unsigned rail) {
        state.pieces[piece] = Piece::again;
        state.plain_by[piece] = static_cast<std::uint8_t>(rail);
        state.plain_flies[piece] = state.number_of[rail] == state.opened[rail];
    }
    void deliver_without_rail(State &state, unsigned piece) {
        state.number[piece] =
            op::count_delivered(state.cells[kNone], bounds_.kind, epoch_of(piece), addend_of(piece))
                .number;
    }

    void put_again(const State &state, unsigned piece) {
        if (state.pieces[piece] != Piece::lost) return;
        for (unsigned rail = 0; rail < kRails; ++rail) {
            if (state.in_doubt[rail]) continue;
            State next = state;
            if (with(Mistake::repeats_event)) {
                send_event(next, piece, rail);
            } else {
                send_plain(next, piece, rail);
            }
            visit(next);
        }
    }

    void merge(State &state, std::uint64_t epoch) {
        if (state.known < epoch && bounds_.is_checked)
            state.known = static_cast<std::uint8_t>(epoch);
        if (is_current()) return;
        for (unsigned piece = 0; piece < all(); ++piece)
            if (state.pieces[piece] == Piece::out && epoch > epoch_of(piece)) end(state, piece);
    }
    void end(State &state, unsigned piece) {
        state.pieces[piece] = Piece::done;
        state.has_ok[piece] = false;
    }

    bool shows(const State &state, unsigned piece, const op::CellRow &row) const {
        const op::SenderCell &cell = state.cells[state.home[piece]];
        const op::SentEvent event{epoch_of(piece), state.number[piece]};
        op::CellRow seen = row;
        if (with(Mistake::forgets_epoch)) seen.epoch = 0;
        if (with(Mistake::forgets_before) && is_current()) seen.count[1] = 0;
        return op::is_counted(cell, bounds_.kind, seen, event);
    }

    // A row that is not the answer to the question after a cut.
    void take_row(State &state, unsigned number) {
        op::SenderCell &cell = state.cells[number];
        const op::CellRow &row = state.rows[number];
        for (unsigned piece = 0; piece < all(); ++piece) {
            if (state.pieces[piece] != Piece::out || state.home[piece] != number) continue;
            bool is_counted = shows(state, piece, row);
            if (with(Mistake::compares_old)) {
                const unsigned place = op::place_of(bounds_.kind, epoch_of(piece));
                const std::uint32_t then = state.sent_then[number][place];
                is_counted = row.count[place] >= then && state.number[piece] <= then;
            }
            if (is_counted) end(state, piece);
        }
        (void)op::confirm(cell, bounds_.kind, row);
        require(!op::is_ahead(cell, bounds_.kind, row), "the owner has taken more than was sent");
    }

    void judge(State &state, unsigned rail) {
        const op::CellRow row = state.answer[rail];
        for (unsigned piece = 0; piece < all(); ++piece) {
            if (state.pieces[piece] != Piece::out || state.home[piece] != rail) continue;
            if (!with(Mistake::repeats_all) && shows(state, piece, row)) {
                end(state, piece);
            } else {
                state.pieces[piece] = state.has_ok[piece] ? Piece::there : Piece::lost;
                state.has_ok[piece] = false;
            }
        }
        op::SenderCell &cell = state.cells[rail];
        (void)op::judge(cell, bounds_.kind, row);
        for (const Piece is : state.pieces)
            if (with(Mistake::repeats_all) && is == Piece::lost) cell.settling = Settling::wanted;
        state.answer[rail] = op::CellRow{};
        state.is_answered[rail] = false;
        merge(state, row.epoch);
    }

    void sender_and_rail(const State &state, unsigned rail) {
        State next = state;
        if (!state.in_doubt[rail] && (state.has_lost[rail] || state.faults < bounds_.faults)) {
            if (!state.has_lost[rail]) ++next.faults;
            next.in_doubt[rail] = true;
            visit(next);
        }
        if (state.opened[rail] > state.number_of[rail]) {
            next = state;
            learn_number(next, rail);
            visit(next);
        }
        const Settling settling = state.cells[rail].settling;
        const bool may_ask = with(Mistake::asks_before) && state.in_doubt[rail] &&
                             settling == Settling::no && !op::is_confirmed(state.cells[rail]);
        if (settling == Settling::cut || may_ask) {
            next = state;
            if (may_ask) next.cells[rail].settling = Settling::cut;
            (void)op::ask(next.cells[rail]);
            next.is_asked[rail] = true;
            visit(next);
        }
        if (state.is_answered[rail] && settling == Settling::asked && !state.in_doubt[rail]) {
            next = state;
            judge(next, rail);
            visit(next);
        }
    }

    void learn_number(State &state, unsigned rail) {
        ++state.number_of[rail];
        state.in_doubt[rail] = false;
        state.has_lost[rail] = false;
        op::cut(state.cells[rail]);
        for (unsigned piece = 0; piece < all(); ++piece)
            if (state.pieces[piece] == Piece::again && state.plain_by[piece] == rail) {
                state.pieces[piece] = Piece::lost;
                state.plain_by[piece] = 0;
            }
    }

    bool needs_row(const State &state) const {
        const unsigned last = bounds_.fails && !state.has_failed ? 2 : all();
        if (!bounds_.is_checked || state.next == last) return true;
        for (const op::SenderCell &cell : state.cells)
            if (cell.settling == Settling::open) return true;
        return !is_let_in(state, epoch_of(state.next));
    }

    // Questions, and what comes of them at any later time.
    void rows(const State &state) {
        if (state.has_rows)
            for (unsigned number = 0; number < kCells; ++number) {
                State next = state;
                take_row(next, number);
                merge(next, state.rows[number].epoch);
                visit(next);
            }
        if (!state.wants_rows && state.next > 0 && needs_row(state)) {
            State next = state;
            next.wants_rows = true;
            next.has_rows = false;
            next.rows = {};
            if (with(Mistake::compares_old))
                for (unsigned number = 0; number < kCells; ++number)
                    for (unsigned place = 0; place < 2; ++place)
                        next.sent_then[number][place] = state.cells[number].sent[place];
            visit(next);
        }
    }

    bool is_all_there(const State &state, unsigned number) const {
        if (with(Mistake::settles_first)) return true;
        for (unsigned piece = 0; piece < all(); ++piece) {
            if (state.home[piece] != number || number == kNone) continue;
            if (state.pieces[piece] == Piece::lost || state.pieces[piece] == Piece::again)
                return false;
        }
        return true;
    }

    void settlement(const State &state) {
        if (!state.settles) {
            State next = state;
            for (unsigned number = 0; number < kCells; ++number) {
                op::SenderCell &cell = next.cells[number];
                const bool is_open =
                    with(Mistake::settles_at_once) && cell.settling == Settling::open;
                if (!is_open && (!op::wants_settlement(cell) || !is_all_there(state, number)))
                    continue;
                next.settles = true;
                next.in_it[number] = true;
                for (unsigned place = 0; place < op::places_of(bounds_.kind); ++place)
                    next.said[number][place] = op::settlement_of(cell, place);
                op::begin_settling(cell);
            }
            if (next.settles) visit(next);
        } else if (state.carried_out) {
            State next = state;
            hear_of_settlement(next);
            visit(next);
        } else if (with(Mistake::settles_by_two) && state.cells[kNone].sent[0] != 0) {
            // The later values go beside the earlier ones, and may come first.
            State next = state;
            next.in_old = next.in_it;
            next.old_said = next.said;
            for (unsigned number = 0; number < kCells; ++number)
                for (unsigned place = 0; place < op::places_of(bounds_.kind); ++place)
                    if (next.in_it[number])
                        next.said[number][place] = op::settlement_of(next.cells[number], place);
            visit(next);
        }
    }

    void hear_of_settlement(State &state) {
        for (unsigned number = 0; number < kCells; ++number) {
            if (!state.in_it[number]) continue;
            op::SenderCell &cell = state.cells[number];
            op::Settlement said[op::kCellPlaces] = {state.said[number][0], state.said[number][1]};
            (void)op::end_settling(cell, bounds_.kind, said);
            for (unsigned piece = 0; piece < all(); ++piece) {
                const bool is_kept =
                    state.pieces[piece] == Piece::there ||
                    (with(Mistake::settles_first) && number != kNone &&
                     (state.pieces[piece] == Piece::lost || state.pieces[piece] == Piece::again));
                const unsigned place = op::place_of(bounds_.kind, epoch_of(piece));
                if (is_kept && state.home[piece] == number &&
                    op::is_among(state.number[piece], cell.confirmed[place]))
                    end(state, piece);
            }
        }
        if (with(Mistake::carries_out_again)) {
            state.in_old = state.in_it;
            state.old_said = state.said;
        }
        state.settles = false;
        state.carried_out = false;
        state.in_it = {};
        state.said = {};
    }

    bool may_fail(const State &state) const {
        if (!bounds_.fails || state.has_failed || state.settles || state.next == 0) return false;
        bool is_unsent = false;
        bool is_short = false;
        for (unsigned piece = 0; piece < 2; ++piece) {
            // What is with the transport ends first.
            if (state.pieces[piece] == Piece::again) return false;
            is_unsent = is_unsent || state.pieces[piece] == Piece::none;
            is_short = is_short || state.pieces[piece] == Piece::lost;
        }
        const bool is_done = state.pieces[0] == Piece::done && state.pieces[1] == Piece::done;
        return is_unsent || is_short || (with(Mistake::fails_unjudged) && !is_done);
    }

    void fail(const State &state) {
        if (!may_fail(state)) return;
        State next = state;
        next.has_failed = true;
        for (unsigned piece = 0; piece < 2; ++piece) {
            const Piece was = next.pieces[piece];
            next.pieces[piece] = Piece::failed;
            next.has_ok[piece] = false;
            if (was == Piece::none || next.number[piece] == 0) continue;
            op::SenderCell &cell = next.cells[next.home[piece]];
            op::take_off(cell, bounds_.kind, epoch_of(piece), addend_of(piece));
            const unsigned place = op::place_of(bounds_.kind, epoch_of(piece));
            if (with(Mistake::keeps_sum)) cell.sum[place] += addend_of(piece);
            if (with(Mistake::drops_count)) --cell.sent[place];
        }
        visit(next);
    }

    // ---- The owner, and what the network does there.

    void land(const State &state, unsigned piece) {
        if (!state.event_flies[piece]) return;
        require(!state.is_read[epoch_of(piece)], "an event lands in what was read");
        State next = state;
        next.event_flies[piece] = false;
        next.data[piece] = true;
        next.queued[piece] = true;
        visit(next);
        if (state.pieces[piece] == Piece::out) {
            next.has_ok[piece] = true;
            visit(next);
        }
        const unsigned rail = state.home[piece];
        if (state.faults == bounds_.faults || state.has_lost[rail]) return;
        next = state;
        next.event_flies[piece] = false;
        ++next.faults;
        next.has_lost[rail] = true;
        visit(next);
    }

    void land_plain(const State &state, unsigned piece) {
        if (!state.plain_flies[piece]) return;
        require(!state.is_read[epoch_of(piece)], "data lands in what was read");
        State next = state;
        next.plain_flies[piece] = false;
        next.data[piece] = true;
        const unsigned rail = state.plain_by[piece];
        State lost = next;
        next.pieces[piece] = Piece::there;
        next.plain_by[piece] = 0;
        if (state.home[piece] == kNone && !with(Mistake::counts_undelivered))
            deliver_without_rail(next, piece);
        visit(next);
        if (state.faults == bounds_.faults || state.has_lost[rail]) return;
        ++lost.faults;
        lost.has_lost[rail] = true;
        visit(lost);
        lost.data[piece] = state.data[piece];
        visit(lost);
    }

    void take(const State &state, unsigned piece) {
        if (!state.queued[piece]) return;
        const std::uint64_t epoch = epoch_of(piece);
        require(is_current() ? epoch == state.epoch : signal::is_counted(epoch, state.epoch),
                "an event is early or late");
        State next = state;
        next.queued[piece] = false;
        next.slot[signal::slot_of(epoch)] += addend_of(piece);
        op::take_event(next.owner[state.home[piece]], bounds_.kind, state.epoch, epoch,
                       addend_of(piece));
        visit(next);
    }

    void owner_and_rail(const State &state, unsigned rail) {
        const bool is_wanted = state.in_doubt[rail] && state.number_of[rail] == state.opened[rail];
        if (is_wanted || state.faults < bounds_.faults) {
            State next = state;
            if (!is_wanted) ++next.faults;  // another sender is in doubt
            ++next.opened[rail];
            for (unsigned piece = 0; piece < all(); ++piece) {
                if (state.home[piece] == rail) next.event_flies[piece] = false;
                if (state.home[piece] == rail && !with(Mistake::lands_late))
                    next.queued[piece] = false;
                if (state.plain_by[piece] == rail) next.plain_flies[piece] = false;
            }
            visit(next);
        }
        if (state.is_asked[rail]) {
            State next = state;
            next.is_asked[rail] = false;
            next.is_answered[rail] = true;
            next.answer[rail] = tell(next, rail);
            visit(next);
        }
    }

    op::CellRow tell(State &state, unsigned number) const {
        op::OwnerCell &cell = state.owner[number];
        if (!with(Mistake::keeps_before)) return op::row_of(cell, bounds_.kind, state.epoch);
        return op::CellRow{state.epoch, {cell.count[0], cell.count[1]}};
    }

    void carry_out(State &state, const std::array<bool, kCells> &in_it,
                   const std::array<std::array<op::Settlement, op::kCellPlaces>, kCells> &said) {
        for (unsigned number = 0; number < kCells; ++number) {
            if (!in_it[number]) continue;
            for (unsigned place = 0; place < op::places_of(bounds_.kind); ++place) {
                const op::Settlement &settlement = said[number][place];
                const std::uint64_t missing =
                    op::settle(state.owner[number], bounds_.kind, state.epoch, settlement);
                if (missing == 0) continue;
                const std::uint64_t epoch = is_current() ? state.epoch : settlement.epoch;
                require(signal::is_counted(epoch, state.epoch), "a settlement is early or late");
                state.slot[signal::slot_of(epoch)] += missing;
            }
        }
    }

    std::uint64_t value(const State &state) const {
        return signal::value_of(state.slot[signal::slot_of(state.epoch)], 1, state.epoch);
    }

    void owner(const State &state) {
        if (state.settles && !state.carried_out) {
            State next = state;
            next.carried_out = true;
            carry_out(next, state.in_it, state.said);
            visit(next);
        }
        if (state.in_old != std::array<bool, kCells>{}) {
            State next = state;
            next.in_old = {};
            next.old_said = {};
            carry_out(next, state.in_old, state.old_said);
            visit(next);
        }
        if (state.wants_rows) {
            State next = state;
            next.wants_rows = false;
            next.has_rows = true;
            for (unsigned number = 0; number < kCells; ++number)
                next.rows[number] = tell(next, number);
            visit(next);
        }
        if (state.epoch == bounds_.epochs) return;
        if (value(state) == 0 && !state.is_read[state.epoch]) {
            for (unsigned piece = 0; piece < all(); ++piece) {
                if (epoch_of(piece) != state.epoch) continue;
                const bool is_wanted =
                    !bounds_.fails || (piece < 2 ? !state.has_failed : state.has_failed);
                require(!is_wanted || state.data[piece], "a signal fires before its data is there");
            }
            State next = state;
            next.is_read[state.epoch] = true;
            visit(next);
        }
        if (!state.is_read[state.epoch]) return;
        require(value(state) == 0, "an event is counted twice");
        State next = state;
        ++next.epoch;
        visit(next);
        if (!bounds_.is_checked) return;
        next.told[next.epoch] = true;
        visit(next);
    }

    Bounds bounds_;
    Mistake mistake_;
};

void expect_right(const Bounds &bounds) {
    Search search(bounds, Mistake::none);
    EXPECT_EQ(search.run(), "");
    EXPECT_GT(search.states(), 10000u);
}

// A search that passed rules with a mistake would show nothing.
void expect_found(Mistake mistake, const Bounds &bounds) {
    Search search(bounds, mistake);
    const std::string wrong = search.run();
    EXPECT_NE(wrong, "") << "mistake " << static_cast<int>(mistake);
    std::printf("mistake %d: %zu states: %s\n", static_cast<int>(mistake), search.states(),
                wrong.c_str());
}

// Each event is counted once, after its data; nothing lands in what was read; all ends.
TEST(EventCells, hold_where_a_message_has_two_parts) {
    expect_right(kTwoParts);
}
TEST(EventCells, hold_where_a_cell_comes_to_its_next_epoch) {
    expect_right(kThreeEpochs);
}
TEST(EventCells, hold_where_no_rail_brings_an_event) {
    expect_right(kWithoutRail);
}
TEST(EventCells, hold_where_the_sender_looks_at_no_epoch) {
    expect_right(kUnchecked);
}
TEST(EventCells, hold_where_the_sender_knows_no_epoch) {
    expect_right(kCurrent);
}
TEST(EventCells, hold_where_a_message_fails_and_another_takes_its_place) {
    expect_right(kFailing);
}

TEST(EventCells, every_mistake_about_epochs_is_found) {
    expect_found(Mistake::no_check, kThreeEpochs);
    expect_found(Mistake::guesses_epoch, kThreeEpochs);
    expect_found(Mistake::compares_old, kCurrent);
    expect_found(Mistake::forgets_epoch, kUnchecked);
    expect_found(Mistake::forgets_before, kCurrent);
    expect_found(Mistake::keeps_before, kCurrent);
}
TEST(EventCells, every_mistake_about_repeating_is_found) {
    expect_found(Mistake::trusts_completion, kTwoParts);
    expect_found(Mistake::repeats_event, kTwoParts);
    expect_found(Mistake::repeats_all, kTwoParts);
    expect_found(Mistake::asks_before, kTwoParts);
    expect_found(Mistake::sends_on, kTwoParts);
    expect_found(Mistake::lands_late, kThreeEpochs);
}
TEST(EventCells, every_mistake_about_settling_is_found) {
    expect_found(Mistake::settles_first, kTwoParts);
    expect_found(Mistake::settles_by_two, kWithoutRail);
    expect_found(Mistake::carries_out_again, kTwoParts);
    expect_found(Mistake::counts_undelivered, kWithoutRail);
    expect_found(Mistake::settles_at_once, kFailing);
    expect_found(Mistake::keeps_sum, kFailing);
    expect_found(Mistake::drops_count, kFailing);
    expect_found(Mistake::fails_unjudged, kFailing);
}

}  // namespace
