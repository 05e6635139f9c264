// The pieces of a plan by one-sided MPI: one put for each piece, or one put of a committed
// datatype. A flush, an unlock, or one of the two kinds of active epochs completes them. All are
// measured in both kinds of windows, since the MPIs differ in the faster one.
#include <string>

#include "worker/mpi_pair_window.hpp"

namespace sennit::bench {

namespace {

std::string name_of(const Job &job, const char *way, Kind kind) {
    return job.name() + way + suffix_of(kind);
}

void put_each(const Pieces &pieces, int target, MPI_Win win) {
    const int count = static_cast<int>(pieces.bytes);
    for (std::size_t i = 0; i < Pieces::kCount; ++i)
        MPI_Put(pieces.source(i), count, MPI_BYTE, target, static_cast<MPI_Aint>(pieces.offset(i)),
                count, MPI_BYTE, win);
}

// The addresses at the target as one datatype.
struct Places {
    MPI_Datatype type = MPI_DATATYPE_NULL;

    explicit Places(const Pieces &pieces) {
        MPI_Type_create_hvector(static_cast<int>(Pieces::kCount), static_cast<int>(pieces.bytes),
                                static_cast<MPI_Aint>(pieces.stride()), MPI_BYTE, &type);
        MPI_Type_commit(&type);
    }
    ~Places() { MPI_Type_free(&type); }
    Places(const Places &) = delete;
    Places &operator=(const Places &) = delete;
};

template <class Operation>
Subject at_origin(std::string name, MPI_Comm comm, const Job &job, Operation operation) {
    return while_others_wait(std::move(name), comm, job.rank() == Pieces::kOrigin,
                             std::move(operation));
}

// Both ranks work, and the origin's time is measured. Then they synchronise inside MPI: between
// nodes the origin may still be in its last call when the target has left its own.
template <class AtOrigin, class AtTarget>
Subject at_both(std::string name, MPI_Comm comm, const Job &job, AtOrigin at_origin,
                AtTarget at_target) {
    return {std::move(name),
            [=, is_origin = job.rank() == Pieces::kOrigin](std::size_t operations) mutable {
                // Both run the same number of operations.
                const Interval elapsed = is_origin ? time_batch(operations, at_origin)
                                                   : time_batch(operations, at_target);
                MPI_Barrier(comm);
                return is_origin ? elapsed : kNotTimed;
            }};
}

Subject by_flush(MPI_Comm comm, const Job &job, const Pieces &pieces, Kind kind) {
    auto window = make_window(comm, pieces.target_bytes(), kind);
    return at_origin(name_of(job, "-put", kind), comm, job, [=] {
        put_each(pieces, Pieces::kTarget, window->win);
        MPI_Win_flush(Pieces::kTarget, window->win);
    });
}

Subject by_datatype(MPI_Comm comm, const Job &job, const Pieces &pieces, Kind kind) {
    auto window = make_window(comm, pieces.target_bytes(), kind);
    auto places = std::make_shared<Places>(pieces);
    return at_origin(name_of(job, "-type", kind), comm, job, [=] {
        MPI_Put(pieces.from, static_cast<int>(Pieces::kCount * pieces.bytes), MPI_BYTE,
                Pieces::kTarget, 0, 1, places->type, window->win);
        MPI_Win_flush(Pieces::kTarget, window->win);
    });
}

Subject by_lock(MPI_Comm comm, const Job &job, const Pieces &pieces, Kind kind) {
    auto window = make_window(comm, pieces.target_bytes(), kind);
    window->unlock(comm);
    return at_origin(name_of(job, "-lock", kind), comm, job, [=] {
        // The assert is allowed because no other rank locks the window.
        MPI_Win_lock(MPI_LOCK_SHARED, Pieces::kTarget, MPI_MODE_NOCHECK, window->win);
        put_each(pieces, Pieces::kTarget, window->win);
        MPI_Win_unlock(Pieces::kTarget, window->win);
    });
}

Subject by_fence(MPI_Comm comm, const Job &job, const Pieces &pieces, Kind kind) {
    auto window = std::make_shared<FencedWindow>(comm, job, pieces.target_bytes(), kind);
    const MPI_Win win = window->win();
    return at_both(
        name_of(job, "-fence", kind), comm, job,
        [=] {
            put_each(pieces, window->partner(), win);
            MPI_Win_fence(MPI_MODE_NOSTORE, win);
        },
        [=] {
            (void)window;  // lives as long as its memory is used
            MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
        });
}

Subject by_post(MPI_Comm comm, const Job &job, const Pieces &pieces, Kind kind) {
    auto window = std::make_shared<PairWindow>(comm, job, pieces.target_bytes(), kind);
    auto partner = std::make_shared<Partner>(*window);
    const MPI_Win win = window->win();
    return at_both(
        name_of(job, "-pscw", kind), comm, job,
        [=] {
            MPI_Win_start(partner->group(), 0, win);
            put_each(pieces, window->partner(), win);
            MPI_Win_complete(win);
        },
        [=] {
            MPI_Win_post(partner->group(), MPI_MODE_NOSTORE, win);
            MPI_Win_wait(win);
        });
}

}  // namespace

std::vector<Subject> mpi_plan(MPI_Comm comm, const Job &job, const Pieces &pieces) {
    std::vector<Subject> subjects;
    for (const auto way : {by_flush, by_datatype, by_lock, by_fence, by_post})
        for (const Kind kind : {Kind::kRemote, Kind::kShared})
            if (kind == Kind::kRemote || !job.spans_nodes())
                subjects.push_back(way(comm, job, pieces, kind));
    return subjects;
}

}  // namespace sennit::bench
