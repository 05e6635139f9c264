// Bad arguments for channels from the rank to itself.
#include <climits>

#include "arguments_table.hpp"

namespace arguments {
namespace {

constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;

// One end of a channel from the caller to itself, changed by `spoil`.
template <class Spoil>
sennit_status open_with(Fixture &fixture, Spoil spoil, unsigned flags = 0,
                        std::int64_t timeout_ns = 0) {
    static unsigned char own[8];
    const int target = 0;
    void *const buffer = own;
    const std::size_t bytes = sizeof own;
    struct {
        int target;
        void *buffer;
        std::size_t bytes;
        sennit_channel_ends ends;
    } all{target, buffer, bytes, {}};
    all.ends = {1, &all.target, &all.buffer, &all.bytes};
    spoil(all);
    return sennit_channel_open(SENNIT_TEAM_WORLD, &all.ends, flags, timeout_ns, fixture.pointers,
                               fixture.channels);
}

constexpr auto kAsItIs = [](auto &) {};

}  // namespace

const std::vector<Row> wrong_channels = {
    {"sennit_channel_open", "a team that does not exist", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         const sennit_channel_ends none{0, nullptr, nullptr, nullptr};
         return sennit_channel_open(sennit_team{0}, &none, 0, 0, it.pointers, it.channels);
     }},
    {"sennit_channel_open", "null ends", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_channel_open(SENNIT_TEAM_WORLD, nullptr, 0, 0, it.pointers, it.channels);
     }},
    {"sennit_channel_open", "null targets", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.ends.targets = nullptr; }); }},
    {"sennit_channel_open", "null buffers", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.ends.buffers = nullptr; }); }},
    {"sennit_channel_open", "null bytes", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.ends.bytes = nullptr; }); }},
    {"sennit_channel_open", "null channels", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         const int target = 0;
         void *const buffer = nullptr;
         const std::size_t bytes = 0;
         const sennit_channel_ends ends{1, &target, &buffer, &bytes};
         return sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, 0, it.pointers, nullptr);
     }},
    {"sennit_channel_open", "a null buffer with bytes", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.buffer = nullptr; }); }},
    {"sennit_channel_open", "bytes that wrap", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.bytes = SIZE_MAX; }); }},
    {"sennit_channel_open", "an unknown flag", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, kAsItIs, 8); }},
    {"sennit_channel_open", "all flags", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, kAsItIs, UINT_MAX); }},
    {"sennit_channel_open", "a negative timeout", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return open_with(it, kAsItIs, 0, -1); }},
    {"sennit_channel_open", "target -1", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.target = -1; }); }},
    {"sennit_channel_open", "target size", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.target = 1; }); }},
    {"sennit_channel_open", "target INT_MIN", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.target = INT_MIN; }); }},
    {"sennit_channel_open", "more targets than a rank has channels", kRunning, SENNIT_ERR_NOMEM,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.ends.count = 16384; }); }},
    {"sennit_channel_open", "SIZE_MAX targets", kRunning, SENNIT_ERR_NOMEM,
     [](Fixture &it) { return open_with(it, [](auto &all) { all.ends.count = SIZE_MAX; }); }},

    {"sennit_channel_close", "null", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_close(nullptr, 1, 0); }},
    {"sennit_channel_close", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) {
         const sennit_channel none = SENNIT_CHANNEL_NULL;
         return sennit_channel_close(&none, 1, 0);
     }},
    {"sennit_channel_close", "garbage", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_close(it.channels, 2, 0); }},
    {"sennit_channel_close", "a negative timeout", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_close(it.channels, 1, -1); }},
    {"sennit_channel_close", "SIZE_MAX channels", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_close(it.channels, SIZE_MAX, 0); }},

    {"sennit_channel_can_write", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_can_write(SENNIT_CHANNEL_NULL, &it.flag); }},
    {"sennit_channel_can_write", "a null flag", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_can_write(it.channels[0], nullptr); }},
    {"sennit_channel_can_read", "garbage", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_can_read(it.channels[0], &it.flag); }},
    {"sennit_channel_can_read", "a null flag", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_can_read(it.channels[0], nullptr); }},
    {"sennit_channel_have_written", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_have_written(SENNIT_CHANNEL_NULL); }},
    {"sennit_channel_have_written", "all bits", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_have_written({UINT32_MAX}); }},
    {"sennit_channel_have_read", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_have_read(SENNIT_CHANNEL_NULL); }},
    {"sennit_channel_wait_write", "garbage", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_wait_write(it.channels[0], SENNIT_FOREVER); }},
    {"sennit_channel_wait_write", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_wait_write(SENNIT_CHANNEL_NULL, 0); }},
    {"sennit_channel_wait_read", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_channel_wait_read(SENNIT_CHANNEL_NULL, SENNIT_FOREVER); }},
    {"sennit_channel_wait_messages", "no channel", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) {
         std::uint32_t messages = 0;
         return sennit_channel_wait_messages(SENNIT_CHANNEL_NULL, 1, SENNIT_FOREVER, &messages);
     }},
    {"sennit_channel_wait_messages", "null", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_wait_messages(it.channels[0], 1, 0, nullptr); }},
    {"sennit_channel_query", "null", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_query(it.channels[0], nullptr); }},
    {"sennit_channel_query", "garbage", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_channel_query(it.channels[0], &it.channel_info); }},
};

const std::vector<Row> channels_that_need_a_rank = {
    {"sennit_channel_open", "", kAny, kState,
     [](Fixture &it) { return open_with(it, kAsItIs, 0, SENNIT_FOREVER); }},
    {"sennit_channel_close", "", kAny, kState,
     [](Fixture &it) { return sennit_channel_close(it.channels, 1, SENNIT_FOREVER); }},
    {"sennit_channel_can_write", "", kAny, kState,
     [](Fixture &it) { return sennit_channel_can_write(it.channels[0], &it.flag); }},
    {"sennit_channel_can_read", "a null flag", kAny, kState,
     [](Fixture &it) { return sennit_channel_can_read(it.channels[0], nullptr); }},
    {"sennit_channel_have_written", "", kAny, kState,
     [](Fixture &it) { return sennit_channel_have_written(it.channels[0]); }},
    {"sennit_channel_have_read", "", kAny, kState,
     [](Fixture &) { return sennit_channel_have_read(SENNIT_CHANNEL_NULL); }},
    {"sennit_channel_wait_write", "", kAny, kState,
     [](Fixture &it) { return sennit_channel_wait_write(it.channels[0], SENNIT_FOREVER); }},
    {"sennit_channel_wait_read", "a negative timeout", kAny, kState,
     [](Fixture &it) { return sennit_channel_wait_read(it.channels[0], -1); }},
    {"sennit_channel_wait_messages", "", kAny, kState,
     [](Fixture &it) {
         std::uint32_t messages = 0;
         return sennit_channel_wait_messages(it.channels[0], 1, 0, &messages);
     }},
    {"sennit_channel_query", "", kAny, kState,
     [](Fixture &it) { return sennit_channel_query(it.channels[0], &it.channel_info); }},
};

}  // namespace arguments
