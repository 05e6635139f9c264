// Notified put and get, the general way: everything that notify_at_once() leaves. The order is the
// same: look at the epoch, move the data, count the event.
#include "base/fail.hpp"
#include "op/rma.hpp"
#include "runtime/whole_call.hpp"
#include "signal/carried.hpp"

namespace sennit::signal {
namespace {

bool is_same(sennit_signal a, sennit_signal b) {
    return a.rank == b.rank && a.handle == b.handle;
}

sennit_status check_place(const Attached &it, const Notifying &wish) {
    if (wish.local == nullptr && wish.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    if (wish.offset > it.bytes || wish.bytes > it.bytes - wish.offset)
        return fail_peer(SENNIT_ERR_RANGE, it.gptr.rank, "",
                         "%zu bytes at offset %zu leave the block of %llu bytes", wish.bytes,
                         wish.offset, static_cast<unsigned long long>(it.bytes));
    // relaxed: only equality counts, as in memory::find().
    if (it.live != nullptr && it.live->load(std::memory_order_relaxed) != it.live_value)
        return fail_peer(SENNIT_ERR_NOT_REGISTERED, it.gptr.rank, "",
                         "the region of rank %d that the block was made of has ended",
                         it.gptr.rank);
    return SENNIT_OK;
}

// Which signal is notified at the block's owner, and in which epoch. *notified is the block's own,
// or null where the call names another one, which is then in *remote.
sennit_status choose_remote(Rank &rank, Attached &it, const Notifying &wish, Remote *remote,
                            Notified **notified) {
    Notified &own = wish.direction == op::Direction::put ? it.put : it.get;
    *notified = &own;
    *remote = own.remote;
    if (wish.notice == nullptr || wish.notice->remote.handle == 0 ||
        is_same(wish.notice->remote, own.remote.signal))
        return SENNIT_OK;
    *notified = nullptr;
    if (wish.notice->remote.rank != it.gptr.rank)
        return fail(SENNIT_ERR_ARG, "the signal is of rank %d, and the block of rank %d",
                    wish.notice->remote.rank, it.gptr.rank);
    if (wish.notice->epoch == SENNIT_EPOCH_NEXT)
        return fail(SENNIT_ERR_ARG, "a signal that is not the block's own needs its epoch");
    return reach(rank, wish.notice->remote, remote);
}

// A local signal that has fired already is refused before anything has moved.
sennit_status reach_local(Rank &rank, const Notifying &wish, Remote *local) {
    if (wish.notice == nullptr || wish.notice->local.handle == 0) return SENNIT_OK;
    const Own *own = find_own(rank, wish.notice->local);
    if (own == nullptr)
        return fail(SENNIT_ERR_ARG, "the local signal {%d, %#x} is not the caller's",
                    wish.notice->local.rank, wish.notice->local.handle);
    if (has_fired(*own)) return fail_surplus(wish.notice->local, own_epoch(*own), own->events);
    return reach(rank, wish.notice->local, local);
}

sennit_status count_local(Rank &rank, const Remote &local) {
    Seen seen{};
    const sennit_status status = look(rank, local, &seen);
    return status != SENNIT_OK ? status : count_event(rank, local, seen.epoch, seen);
}

}  // namespace

sennit_status notify(Rank &rank, Attached &it, const Notifying &wish) {
    const WholeCall call;
    sennit_status status = check_place(it, wish);
    Remote remote;
    Remote local;
    Notified *notified = nullptr;
    if (status == SENNIT_OK) status = choose_remote(rank, it, wish, &remote, &notified);
    if (status == SENNIT_OK) status = reach_local(rank, wish, &local);
    if (status != SENNIT_OK) return status;
    std::uint64_t epoch = wish.notice == nullptr ? SENNIT_EPOCH_NEXT : wish.notice->epoch;
    if (epoch == SENNIT_EPOCH_NEXT && notified != nullptr) epoch = notified->next_epoch;
    Seen seen{};
    // What a message left that has failed comes first: it may be of the same signal.
    if (!remote.is_none() && remote.record == nullptr)
        status = op::engine_settle(rank, it.gptr.rank, op::Until::settled);
    if (status == SENNIT_OK && !remote.is_none()) status = check_epoch(rank, remote, epoch, &seen);
    if (status != SENNIT_OK) return status;
    sennit_gptr place = it.gptr;
    place.offset += wish.offset;
    bool rides = false;
    if (wish.direction == op::Direction::put && remote.record == nullptr && !remote.is_none())
        status = put_riding(rank, {&remote, epoch, place, wish.local, wish.bytes}, &rides);
    if (status == SENNIT_OK && !rides) {
        status = op::transfer(rank, wish.direction, place, wish.local, wish.bytes, {});
        if (status == SENNIT_OK && !remote.is_none())
            status = count_event(rank, remote, epoch, seen);
    }
    if (status != SENNIT_OK) return status;
    if (notified != nullptr && !remote.is_none()) notified->next_epoch = epoch + 1;
    return local.is_none() ? SENNIT_OK : count_local(rank, local);
}

}  // namespace sennit::signal
