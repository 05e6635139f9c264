// Tests the parts of the transpose kernel. Breaks when an element of a block is lost, added twice
// or misplaced, for any tile; when a message and the direct way differ; or when the check misses a
// wrong element.
#include "matrices.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace transpose {
namespace {

std::vector<double> numbers(std::size_t count, double first) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST(Kernel, blocks_of_every_shape_and_tile_are_transposed) {
    constexpr std::ptrdiff_t kAPitch = 11, kBPitch = 13;
    for (std::ptrdiff_t rows = 0; rows <= 9; ++rows) {
        for (std::ptrdiff_t columns = 0; columns <= 9; ++columns) {
            for (const std::ptrdiff_t tile : {1, 2, 3, 4, 16}) {
                std::vector<double> a = numbers(kAPitch * 10, 1), b = numbers(kBPitch * 10, 1000);
                const std::vector<double> a_before = a, b_before = b;
                const transpose_block block{a.data(), b.data(), rows, columns,
                                            kAPitch,  kBPitch,  tile};
                transpose_add(&block);
                for (std::ptrdiff_t at = 0; at < std::ssize(a); ++at) {
                    const bool in = at % kAPitch < rows && at / kAPitch < columns;
                    const auto index = static_cast<std::size_t>(at);
                    EXPECT_EQ(a[index], a_before[index] + (in ? 1 : 0));
                }
                for (std::ptrdiff_t at = 0; at < std::ssize(b); ++at) {
                    const std::ptrdiff_t j = at % kBPitch, i = at / kBPitch;
                    const auto index = static_cast<std::size_t>(at);
                    double expected = b_before[index];
                    if (j < columns && i < rows)
                        expected += a_before[static_cast<std::size_t>(i + j * kAPitch)];
                    EXPECT_EQ(b[index], expected);
                }
            }
        }
    }
}

TEST(Shares, groups_of_rows_begin_at_cache_lines_and_do_not_overlap) {
    for (const std::ptrdiff_t order : {5, 16, 53}) {
        for (int groups = 1; groups <= 5; ++groups) {
            const Shares shares(order, groups);
            const std::ptrdiff_t columns = shares.of(0).count();
            for (int group = 0; group < groups; ++group) {
                EXPECT_EQ(shares.pitch(group) % 8, 0);
                EXPECT_GE(shares.pitch(group), shares.of(group).count());
                EXPECT_EQ(shares.at(group + 1, 0),
                          shares.at(group, 0) + shares.pitch(group) * columns);
            }
        }
    }
}

TEST(Shares, columns_are_shared_once_each) {
    for (const std::ptrdiff_t order : {1, 7, 16, 53}) {
        for (int ranks = 1; ranks <= order && ranks <= 8; ++ranks) {
            const Shares shares(order, ranks);
            std::ptrdiff_t next = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                EXPECT_EQ(shares.of(rank).begin, next);
                EXPECT_GE(shares.of(rank).count(), order / ranks);
                next = shares.of(rank).end;
            }
            EXPECT_EQ(next, order);
        }
    }
}

// All ranks in one thread.
struct Job {
    Job(std::ptrdiff_t order, int ranks) : shares(order, ranks) {
        for (int rank = 0; rank < ranks; ++rank) {
            a.emplace_back(shares.elements(rank));
            b.emplace_back(shares.elements(rank));
        }
        for (int rank = 0; rank < ranks; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            parts.emplace_back(shares, rank, Matrices::Memory{a[at].data(), b[at].data()}, 4);
            parts.back().fill({0, shares.of(rank).count()});
        }
    }
    double error(std::int64_t steps) const {
        double sum = 0;
        for (const Matrices &part : parts)
            sum += part.error(steps);
        return sum;
    }

    Shares shares;
    std::vector<std::vector<double>> a, b;
    std::vector<Matrices> parts;
};

TEST(Matrices, adding_into_the_peers_gives_the_answer) {
    Job job(13, 4);
    for (int step = 0; step < 3; ++step) {
        for (Matrices &part : job.parts) {
            for (int peer = 0; peer < 4; ++peer)
                part.add_to(peer, job.parts[static_cast<std::size_t>(peer)].b());
        }
    }
    EXPECT_EQ(job.error(3), 0);
    EXPECT_GT(job.error(2), 0);
    job.parts[2].spoil();
    EXPECT_EQ(job.error(3), 1);
}

TEST(Matrices, threads_of_one_rank_give_the_answer) {
    const Shares shares(13, 1, 3);
    std::vector<double> a(shares.elements(0)), b(shares.elements(0));
    Matrices all(shares, 0, {a.data(), b.data()}, 4);
    all.fill({0, 13});
    for (int step = 0; step < 2; ++step) {
        for (int rows = 0; rows < 3; ++rows) {
            for (int columns = 0; columns < 3; ++columns)
                all.add(columns, rows, b.data());
        }
    }
    EXPECT_EQ(all.error(2), 0);
    EXPECT_GT(all.error(3), 0);
}

TEST(Matrices, messages_of_every_size_give_the_answer) {
    for (std::ptrdiff_t chunk = 1; chunk <= 5; ++chunk) {
        Job job(13, 3);
        for (int sender = 0; sender < 3; ++sender) {
            Matrices &from = job.parts[static_cast<std::size_t>(sender)];
            for (int peer = 0; peer < 3; ++peer) {
                const std::ptrdiff_t columns = job.shares.of(peer).count();
                for (std::ptrdiff_t begin = 0; begin < columns; begin += chunk) {
                    const Span part{begin, std::min(begin + chunk, columns)};
                    std::vector<double> message(
                        static_cast<std::size_t>(from.message_elements(sender, part)));
                    from.pack(peer, message.data(), part);
                    job.parts[static_cast<std::size_t>(peer)].accept(sender, message.data(), part);
                }
            }
        }
        EXPECT_EQ(job.error(1), 0) << chunk;
    }
}

}  // namespace
}  // namespace transpose
