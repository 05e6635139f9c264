// A message and its event by one-sided MPI: a put and a message that reports it, and the three
// kinds of epochs. All asserts that the standard allows are given. Active epochs have only the two
// partners. Windows are of the fastest kind: on a node shared ones, except for post and start.
#include <atomic>
#include <string>

#include "worker/mpi_pair_window.hpp"

namespace sennit::bench {

namespace {

Kind fastest_kind(const Job &job) {
    return job.spans_nodes() ? Kind::kRemote : Kind::kShared;
}

void tell(int partner, MPI_Comm comm) {
    MPI_Send(nullptr, 0, MPI_BYTE, partner, kMpiTag, comm);
}

void hear(int partner, MPI_Comm comm) {
    MPI_Recv(nullptr, 0, MPI_BYTE, partner, kMpiTag, comm, MPI_STATUS_IGNORE);
}

// In a window that stays locked.
Subject put_and_message(MPI_Comm comm, const Job &job, const Messages &messages) {
    const Pair pair(job);
    auto window = make_window(comm, messages.bytes, fastest_kind(job));
    const int count = static_cast<int>(messages.bytes);
    return {job.name() + "-put-message",
            [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    MPI_Put(messages.outgoing, count, MPI_BYTE, pair.partner, 0, count, MPI_BYTE,
                            window->win);
                    MPI_Win_flush(pair.partner, window->win);
                    tell(pair.partner, comm);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    hear(pair.partner, comm);
                    MPI_Win_sync(window->win);
                    return messages.consume_at(window->own, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

// A lock for each put. The following message means that the put is complete, so the receiver needs
// no lock.
Subject lock_and_message(MPI_Comm comm, const Job &job, const Messages &messages) {
    const Pair pair(job);
    auto window = make_window(comm, messages.bytes, fastest_kind(job));
    window->unlock(comm);
    const int count = static_cast<int>(messages.bytes);
    return {job.name() + "-lock-message",
            [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    // The assert is allowed because no other rank locks the window.
                    MPI_Win_lock(MPI_LOCK_SHARED, pair.partner, MPI_MODE_NOCHECK, window->win);
                    MPI_Put(messages.outgoing, count, MPI_BYTE, pair.partner, 0, count, MPI_BYTE,
                            window->win);
                    MPI_Win_unlock(pair.partner, window->win);
                    tell(pair.partner, comm);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    hear(pair.partner, comm);
                    // SYNC bench-flag: pairs with the MPI's own release in MPI_Win_unlock() of the
                    // sender; payload before message.
                    std::atomic_thread_fence(std::memory_order_acquire);
                    return messages.consume_at(window->own, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

Subject by_fence(MPI_Comm comm, const Job &job, const Messages &messages) {
    const Pair pair(job);
    auto window = std::make_shared<FencedWindow>(comm, job, messages.bytes, fastest_kind(job));
    const int count = static_cast<int>(messages.bytes);
    return {job.name() + "-fence", [=, partner = window->partner(), win = window->win(),
                                    number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    MPI_Put(messages.outgoing, count, MPI_BYTE, partner, 0, count, MPI_BYTE, win);
                    MPI_Win_fence(MPI_MODE_NOSTORE, win);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    // In the next epoch only this rank puts, so nothing is put into its window.
                    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
                    return messages.consume_at(window->own(), trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

// Epochs of post, start, complete and wait. A rank posts the next epoch after it has read the
// message, before it answers. So its partner's start never waits, as MPI_MODE_NOCHECK asserts.
class PostedWindow : public PairWindow {
  public:
    PostedWindow(MPI_Comm comm, const Job &job, std::uint64_t bytes)
        : PairWindow(comm, job, bytes, Kind::kRemote), m_partner(*this) {
        post();
        MPI_Barrier(this->comm());
    }
    ~PostedWindow() override {
        MPI_Barrier(comm());
        start();
        MPI_Win_complete(win());
        MPI_Win_wait(win());
    }
    void post() const {
        MPI_Win_post(m_partner.group(), MPI_MODE_NOCHECK | MPI_MODE_NOSTORE, win());
    }
    void start() const { MPI_Win_start(m_partner.group(), MPI_MODE_NOCHECK, win()); }

  private:
    Partner m_partner;
};

Subject by_post(MPI_Comm comm, const Job &job, const Messages &messages) {
    const Pair pair(job);
    auto window = std::make_shared<PostedWindow>(comm, job, messages.bytes);
    const int count = static_cast<int>(messages.bytes);
    return {job.name() + "-pscw", [=, partner = window->partner(), win = window->win(),
                                   number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    window->start();
                    MPI_Put(messages.outgoing, count, MPI_BYTE, partner, 0, count, MPI_BYTE, win);
                    MPI_Win_complete(win);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    MPI_Win_wait(win);
                    const bool is_right = messages.consume_at(window->own(), trip);
                    window->post();
                    return is_right;
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

}  // namespace

std::vector<Subject> mpi_notify(MPI_Comm comm, const Job &job, const Messages &messages) {
    std::vector<Subject> subjects{put_and_message(comm, job, messages),
                                  lock_and_message(comm, job, messages),
                                  by_fence(comm, job, messages), by_post(comm, job, messages)};
    // Over a network the last put may need its target inside MPI to complete. This is not timed.
    for (Subject &subject : subjects)
        if (job.spans_nodes())
            subject.run = [comm, run = std::move(subject.run)](std::size_t operations) {
                const Interval elapsed = run(operations);
                MPI_Barrier(comm);
                return elapsed;
            };
    return subjects;
}

}  // namespace sennit::bench
