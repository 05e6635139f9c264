// SPDX-License-Identifier: BSD-3-Clause
// Channels. The six hand-over calls first try the inline functions of channel.hpp for one message,
// then those for several; all other cases use the cold path.
#include <sennit/memory.h>

#include "api/call.hpp"
#include "base/array.hpp"
#include "base/fail_rank.hpp"
#include "channel/channels.hpp"
#include "memory/segments.hpp"
#include "op/region.hpp"

using namespace sennit;
using namespace sennit::api;
using channel::Channel;

namespace {

constexpr unsigned kKnownFlags = SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL |
                                 SENNIT_CHANNEL_NOT_READY |
                                 SENNIT_CHANNEL_AHEAD(channel::kAheadMask);

sennit_status no_channel(sennit_channel channel) {
    return fail(SENNIT_ERR_ARG, "%#x is no open channel of this rank", channel.handle);
}

// The cold path of a call on one channel.
template <class Call>
[[gnu::cold, gnu::noinline]] sennit_status call_on(sennit_channel handle, const char *name,
                                                   Call call) {
    return api::call(name, [&](Rank &rank) {
        Channel *opened = channel::find(rank, handle);
        return opened == nullptr ? no_channel(handle) : call(rank, *opened);
    });
}

// Which copies of a mirror are recorded for a call. A hand-over without a mirror copies nothing:
// the program stores and loads through its pointer, and Sennit does not see how much.
enum class Copies : std::uint8_t { none, pushed, pulled };

std::uint64_t copied_bytes(const Channel &opened, Copies copies) {
    if (opened.mirror == nullptr || copies == Copies::none) return 0;
    const bool is_pulled = (opened.flags & SENNIT_CHANNEL_PULL) != 0;
    return is_pulled == (copies == Copies::pulled) ? opened.peer_bytes : 0;
}

// call_on() for a recorded call: a hand-over, or a wait for one.
template <class Call>
[[gnu::cold, gnu::noinline]] sennit_status use(sennit_channel handle, const char *name,
                                               Copies copies, Call call) {
    return call_on(handle, name, [&](Rank &rank, Channel &opened) {
        runtime::Observed observed(rank, name, opened.peer);
        // A reader that was not ready only announces that it is ready: no message was copied.
        const bool is_none = copies == Copies::pulled && !is_ready(opened);
        const sennit_status status = call(rank, opened);
        if (observed.is_on() && status == SENNIT_OK) [[unlikely]]
            observed.set_bytes(is_none ? 0 : copied_bytes(opened, copies));
        return status;
    });
}

[[gnu::cold]] sennit_status null_output(const char *argument, const char *name) {
    if (caller() == nullptr) return no_rank(name);
    return null_argument(argument, name);
}

// Whether the region was newly registered, not a part of an older segment.
bool is_own_region(const Rank &rank, sennit_region region) {
    if (region.gptr.rank != rank.world_rank ||
        memory::team_slot_of(region.gptr.segment) != memory::kLocalSlot)
        return false;
    const SegmentRecord &record = rank.control->records[memory::index_of(region.gptr.segment)];
    return record.kind == SegmentKind::registered;
}

// The converted arguments of an open.
struct OpenArgs {
    std::size_t count;
    Array<channel::ChannelArgs> all{count};
    Array<Channel *> opened{count};

