// Searches all runs of messages whose events come in completion data, with the library's own
// functions (signal/message_numbers.hpp) for both ends. One sender, one owner, one signal with one
// event per epoch; messages of one or two parts, each on its own rail. A rail can fail before or
// after its part has arrived; unread events at the owner can be lost or read late; tasks overtake
// each other. If messages name no epoch, their sender does not check the epoch: a message that
// finds the epoch complete is refused. docs/design/decisions/0005-notified-puts-in-one-message.md
// has the rules.
//
// Shown, for all orders: the owner is told once of each message, when all of its data is there; no
// data lands in an epoch between the owner's notice of it and the next reset; a failed message adds
// nothing; everything ends; if a message names no epoch, an event that comes before a reset is not
// counted after it. Each rule that is broken on purpose is found.
//
// Assumed, and not searched: a provider reports each event at most once (decision 0005, Failures).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "signal/counters.hpp"
#include "signal/message_numbers.hpp"

namespace sennit::signal {
namespace {

enum class Mistake : std::uint8_t {
    none,
    repeats_unasked,         // data is sent again without a question to the owner
    takes_closed,            // the owner takes events of a message after its answer to the question
    ends_undelivered,        // the end task is sent before all data has arrived
    adds_whole,              // the end task adds the whole message instead of the missing part
    ignores_numbers,         // an event counts for whichever message uses the place
    reuses_at_once,          // a place is reused as soon as the end task is sent
    forgets_failed,          // no end task reports a failed message
    one_number_for_a_place,  // a place always has the same number
    forgets_refused,         // the end task adds a message whose event found no room
    reads_after_reset        // a reset does not first read the events that have come
};

constexpr unsigned kNumberBits = 2;  // one place with four numbers
constexpr int kMessages = 3;
constexpr int kParts = 2;
constexpr unsigned kEventBits = 1;

enum class PartState : std::uint8_t {
    none,
    out,     // with the transport
    landed,  // data and event are at the owner; the sender does not know yet
    asks,    // its rail has failed; the owner is asked whether it has arrived
    again,   // sent again without its event, with the transport
    done,
    failed
};
enum class EventState : std::uint8_t { none, unread, over };
enum class TaskState : std::uint8_t { none, out, carried_out, over };

struct SentPart {
    PartState state;
    EventState event;
    bool has_data;         // has arrived
    std::uint8_t came_in;  // 1 + the epoch in which its event came; 0: no event, or too late
};
struct SentMessage {
    bool is_begun;
    bool fails;       // its second part is refused
    bool has_failed;  // the sender knows that it failed
    SentPart parts[kParts];
    TaskState question;
    bool was_whole;  // the question's answer
    TaskState end;
    bool is_refused;
    std::uint8_t counted;  // number of times
};

// States are compared byte by byte.
struct World {
    SentMessages sent;
    ArrivingMessage arriving[kMostPlaces];
    std::uint64_t slot[2];
    std::uint32_t numbers[kMessages];
    SentMessage messages[kMessages];
    std::uint8_t epoch;  // the owner's epoch
    std::uint8_t told;   // number of epochs that the owner was told of
    std::uint8_t losses_left;
    bool is_told;  // the owner was told of this epoch and has not reset
};

struct Setting {
    Mistake mistake;
    int parts;
    int failing;              // a message, or -1
    bool is_current = false;  // messages name no epoch: they count in the owner's present epoch
};

class Search {
  public:
    explicit Search(const Setting &setting) : setting_(setting) {}

    // Returns "" or the fault.
    std::string run() {
        World first;
        std::memset(static_cast<void *>(&first), 0, sizeof first);
        begin_places(first.sent, 0, kNumberBits);
        begin_places(first.arriving, 0, kNumberBits);
        first.losses_left = 2;
        push(first);
        while (!open_.empty() && fault_.empty()) {
            const World now = open_.back();
            open_.pop_back();
            const std::size_t before = pushed_;
            step(now);
            if (pushed_ == before && fault_.empty()) check_end(now);
        }
        return fault_;
    }
    std::size_t states() const { return seen_.size(); }

  private:
    bool has(Mistake mistake) const { return setting_.mistake == mistake; }

    void push(const World &world) {
        ++pushed_;
        const auto *bytes = reinterpret_cast<const char *>(&world);
        if (seen_.insert(std::string(bytes, sizeof world)).second) open_.push_back(world);
    }
    void expect(bool holds, const char *what) {
        if (!holds && fault_.empty()) fault_ = what;
    }

    static std::uint64_t epoch_of(int message) { return static_cast<std::uint64_t>(message); }

