// SPDX-License-Identifier: BSD-3-Clause
// The world of the path sim: members, flights, the clock, and the due parts. There is one per job,
// shared by the transports of its ranks and reference counted; rank 0's open() makes it. Its mutex
// guards everything. Called only by sim.cpp.
//
// The clock counts progress calls of all ranks. An operation becomes a flight: parts that move
// bytes, the acknowledgement that completes it, perhaps an event, each due at its own step. A rank
// that makes progress executes up to kDeliveriesPerStep due parts, in the order of (step,
// Due::order), also for targets that make no progress.
#pragma once

#include "base/array.hpp"
#include "base/condition.hpp"
#include "base/linked_queue.hpp"
#include "transport/sim/settings.hpp"
#include "transport/sim/sim.hpp"

namespace sennit::transport::sim {

// The handle of rank r's control block is this bit and r; segments' handles never have the bit.
inline constexpr std::uint64_t kControlHandle = std::uint64_t{1} << 63;
inline constexpr int kMostMembers = 64;
inline constexpr int kPartsPerFlight = 4;
inline constexpr int kDeliveriesPerStep = 64;
inline constexpr int kHandoversPerProgress = 64;

struct Flight {
    Operation *operation;
    int from;
    int to;
    unsigned rail;
    bool is_put;
    bool has_event;
    bool is_task;
    Task task;
    bool event_landed;
    bool over;       // its completion is on the sender's list, or was handed over
    bool cancelled;  // its parts do nothing any more
    sennit_status status;
    std::byte *remote;  // first byte in the owner's memory
    std::byte *local;
    std::uint64_t bytes;
    const SegmentRecord *segment;  // the memory may be used while its `live` equals `live_value`
    std::uint32_t live_value;
    int parts_left;
    int references;  // from dues, and the lists of flying flights, completions and events
    EventData event;
    std::uint64_t number;  // counts submissions
    Flight *next_flying;   // list of flights neither completed nor cancelled
    Flight *previous_flying;
    Flight *next_completed;  // also in the list of free flights
    Flight *next_event;      // also in its target's list of tasks
    std::byte payload[kMostTaskBytes];
    std::byte reply[kMostTaskBytes];
};

template <Flight *Flight::*kNext>
using FlightQueue = LinkedQueue<Flight, kNext>;

struct Due {
    enum class What : std::uint8_t { part, acknowledgement, event, task, loss };
    std::uint64_t step;
    std::uint64_t order;
    Flight *flight;
    std::uint64_t begin;  // of the part
    std::uint64_t end;
    What what;
};

// A heap of due parts, ordered by due time.
class DueHeap {
  public:
    bool reserve(std::size_t more);
    void push(const Due &due);  // needs reserve()
    const Due *first() const { return count_ == 0 ? nullptr : &dues_[0]; }
    Due pop();
    void close();

  private:
    static bool is_later(const Due &a, const Due &b) {
        return a.step != b.step ? a.step > b.step : a.order > b.order;
    }
    Due *dues_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
};

// A member's attachment of another rank's segment.
struct Attachment {
    int owner = -1;
    std::uint32_t generation = 0;
    std::byte *base = nullptr;
    std::uint64_t bytes = 0;
    const SegmentRecord *segment = nullptr;
    std::uint32_t live_value = 0;  // 0: the slot is free
};

enum class MemberState : std::uint8_t { absent, present, left, dead };

struct Member {
    MemberState state = MemberState::absent;
    bool has_turns = false;  // takes part in lockstep
    ControlBlock *control = nullptr;
    Attachment *attachments = nullptr;
    std::uint32_t attachment_count = 0;
    FlightQueue<&Flight::next_completed> completed;
    FlightQueue<&Flight::next_event> events;
    FlightQueue<&Flight::next_event> tasks;  // received tasks, for the next progress
    std::uint64_t open[kMostRails] = {};
    Condition turn;
};

// Flights are allocated in chunks and never move.
struct FlightChunk {
    FlightChunk *next;
    Flight flights[64];
};

// The results that a progress call passes to its rank without the lock.
struct Handover {
    struct Done {
        Operation *operation;
        sennit_status status;
    };

