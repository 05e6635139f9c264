// A stream of items as messages of an MPI: one at a time, and many under way at the same time. The
// MPI itself limits how far a sender runs ahead, or has no limit.
#include <algorithm>
#include <array>
#include <string>

#include "worker/library_mpi.hpp"

namespace sennit::bench {

namespace {

Subject by_messages(MPI_Comm comm, const Job &job, const Stream &stream) {
    const int count = static_cast<int>(stream.bytes);
    const int source = stream.producers == 1 ? 1 : MPI_ANY_SOURCE;
    return {job.name() + "-sendrecv",
            [=, numbers = ItemNumbers(stream)](std::size_t operations) mutable {
                const auto put = [&](std::size_t left) {
                    for (; left > 0; --left) {
                        numbers.produce(stream.item);
                        MPI_Send(stream.item, count, MPI_BYTE, Stream::kTaker, kMpiTag, comm);
                    }
                };
                const auto take = [&](std::size_t left) {
                    for (; left > 0; --left) {
                        MPI_Recv(stream.item, count, MPI_BYTE, source, kMpiTag, comm,
                                 MPI_STATUS_IGNORE);
                        numbers.consume(stream.item);
                    }
                };
                return time_stream(stream, numbers, operations, put, take);
            }};
}

// Many messages at the same time, each with its own buffers.
Subject by_windows(MPI_Comm comm, const Job &job, const Stream &stream) {
    const int count = static_cast<int>(stream.bytes);
    const int source = stream.producers == 1 ? 1 : MPI_ANY_SOURCE;
    return {job.name() + "-isend-irecv",
            [=, numbers = ItemNumbers(stream)](std::size_t operations) mutable {
                std::array<MPI_Request, Stream::kSlots> requests;
                const auto put = [&](std::size_t left) {
                    while (left > 0) {
                        const std::size_t now = std::min(left, Stream::kSlots);
                        for (std::size_t i = 0; i < now; ++i) {
                            numbers.produce(stream.slot(i));
                            MPI_Isend(stream.slot(i), count, MPI_BYTE, Stream::kTaker, kMpiTag,
                                      comm, &requests[i]);
                        }
                        MPI_Waitall(static_cast<int>(now), requests.data(), MPI_STATUSES_IGNORE);
                        left -= now;
                    }
                };
                const auto take = [&](std::size_t left) {
                    while (left > 0) {
                        const std::size_t now = std::min(left, Stream::kSlots);
                        for (std::size_t i = 0; i < now; ++i)
                            MPI_Irecv(stream.slot(i), count, MPI_BYTE, source, kMpiTag, comm,
                                      &requests[i]);
                        MPI_Waitall(static_cast<int>(now), requests.data(), MPI_STATUSES_IGNORE);
                        for (std::size_t i = 0; i < now; ++i)
                            numbers.consume(stream.slot(i));
                        left -= now;
                    }
                };
                return time_stream(stream, numbers, operations, put, take);
            }};
}

}  // namespace

std::vector<Subject> mpi_queue(MPI_Comm comm, const Job &job, const Stream &stream) {
    return {by_messages(comm, job, stream), by_windows(comm, job, stream)};
}

}  // namespace sennit::bench