    void step(const World &now) {
        for (int i = 0; i < kMessages; ++i) {
            begin(now, i);
            for (int part = 0; part < setting_.parts; ++part) {
                move(now, i, part);
                read(now, i, part);
            }
            ask(now, i);
            end(now, i);
        }
        reset(now);
    }

    // The owner accepts messages for its epoch and the next one.
    void begin(const World &now, int i) {
        if (now.messages[i].is_begun || (i > 0 && !now.messages[i - 1].is_begun) ||
            (!setting_.is_current && epoch_of(i) > now.epoch + 1u))
            return;
        World next = now;
        if (!begin_message(next.sent, kNumberBits, &next.numbers[i])) return;
        if (has(Mistake::one_number_for_a_place)) next.numbers[i] = 0;
        next.messages[i].is_begun = true;
        next.messages[i].fails = i == setting_.failing;
        for (int part = 0; part < setting_.parts; ++part)
            next.messages[i].parts[part].state = PartState::out;
        push(next);
    }

    void land(World *next, int i, int part) {
        SentPart &it = next->messages[i].parts[part];
        it.has_data = true;
        if (setting_.is_current)
            it.came_in = static_cast<std::uint8_t>(next->epoch + 1);
        else
            expect(!(next->is_told && epoch_of(i) == next->epoch) && epoch_of(i) >= next->epoch,
                   "data lands in an epoch that the owner was told of");
    }

    static void lose(SentPart *part) {
        part->event = EventState::over;
        part->came_in = 0;
    }

    void move(const World &now, int i, int part) {
        const SentMessage &message = now.messages[i];
        const SentPart &it = message.parts[part];
        if (it.state == PartState::out && message.fails && part == setting_.parts - 1) {
            World next = now;
            next.messages[i].parts[part].state = PartState::failed;
            next.messages[i].has_failed = true;
            return push(next);
        }
        if (it.state == PartState::out) {
            World next = now;
            land(&next, i, part);
            next.messages[i].parts[part].state = PartState::landed;
            next.messages[i].parts[part].event = EventState::unread;
            push(next);
            if (now.losses_left == 0) return;
            next = now;  // the rail fails before the part has arrived
            --next.losses_left;
            next.messages[i].parts[part].state = PartState::asks;
            push(next);
        }
        if (it.state == PartState::landed) {
            World next = now;
            next.messages[i].parts[part].state = PartState::done;
            push(next);
            if (now.losses_left == 0) return;
            next = now;  // the rail fails, and the event stays at the owner
            --next.losses_left;
            next.messages[i].parts[part].state = PartState::asks;
            push(next);
            if (it.event != EventState::unread) return;
            lose(&next.messages[i].parts[part]);  // or the event is lost with the rail
            push(next);
        }
        // The rail fails because of another transfer, and the unread event is lost with it.
        if (it.state == PartState::done && it.event == EventState::unread && now.losses_left != 0) {
            World next = now;
            --next.losses_left;
            lose(&next.messages[i].parts[part]);
            push(next);
        }
        if (it.state == PartState::asks) {
            const bool may_repeat = has(Mistake::repeats_unasked) ||
                                    (message.question == TaskState::over && !message.was_whole);
            World next = now;
            if (may_repeat)
                next.messages[i].parts[part].state = PartState::again;
            else if (message.question == TaskState::over)
                next.messages[i].parts[part].state = PartState::done;
            else
                return;
            push(next);
        }
        if (it.state == PartState::again) {
            World next = now;
            land(&next, i, part);
            next.messages[i].parts[part].came_in = 0;  // without its event
            next.messages[i].parts[part].state = PartState::done;
            push(next);
        }
    }

    // Tells the owner if the signal has fired.
    void look(World *next) {
        const std::uint64_t value = value_of(next->slot[slot_of(next->epoch)], 1, next->epoch);
        expect(!is_overflown(value, kEventBits), "more events than were sent");
        if (value != 0 || next->is_told) return;
        next->is_told = true;
        expect(next->told == next->epoch, "the owner is told twice of an epoch");
        ++next->told;
        if (setting_.is_current) return;
        const SentMessage &message = next->messages[next->epoch];
        expect(!message.fails, "the owner is told of a message that has failed");
        for (int part = 0; part < setting_.parts; ++part)
            expect(message.parts[part].has_data, "an event comes before its data");
    }

    bool is_in(const World &now, std::uint64_t epoch) const { return is_counted(epoch, now.epoch); }

    bool has_room(const World &now) const {
        return !is_surplus(value_of(now.slot[slot_of(now.epoch)], 1, now.epoch), 1, 1, kEventBits);
    }