    bool is_made() const { return all != nullptr && opened != nullptr; }
};

sennit_status check_ends(const sennit_channel_ends *ends, unsigned flags, std::int64_t timeout_ns,
                         const sennit_channel *channels) {
    if (ends == nullptr) return null_argument("ends");
    if ((flags & ~kKnownFlags) != 0) return fail(SENNIT_ERR_ARG, "flags %#x are unknown", flags);
    const std::uint32_t ahead = channel::ahead_in(flags);
    if (ahead > SENNIT_CHANNEL_AHEAD_MOST)
        return fail(SENNIT_ERR_ARG, "%u messages unread at once are more than %d", ahead,
                    SENNIT_CHANNEL_AHEAD_MOST);
    if (ahead > 1 && (flags & SENNIT_CHANNEL_MIRROR) != 0)
        return fail(SENNIT_ERR_ARG,
                    "a mirror is copied whole, so its channel allows 1 unread message, not %u",
                    ahead);
    if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
    if (ends->count == 0) return SENNIT_OK;
    if (ends->targets == nullptr || ends->buffers == nullptr || ends->bytes == nullptr)
        return null_argument("targets, buffers or bytes");
    if (channels == nullptr) return null_argument("channels");
    if (ends->count > channel::ChannelTable::kMost)
        return fail(SENNIT_ERR_NOMEM, "a rank has at most %u channels",
                    channel::ChannelTable::kMost);
    return SENNIT_OK;
}

// Finds the peers, before anything is registered.
sennit_status find_peers(const Rank &rank, const team::Team &team, const sennit_channel_ends &ends,
                         OpenArgs &open_args) {
    for (std::size_t i = 0; i < open_args.count; ++i) {
        const int target = ends.targets[i];
        if (target < 0 || static_cast<std::uint32_t>(target) >= team.size)
            return fail_no_rank(target, team.size, " of the team");
        channel::ChannelArgs &args = open_args.all[i];
        args.peer = team.world_ranks[target];
        args.buffer = ends.buffers[i];
        args.bytes = ends.bytes[i];
        const sennit_status status = channel::check_peer(rank, args.peer);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

void deregister_all(Rank &rank, const OpenArgs &open_args) {
    const sennit_error error = *thread_error();
    for (std::size_t i = 0; i < open_args.count; ++i)
        if (open_args.all[i].owns_region)
            (void)op::deregister_region(rank, open_args.all[i].region);
    *thread_error() = error;
}

sennit_status register_all(Rank &rank, OpenArgs &open_args) {
    for (std::size_t i = 0; i < open_args.count; ++i) {
        channel::ChannelArgs &args = open_args.all[i];
        if (args.bytes == 0) continue;
        const sennit_status status =
            op::register_region(rank, {args.buffer, args.bytes}, &args.region);
        if (status != SENNIT_OK) return status;
        args.owns_region = is_own_region(rank, args.region);
    }
    return SENNIT_OK;
}

sennit_status open_all(Rank &rank, OpenArgs &open_args, unsigned flags, const Deadline &deadline) {
    const runtime::Observed observed(rank, "sennit_channel_open");
    sennit_status status = register_all(rank, open_args);
    if (status == SENNIT_OK)
        status = channel::open_all(rank, open_args.all, open_args.count, flags, deadline,
                                   open_args.opened);
    if (status != SENNIT_OK) deregister_all(rank, open_args);
    return status;
}

// Finds the channels of the handles; each must exist and occur once.
sennit_status find_all(Rank &rank, const sennit_channel *handles, std::size_t count,
                       Channel **found) {
    std::size_t known = 0;
    sennit_status status = SENNIT_OK;
    for (; known < count; ++known) {
        Channel *opened = channel::find(rank, handles[known]);
        if (opened == nullptr) {
            status = no_channel(handles[known]);
            break;
        }
        if (opened->is_closing) {
            status = fail(SENNIT_ERR_ARG, "channel %#x is named twice", handles[known].handle);
            break;
        }
        opened->is_closing = true;
        found[known] = opened;
    }
    for (std::size_t i = 0; i < known; ++i)
        found[i]->is_closing = false;
    return status;
}

sennit_status close_all(Rank &rank, const sennit_channel *handles, std::size_t count,
                        std::int64_t timeout_ns) {
    const Array<Channel *> found(count);
    const Array<sennit_region> regions(count);
    if (found == nullptr || regions == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the list of channels");
    sennit_status status = find_all(rank, handles, count, found);
    const runtime::Observed observed(rank, "sennit_channel_close");
    if (status == SENNIT_OK)
        status = channel::close_all(rank, found, count, Deadline::after(timeout_ns), regions);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i)
        if (!sennit_gptr_is_null(regions[i].gptr)) (void)op::deregister_region(rank, regions[i]);
    return status;
}

// The two sides of a channel: the writer of the peer's buffer, and the reader of its own. The names
// are those of the public functions.
struct Writing {
    static constexpr const char *kCan = "sennit_channel_can_write";
    static constexpr const char *kHave = "sennit_channel_have_written";
    static constexpr const char *kWait = "sennit_channel_wait_write";
    static constexpr Copies kCopies = Copies::pushed;
    static constexpr auto kTest = channel::test_write;
    static constexpr auto kHandOver = channel::hand_over_written;
    static constexpr auto kWaitFor = channel::wait_write;
    static bool may_ahead(Channel &opened) { return may_write_ahead(opened); }
    static void note_ahead(Channel &opened) { note_written(opened); }
};
struct Reading {
    static constexpr const char *kCan = "sennit_channel_can_read";
    static constexpr const char *kHave = "sennit_channel_have_read";
    static constexpr const char *kWait = "sennit_channel_wait_read";
    static constexpr Copies kCopies = Copies::pulled;
    static constexpr auto kTest = channel::test_read;
    static constexpr auto kHandOver = channel::hand_over_read;
    static constexpr auto kWaitFor = channel::wait_read;
    static bool may_ahead(Channel &opened) { return may_read_ahead(opened); }
    static void note_ahead(Channel &opened) { note_read(opened); }
};

template <class Side>
[[gnu::noinline]] sennit_status can_cold(sennit_channel handle, int *can) {
    return call_on(handle, Side::kCan,
                   [=](Rank &rank, Channel &opened) { return Side::kTest(rank, opened, can); });
}

template <class Side>
[[gnu::noinline]] sennit_status have_cold(sennit_channel handle) {
    return use(handle, Side::kHave, Side::kCopies, Side::kHandOver);
}

// Polls inline, about as often as wait_until() does before it makes progress. Most hand-overs
// between two cores end here. Returns true when `ready` is true. The pauses between the first polls
// are brief: if the cores share a cache, the answer arrives within two long pauses, so a long pause
// could add half of the latency. More polls with brief pauses would delay this core's own stores if
// the answer takes longer.
template <class Ready>
inline bool poll(const Channel &opened, std::int64_t timeout_ns, Ready ready) {
    constexpr unsigned kBriefPauses = 6;
    constexpr std::int64_t kShortestNs = 1'000'000;  // polling takes less
    if (ready()) return timeout_ns >= 0;
    if (timeout_ns < kShortestNs || opened.spins == 0) return false;
    for (unsigned i = 0; i < kBriefPauses; ++i) {
        cpu_pause_briefly();
        if (ready()) return true;
    }
    for (unsigned left = opened.spins; left != 0; --left) {
        cpu_pause();
        if (ready()) return true;
    }
    return false;
}

// Waits after polling has found nothing.
template <class Wait>
sennit_status wait_on(sennit_channel handle, std::int64_t timeout_ns, const char *name, Wait wait) {
    return use(handle, name, Copies::none, [=](Rank &rank, Channel &opened) {
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return wait(rank, opened, Deadline::after(timeout_ns));
    });
}

template <class Side>
[[gnu::noinline]] sennit_status wait_cold(sennit_channel handle, std::int64_t timeout_ns) {
    return wait_on(handle, timeout_ns, Side::kWait, Side::kWaitFor);
}

[[gnu::noinline]] sennit_status wait_messages_cold(sennit_channel handle, std::uint32_t least,
                                                   std::int64_t timeout_ns,
                                                   std::uint32_t *messages) {
    return wait_on(
        handle, timeout_ns, "sennit_channel_wait_messages",
        [=](Rank &rank, Channel &opened, const Deadline &deadline) {
            if (least == 0 || least > opened.ahead)
                return fail(
                    SENNIT_ERR_ARG,
                    "cannot wait for %u messages: this channel allows 1 to %u unread messages",
                    least, opened.ahead);
            return channel::wait_messages(rank, opened, least, messages, deadline);
        });
}

// Tries a channel whose writer may be ahead, then the cold path. Not inline, so that the short way
// stays fast. The first parameters are those of the public call, so they stay in their registers.
template <class Side>
[[gnu::noinline]] sennit_status can_ahead(sennit_channel handle, int *can, Channel *opened) {
    if (!channel::goes_ahead(opened, handle) || !Side::may_ahead(*opened))
        return can_cold<Side>(handle, can);
    *can = 1;
    return SENNIT_OK;
}

template <class Side>
[[gnu::noinline]] sennit_status have_ahead(sennit_channel handle, Channel *opened) {
    if (!channel::goes_ahead(opened, handle) || !Side::may_ahead(*opened)) [[unlikely]]
        return have_cold<Side>(handle);
    Side::note_ahead(*opened);
    return SENNIT_OK;
}

template <class Side>
[[gnu::noinline]] sennit_status wait_ahead(sennit_channel handle, std::int64_t timeout_ns,
                                           Channel *opened) {
    if (channel::goes_ahead(opened, handle) &&
        poll(*opened, timeout_ns, [opened] { return Side::may_ahead(*opened); })) [[likely]]
        return SENNIT_OK;
    return wait_cold<Side>(handle, timeout_ns);
}

}  // namespace

extern "C" {

sennit_status sennit_channel_open(sennit_team team, const sennit_channel_ends *ends, unsigned flags,
                                  int64_t timeout_ns, void *peers[], sennit_channel channels[]) {
    return team_call(__func__, team, [=](Rank &rank, const team::Team &found) {
        sennit_status status = check_ends(ends, flags, timeout_ns, channels);
        if (status != SENNIT_OK || ends->count == 0) return status;
        // AHEAD(1) is the default. It is removed because the flags of both sides are compared.
        const bool is_one = channel::ahead_in(flags) == 1;
        const unsigned wanted = is_one ? flags & ~SENNIT_CHANNEL_AHEAD(channel::kAheadMask) : flags;
        const Deadline deadline = Deadline::after(timeout_ns);
        OpenArgs open_args{ends->count};
        if (!open_args.is_made()) return fail(SENNIT_ERR_NOMEM, "no memory for the targets");
        status = find_peers(rank, found, *ends, open_args);
        if (status == SENNIT_OK) status = open_all(rank, open_args, wanted, deadline);
        for (std::size_t i = 0; status == SENNIT_OK && i < open_args.count; ++i) {
            const Channel &opened = *open_args.opened[i];
            if (peers != nullptr) peers[i] = opened.peer_buffer;
            // relaxed: this thread stored it.
            channels[i].handle = opened.handle.load(std::memory_order_relaxed);
        }
        return status;
    });
}

sennit_status sennit_channel_close(const sennit_channel channels[], size_t count,
                                   int64_t timeout_ns) {
    return call(__func__, [=](Rank &rank) {
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        if (count == 0) return SENNIT_OK;
        if (channels == nullptr) return null_argument("channels");
        if (count > channel::ChannelTable::kMost)
            return fail(SENNIT_ERR_ARG, "a rank has no %zu channels", count);
        return close_all(rank, channels, count, timeout_ns);
    });
}

sennit_status sennit_channel_can_write(sennit_channel channel, int *can) {
    Channel *opened = channel::place_of_handle(channel);
    if (can == nullptr) [[unlikely]]
        return null_output("can", __func__);
    if (!channel::goes_short(opened, channel) || !may_write_one(*opened))
        return can_ahead<Writing>(channel, can, opened);
    *can = 1;
    return SENNIT_OK;
}

sennit_status sennit_channel_have_written(sennit_channel channel) {
    Channel *opened = channel::place_of_handle(channel);
    if (!channel::goes_short(opened, channel) || !may_write_one(*opened)) [[unlikely]]
        return have_ahead<Writing>(channel, opened);
    note_written_one(*opened);
    return SENNIT_OK;
}

sennit_status sennit_channel_can_read(sennit_channel channel, int *can) {
    Channel *opened = channel::place_of_handle(channel);
    if (can == nullptr) [[unlikely]]
        return null_output("can", __func__);
    if (!channel::goes_short(opened, channel) || !may_read_one(*opened))
        return can_ahead<Reading>(channel, can, opened);
    *can = 1;
    return SENNIT_OK;
}

sennit_status sennit_channel_have_read(sennit_channel channel) {
    Channel *opened = channel::place_of_handle(channel);
    if (!channel::goes_short(opened, channel) || !may_read_one(*opened)) [[unlikely]]
        return have_ahead<Reading>(channel, opened);
    note_read(*opened);
    return SENNIT_OK;
}

sennit_status sennit_channel_wait_write(sennit_channel channel, int64_t timeout_ns) {
    Channel *opened = channel::place_of_handle(channel);
    if (channel::goes_short(opened, channel) &&
        poll(*opened, timeout_ns, [opened] { return may_write_one(*opened); })) [[likely]]
        return SENNIT_OK;
    return wait_ahead<Writing>(channel, timeout_ns, opened);
}

sennit_status sennit_channel_wait_read(sennit_channel channel, int64_t timeout_ns) {
    Channel *opened = channel::place_of_handle(channel);
    if (channel::goes_short(opened, channel) &&
        poll(*opened, timeout_ns, [opened] { return may_read_one(*opened); })) [[likely]]
        return SENNIT_OK;
    return wait_ahead<Reading>(channel, timeout_ns, opened);
}

sennit_status sennit_channel_wait_messages(sennit_channel channel, uint32_t least,
                                           int64_t timeout_ns, uint32_t *messages) {
    Channel *opened = channel::place_of_handle(channel);
    std::uint32_t found = 0;
    if (messages == nullptr) [[unlikely]]
        return null_output("messages", "sennit_channel_wait_messages");
    if (channel::goes_ahead(opened, channel) && least - 1 < opened->ahead &&
        poll(*opened, timeout_ns, [&] {
            found = count_messages(*opened, least);
            return found >= least;
        })) [[likely]] {
        *messages = found;
        return SENNIT_OK;
    }
    return wait_messages_cold(channel, least, timeout_ns, messages);
}

sennit_status sennit_channel_query(sennit_channel channel, sennit_channel_info *info) {
    return call(__func__, [=](Rank &rank) {
        if (info == nullptr) return null_argument("info");
        const Channel *opened = channel::find(rank, channel);
        if (opened == nullptr) return no_channel(channel);
        // All relaxed: this rank's own counts.
        const std::uint64_t read = opened->read.load(std::memory_order_relaxed);
        *info = sennit_channel_info{opened->peer,
                                    opened->mirror != nullptr ? 1 : 0,
                                    opened->peer_buffer,
                                    opened->peer_bytes,
                                    opened->written.load(std::memory_order_relaxed),
                                    read == channel::kNotReady ? 0 : read};
        return SENNIT_OK;
    });
}

}  // extern "C"