    Done done[kHandoversPerProgress];
    Flight *tasks[kHandoversPerProgress];  // each must be answered by World::answer()
    int task_count = 0;
    bool lockstep_broken = false;
    EventData events[kHandoversPerProgress];
    int done_count = 0;
    int event_count = 0;
};

class World {
  public:
    // Null: no memory.
    static World *make(const SimSettings &settings, int size);
    static World *find(std::uint64_t id);  // adds a reference; null: there is none
    static World *find_of(const Rank &rank);
    void release();

    std::uint64_t id() const { return id_; }
    const SimSettings &settings() const { return settings_; }

    void enter(int rank, const Rank *object);
    void introduce(int rank, ControlBlock *control);
    // The member becomes `left`; operations in progress with it end.
    void leave(int rank);

    sennit_status attach(int rank, int owner, const SegmentRecord &record, std::uint64_t *handle);
    void detach(int rank, std::uint64_t handle);

    Submit submit(int rank, Operation *operation);
    // One step of the clock.
    void step(int rank, Handover *out);
    // The target has executed or refused a task: sends the answer.
    void answer(Flight *flight, sennit_status status);
    // Passes remaining results, without a step.
    void collect(int rank, Handover *out);

    // Whether the state of any member has changed since *seen.
    bool changed(std::uint64_t *seen);
    MemberState state_of(int rank);
    bool rail_failed(unsigned rail);
    void fail_rail(unsigned rail);
    void kill(int rank);
    Counters counters();

  private:
    World(const SimSettings &settings, int size);
    ~World();
    bool allocate();
    void name_object(int rank, const Rank *object);

    // world.cpp; all with the mutex held.
    std::uint64_t draw(std::uint64_t limit);
    void trace(std::uint64_t what, std::uint64_t a, std::uint64_t b, std::uint64_t c);
    Flight *take_flight();
    void drop(Flight *flight);
    bool resolve(int rank, const Operation &operation, Flight *flight);
    void schedule(Flight *flight);
    void land_part(const Due &due);
    void note_arrival(const Flight &flight);
    void land_event(Flight *flight);
    void drop_unread(int rank, unsigned rail);
    void land_task(Flight *flight);
    void fill_tasks(Member &member, Handover *out);
    void complete(Flight *flight, sennit_status status);
    void cancel(Flight *flight, sennit_status status);
    void break_rail(unsigned rail);
    void lose(int rank, MemberState state);
    void strike();
    void run_due();
    void fill(Member &member, Handover *out);
    std::size_t pair(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) +
               static_cast<std::size_t>(to);
    }

    // turns.cpp; with the mutex held.
    bool join_turns(int rank);
    void take_turn(int rank);
    void leave_turns(int rank);
    void open_gate();
    int next_in_turn();
    void pass_to(int rank);
    void wait_for_turn(int rank);

    const SimSettings settings_;
    const int size_;
    std::uint64_t id_ = 0;
    int references_ = 1;     // guarded, like the next two, by the lock of the list of worlds
    World *next_ = nullptr;  // in the list of all worlds
    const Rank *objects_[kMostMembers] = {};

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    std::uint64_t random_;
    std::uint64_t order_ = 0;
    std::uint64_t flight_number_ = 0;
    Counters counters_{};
    Member members_[kMostMembers];
    std::uint64_t changes_ = 0;
    bool rail_failed_[kMostRails] = {};
    std::uint64_t rail_lag_[kMostRails] = {};
    DueHeap heap_;
    Flight *flying_ = nullptr;
    Flight *free_flights_ = nullptr;
    FlightChunk *chunks_ = nullptr;
    Array<std::uint64_t> last_end_;     // [pair * rails + rail]: step of the last put's end
    Array<std::uint64_t> last_number_;  // [pair * rails + rail]: latest put that has arrived

    int gate_ = 0;  // members that have reached their first turn, or left before it
    bool gate_open_ = false;
    int holder_ = -1;               // the rank with the turn
    std::uint64_t steps_left_ = 0;  // progress calls of the holder before it passes the turn
};

}  // namespace sennit::transport::sim