    // The whole message counts in this epoch; checks that its data came in the same one.
    void note_counted(World *next, int i, std::uint64_t epoch) {
        SentMessage &it = next->messages[i];
        ++it.counted;
        if (!setting_.is_current) return;
        for (int part = 0; part < setting_.parts; ++part) {
            const std::uint8_t came_in = it.parts[part].came_in;
            expect(came_in == 0 || came_in == epoch + 1,
                   "an event came in one epoch, and is counted in a later one");
            expect(it.parts[part].has_data, "an event comes before its data");
        }
    }

    // The owner reads an event, possibly late.
    void read(const World &now, int i, int part) {
        if (now.messages[i].parts[part].event != EventState::unread) return;
        World next = now;
        next.messages[i].parts[part].event = EventState::over;
        ArrivingMessage *message =
            find_open(next.arriving, now.numbers[i] & ((1u << kNumberBits) - 1), kNumberBits);
        ArrivingMessage &place = next.arriving[0];
        if (has(Mistake::takes_closed) && place.is_closed &&
            ((place.number ^ now.numbers[i]) & 3) == 0)
            message = &place;
        if (has(Mistake::ignores_numbers)) message = &place;
        const std::uint64_t first = setting_.is_current ? now.epoch : epoch_of(i);
        const std::uint64_t epoch =
            message != nullptr && message->sum != 0 ? message->epoch : first;
        SentMessage &sent = next.messages[i];
        if (message == nullptr) sent.parts[part].came_in = 0;
        if (message != nullptr && setting_.is_current &&
            !has_events(*message, event_mask(kEventBits)) && !has_room(now)) {
            if (!has(Mistake::forgets_refused)) {
                next.slot[slot_of(epoch)] -= refuse_message(*message, epoch);
                sent.is_refused = true;
            }
        } else if (message != nullptr && is_in(now, epoch)) {
            const std::uint64_t addend =
                part == 0 ? first_part(static_cast<std::uint64_t>(setting_.parts), kEventBits)
                          : further_part(kEventBits);
            note_part(*message, epoch, addend);
            next.slot[slot_of(epoch)] += addend;
            if (message->sum == kWholeMessage) note_counted(&next, i, epoch);
            look(&next);
        }
        push(next);
    }

    void ask(const World &now, int i) {
        const SentMessage &message = now.messages[i];
        bool is_needed = false;
        for (int part = 0; part < setting_.parts; ++part)
            is_needed |= message.parts[part].state == PartState::asks;
        World next = now;
        TaskState &question = next.messages[i].question;
        if (question == TaskState::none && is_needed) {
            question = TaskState::out;
            return push(next);
        }
        // There is one question per message: a part that fails later uses the same answer.
        if (question == TaskState::out) {
            next.messages[i].was_whole = close_message(next.arriving[0], kWholeMessage);
            question = TaskState::carried_out;
            return push(next);
        }
        if (question == TaskState::carried_out) {
            question = TaskState::over;
            return push(next);
        }
    }

    void end(const World &now, int i) {
        const SentMessage &message = now.messages[i];
        if (!message.is_begun) return;
        bool is_delivered = true;
        bool is_over = true;
        for (int part = 0; part < setting_.parts; ++part) {
            const PartState state = message.parts[part].state;
            is_over &= state == PartState::done || state == PartState::failed;
            is_delivered &= state == PartState::done;
        }
        if (has(Mistake::ends_undelivered)) is_over = is_delivered = true;
        World next = now;
        SentMessage &it = next.messages[i];
        if (it.end == TaskState::none && is_over) {
            const bool is_silent = has(Mistake::forgets_failed) && !is_delivered;
            it.end = is_silent ? TaskState::over : TaskState::out;
            if (is_silent || has(Mistake::reuses_at_once))
                forget_message(next.sent, kNumberBits, now.numbers[i]);
            return push(next);
        }
        if (it.end == TaskState::out) {
            ArrivingMessage &arriving = next.arriving[0];
            const bool has_begun = arriving.sum != 0;
            const std::uint64_t first = setting_.is_current ? now.epoch : epoch_of(i);
            const std::uint64_t epoch = has_begun ? arriving.epoch : first;
            const std::uint64_t whole = it.has_failed ? 0 : kWholeMessage;
            const bool is_refused =
                setting_.is_current && whole != 0 &&
                (arriving.is_refused ||
                 (!has_events(arriving, event_mask(kEventBits)) && !has_room(now)));
            if (is_refused) {
                if (!arriving.is_refused)
                    next.slot[slot_of(epoch)] -= refuse_message(arriving, epoch);
                (void)end_message(arriving, 0, kNumberBits);
                it.is_refused = true;
                it.end = TaskState::carried_out;
                look(&next);
                return push(next);
            }
            std::uint64_t missing = end_message(arriving, whole, kNumberBits);
            if (has(Mistake::one_number_for_a_place)) arriving.number = 0;
            if (has(Mistake::adds_whole)) missing = whole;
            if (missing != 0 && is_in(now, epoch)) {
                next.slot[slot_of(epoch)] += missing;
                if (whole != 0) note_counted(&next, i, epoch);
                look(&next);
            } else {
                expect(missing == 0, "a message is too late");
            }
            it.end = TaskState::carried_out;
            return push(next);
        }
        if (it.end == TaskState::carried_out) {
            it.end = TaskState::over;
            forget_message(next.sent, kNumberBits, now.numbers[i]);
            return push(next);
        }
    }

