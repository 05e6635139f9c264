// The table of bad arguments: its rows, and the objects that their calls use.
#pragma once

#include <sennit/sennit.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace arguments {

enum class When { before_init, running, after_finalize };

// Outputs, filled with a pattern before each call, and objects for the calls.
struct Fixture {
    sennit_gptr gptr;
    sennit_request request;
    sennit_region region;
    sennit_mechanism mechanism;
    sennit_lock lock;
    sennit_locality_level level;
    sennit_path path;
    sennit_rail rail;
    sennit_provider provider;
    sennit_knob knob;
    sennit_counters counters;
    std::size_t size;
    int flag;
    char text[64];
    sennit_bootstrap bootstraps[2];
    unsigned char buffer[256];
    sennit_team team;
    sennit_group group;
    sennit_group_relation relation;
    sennit_domain domain;
    int numbers[8];
    sennit_region regions[2];
    sennit_channel channels[2];
    sennit_channel_info channel_info;
    void *pointers[2];
    sennit_signal signal;
    sennit_fired fired;
    sennit_waitset signal_set;
    sennit_block block;
    sennit_block_info block_info;
    sennit_peer_block peer_block;
    sennit_plan plan;
    sennit_queue queue;
    sennit_queue_address queue_address;
    sennit_producer producer;
    std::uint64_t word;

    Fixture() { std::memset(static_cast<void *>(this), 0x6B, sizeof *this); }
    bool untouched() const {
        const auto *bytes = reinterpret_cast<const unsigned char *>(this);
        for (std::size_t i = 0; i < sizeof *this; ++i)
            if (bytes[i] != 0x6B) return false;
        return true;
    }
};
static_assert(std::is_trivially_copyable_v<Fixture>);

// Segments of the rank under test, valid in the state `running`.
struct Memory {
    sennit_gptr segment = SENNIT_GPTR_NULL;  // 100 bytes
    sennit_gptr local = SENNIT_GPTR_NULL;    // 100 bytes
    sennit_gptr freed = SENNIT_GPTR_NULL;
    sennit_gptr freed_local = SENNIT_GPTR_NULL;
    sennit_queue queue = SENNIT_QUEUE_NULL;  // with one producer, one place and a word in it
    sennit_queue_address queue_address{};
};
extern Memory memory;

// Teams and groups of the rank under test, valid in the state `running`.
struct Teams {
    sennit_team grid = SENNIT_TEAM_NULL;  // 1 by 1
    sennit_team destroyed = SENNIT_TEAM_NULL;
    sennit_group world = SENNIT_GROUP_NULL;
    sennit_group empty = SENNIT_GROUP_NULL;
    sennit_group destroyed_group = SENNIT_GROUP_NULL;
};
extern Teams teams;
// Both return SENNIT_OK unless a call fails.
sennit_status make_teams();
sennit_status end_teams();

struct Row {
    const char *function;
    const char *what;
    When when;
    sennit_status wanted;
    sennit_status (*call)(Fixture &fixture);
};

inline sennit_gptr at_offset(std::uint64_t offset) {
    return sennit_gptr{memory.segment.rank, memory.segment.segment, offset};
}
inline sennit_gptr of_rank(int rank) {
    return sennit_gptr_at(memory.segment, rank);
}
inline sennit_gptr of_segment(std::uint32_t segment) {
    return sennit_gptr{0, segment, 0};
}

// Bad arguments, in the state of the process that each row names. One list per file.
extern const std::vector<Row> wrong_arguments;
extern const std::vector<Row> wrong_teams;
extern const std::vector<Row> wrong_shapes;
extern const std::vector<Row> wrong_atomics;  // and locks
extern const std::vector<Row> wrong_collectives;
extern const std::vector<Row> wrong_channels;
extern const std::vector<Row> wrong_signals;  // and blocks, plans, queues
inline const std::vector<Row> *const kWrong[] = {
    &wrong_arguments,   &wrong_teams,    &wrong_shapes, &wrong_atomics,
    &wrong_collectives, &wrong_channels, &wrong_signals};

// Calls that need a rank: SENNIT_ERR_STATE before init and after finalize, whatever else is wrong.
extern const std::vector<Row> calls_that_need_a_rank;
extern const std::vector<Row> teams_that_need_a_rank;
extern const std::vector<Row> shapes_that_need_a_rank;
extern const std::vector<Row> atomics_that_need_a_rank;  // and locks
extern const std::vector<Row> collectives_that_need_a_rank;
extern const std::vector<Row> channels_that_need_a_rank;
extern const std::vector<Row> signals_that_need_a_rank;  // and blocks, plans, queues
inline const std::vector<Row> *const kWithoutRank[] = {
    &calls_that_need_a_rank,   &teams_that_need_a_rank,       &shapes_that_need_a_rank,
    &atomics_that_need_a_rank, &collectives_that_need_a_rank, &channels_that_need_a_rank,
    &signals_that_need_a_rank};

}  // namespace arguments