    // The last epoch has no further reset: one epoch more would have no message.
    void reset(const World &now) {
        if (!now.is_told || now.epoch + 1 == kMessages) return;
        // A reset first reads the events that have come (signal/wait.cpp).
        for (const SentMessage &message : now.messages)
            for (const SentPart &part : message.parts)
                if (setting_.is_current && !has(Mistake::reads_after_reset) &&
                    part.event == EventState::unread)
                    return;
        World next = now;
        ++next.epoch;
        next.is_told = false;
        look(&next);
        push(next);
    }

    // Checks a state in which nothing more can happen.
    void check_end(const World &now) {
        if (setting_.is_current) return check_end_of_current(now);
        const int all = setting_.failing >= 0 ? setting_.failing : kMessages;
        expect(now.told == all, "the owner is never told of a message");
        for (int i = 0; i < kMessages; ++i) {
            const SentMessage &message = now.messages[i];
            if (!message.is_begun) continue;
            expect(message.end == TaskState::over, "a message does not end");
        }
        if (setting_.failing >= 0) {
            const std::uint64_t epoch = epoch_of(setting_.failing);
            const std::uint64_t later = setting_.failing + 1 < kMessages ? 1 : 0;
            expect(value_of(now.slot[slot_of(epoch)], 1, epoch) == 1,
                   "a failed message is partly counted");
            expect(value_of(now.slot[slot_of(epoch + 1)], 1, epoch + 1) == 1 - later,
                   "the next message is not counted");
        }
    }

    void check_end_of_current(const World &now) {
        int counted = 0;
        for (int i = 0; i < kMessages; ++i) {
            const SentMessage &message = now.messages[i];
            expect(message.end == TaskState::over, "a message does not end");
            expect(message.counted + message.is_refused == (i == setting_.failing ? 0 : 1) ||
                       (message.fails && message.is_refused),
                   "a message is counted twice, or is neither counted nor refused");
            counted += message.counted;
        }
        expect(counted == now.told, "the owner is told of another number of messages");
    }

    const Setting setting_;
    std::vector<World> open_;
    std::unordered_set<std::string> seen_;
    std::size_t pushed_ = 0;
    std::string fault_;
};

TEST(message_numbers, each_message_is_reported_once_after_all_its_data) {
    for (const int parts : {1, 2}) {
        for (int failing = -1; failing < kMessages; ++failing) {
            Search search({Mistake::none, parts, failing});
            EXPECT_EQ(search.run(), "") << parts << " parts, " << failing << " fails";
            EXPECT_GT(search.states(), 50u);
            std::printf("%d parts, message %d fails: %zu states\n", parts, failing,
                        search.states());
        }
    }
}

TEST(message_numbers, a_message_without_an_epoch_is_counted_at_its_arrival_or_refused) {
    for (const int parts : {1, 2}) {
        for (int failing = -1; failing < kMessages; ++failing) {
            Search search({Mistake::none, parts, failing, true});
            EXPECT_EQ(search.run(), "") << parts << " parts, " << failing << " fails";
            EXPECT_GT(search.states(), 50u);
            std::printf("%d parts, message %d fails, no epoch: %zu states\n", parts, failing,
                        search.states());
        }
    }
}

TEST(message_numbers, every_mistake_is_found) {
    const Setting settings[] = {
        {Mistake::repeats_unasked, 1, -1},       {Mistake::takes_closed, 1, -1},
        {Mistake::ends_undelivered, 1, -1},      {Mistake::adds_whole, 1, -1},
        {Mistake::ignores_numbers, 1, -1},       {Mistake::reuses_at_once, 1, -1},
        {Mistake::forgets_failed, 2, 0},         {Mistake::one_number_for_a_place, 1, -1},
        {Mistake::forgets_refused, 1, -1, true}, {Mistake::reads_after_reset, 1, -1, true},
    };
    for (const Setting &setting : settings) {
        Search search(setting);
        const std::string fault = search.run();
        EXPECT_NE(fault, "") << "mistake " << static_cast<int>(setting.mistake);
        std::printf("mistake %d: %s, after %zu states\n", static_cast<int>(setting.mistake),
                    fault.c_str(), search.states());
    }
}

}  // namespace
}  // namespace sennit::signal
