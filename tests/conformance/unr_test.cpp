// The calls of UNR by their own names, on every path. tests/unr/ tests them with MPI.
#include <sennit/sennit_unr_calls.h>

#include <cstdlib>
#include <vector>

#include "page_bytes.hpp"
#include "signals.hpp"

using namespace conformance;

namespace {

// Set before any rank starts.
[[maybe_unused]] const int returns_errors = sennit_unr_returns_errors = 1;

constexpr std::size_t kBytes = 12288;
constexpr std::size_t kParts = 3;

void good(Ranks &test, uru_status_t status, Ranks::Where where = Ranks::Where::current()) {
    if (status != URU_STATUS_OK) test.fail(where, sennit_last_error()->text);
}
void bad(Ranks &test, uru_status_t status, uru_status_t wanted = URU_STATUS_ERROR,
         Ranks::Where where = Ranks::Where::current()) {
    test.equal(static_cast<int>(status), static_cast<int>(wanted), where);
}

// Memory for sending and receiving, with a signal for each and a block of each, and the blocks and
// signals of all ranks.
struct Unr {
    Ranks &test;
    PageBytes out = PageBytes(kBytes);
    PageBytes in = PageBytes(kBytes);
    unr_mem_h out_mem = SENNIT_REGION_NULL;
    unr_mem_h in_mem = SENNIT_REGION_NULL;
    unr_sig_h sent = UNR_NO_SIGNAL;
    unr_sig_h arrived = UNR_NO_SIGNAL;
    unr_blk_h out_blk = SENNIT_BLOCK_NULL;
    unr_blk_h in_blk = SENNIT_BLOCK_NULL;
    std::vector<unr_blk_h> all_out;
    std::vector<unr_blk_h> all_in;
    std::vector<unr_sig_h> all_sent;
    std::vector<unr_sig_h> all_arrived;
    std::uint64_t round = 0;

    // `bound`: the blocks have the signals; otherwise operations name them.
    Unr(Ranks &ranks, std::uint64_t events, bool bound) : test(ranks) {
        good(test, unr_mem_reg(out.data(), kBytes, &out_mem));
        good(test, unr_mem_reg(in.data(), kBytes, &in_mem));
        good(test, unr_mem_reg_sync());
        good(test, unr_sig_create(&sent, events));
        good(test, unr_sig_create(&arrived, events));
        good(test, unr_blk_reg(out_mem, 0, kBytes, bound ? sent : UNR_NO_SIGNAL, UNR_NO_SIGNAL,
                               &out_blk));
        good(test, unr_blk_reg(in_mem, 0, kBytes, UNR_NO_SIGNAL, bound ? arrived : UNR_NO_SIGNAL,
                               &in_blk));
        all_out = test.tell_all(out_blk);
        all_in = test.tell_all(in_blk);
        all_sent = test.tell_all(sent);
        all_arrived = test.tell_all(arrived);
    }
    void end() {
        test.barrier();
        test.ok(sennit_signal_destroy(sent));
        test.ok(sennit_signal_destroy(arrived));
        test.ok(sennit_deregister(out_mem));
        test.ok(sennit_deregister(in_mem));
    }
    std::size_t next() const { return static_cast<std::size_t>(test.next()); }
    // The two ends of an operation with the next rank.
    const unr_blk_h &local(bool put) const { return put ? out_blk : in_blk; }
    const unr_blk_h &remote(bool put) const { return put ? all_in[next()] : all_out[next()]; }
    unr_sig_h local_signal(bool put) const { return put ? sent : arrived; }
    unr_sig_h remote_signal(bool put) const { return put ? all_arrived[next()] : all_sent[next()]; }

    // Runs `start` on all ranks, and checks the data and the counts.
    template <class Start>
    void moves(bool put, Start start) {
        ++round;
        fill(out.data(), kBytes, 64 * round + static_cast<std::uint64_t>(test.rank));
        in.assign(kBytes, 0);
        test.barrier();
        start();
        good(test, unr_sig_wait(arrived));
        good(test, unr_sig_wait(sent));
        test.equal(static_cast<int>(unr_sig_check(sent)), static_cast<int>(URU_SIGNAL_TRIGGERED));
        const int from = put ? test.previous() : test.next();
        check_pattern(test, in.data(), kBytes, 64 * round + static_cast<std::uint64_t>(from));
        good(test, unr_sig_reset(arrived));
        good(test, unr_sig_reset(sent));
        test.equal(static_cast<int>(unr_sig_check(arrived)), static_cast<int>(URU_SIGNAL_WAITING));
    }
    // The same with a plan, for several runs.
    template <class Make>
    void moves_by_plan(bool put, Make make) {
        unr_plan_h plan = nullptr;
        make(&plan);
        for (int i = 0; i < 3; ++i)
            moves(put, [&] { good(test, unr_plan_start(plan)); });
        good(test, unr_plan_destroy(plan));
    }
};

// Memory in three parts.
struct Thirds {
    std::size_t offsets[kParts] = {0, 4, 8000};
    std::size_t sizes[kParts] = {4, 7996, kBytes - 8000};
};

template <class T>
std::vector<T> thrice(const T &one) {
    return std::vector<T>(kParts, one);
}

}  // namespace

// Broken by an operation in the wrong direction, or an event at the wrong end or in another signal.
// Each call runs once with the blocks' signals and once with named signals.
RANK_TEST(unr, single_operations_move_data_and_count_at_both_ends, kAnything) {
    for (const bool bound : {true, false}) {
        Unr it(test, 1, bound);
        for (const bool put : {true, false}) {
            const uru_transfer_t type = put ? URU_TRANSFER_TYPE_DMA_PUT : URU_TRANSFER_TYPE_DMA_GET;
            const unr_blk_h local = it.local(put);
            const unr_blk_h remote = it.remote(put);
            const unr_sig_h here = bound ? UNR_NO_SIGNAL : it.local_signal(put);
            const unr_sig_h there = bound ? UNR_NO_SIGNAL : it.remote_signal(put);
            it.moves(put,
                     [&] { good(test, unr_blk_rdma_start(local, here, remote, there, type)); });
            it.moves(put, [&] {
                good(test, unr_blk_part_rdma_start(local, here, 0, kBytes, remote, there, 0, type));
            });
            it.moves_by_plan(put, [&](unr_plan_h *plan) {
                good(test, unr_blk_rdma_plan(local, here, remote, there, type, plan));
            });
            it.moves_by_plan(put, [&](unr_plan_h *plan) {
                good(test,
                     unr_blk_part_rdma_plan(local, here, 0, kBytes, remote, there, 0, type, plan));
            });
        }
        it.end();
    }
}

// A rank in a mesh has dozens of blocks. Broken by too few slots, so that most operations attach
// again.
RANK_TEST(unr, single_operations_attach_each_of_many_blocks_once, kAnything) {
    constexpr std::size_t kBlocks = 40;
    Unr unr(test, kBlocks, false);
    std::vector<std::vector<unr_blk_h>> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        unr_blk_h mine = SENNIT_BLOCK_NULL;
        good(test, unr_blk_reg(unr.in_mem, 8 * i, 8, UNR_NO_SIGNAL, unr.arrived, &mine));
        blocks.push_back(test.tell_all(mine));
    }
    unr_blk_h word = SENNIT_BLOCK_NULL;
    good(test, unr_blk_reg(unr.out_mem, 0, 8, UNR_NO_SIGNAL, UNR_NO_SIGNAL, &word));
    for (const auto &block : blocks)
        good(test, unr_blk_rdma_start(word, UNR_NO_SIGNAL, block[unr.next()], UNR_NO_SIGNAL,
                                      URU_TRANSFER_TYPE_DMA_PUT));
    std::size_t kept = 0;
    for (const auto &block : blocks)
        if (sennit_unr_is_same(&sennit_unr_place(&block[unr.next()])->block, &block[unr.next()]))
            ++kept;
    // A hash gives the slots.
    test.require(kept + 2 >= kBlocks, "each block keeps its place");
    good(test, unr_sig_wait(unr.arrived));
    unr.end();
}

// Broken by mixed-up parts of a batch, or events that are not counted one by one.
RANK_TEST(unr, batches_move_all_parts_and_count_each, kAnything) {
    const Thirds part;
    for (const bool bound : {true, false}) {
        Unr it(test, kParts, bound);
        // Blocks for the three parts.
        unr_blk_h outs[kParts];
        unr_blk_h ins[kParts];
        std::vector<std::vector<unr_blk_h>> all_outs(kParts);
        std::vector<std::vector<unr_blk_h>> all_ins(kParts);
        for (std::size_t i = 0; i < kParts; ++i) {
            good(test, unr_blk_reg(it.out_mem, part.offsets[i], part.sizes[i],
                                   bound ? it.sent : UNR_NO_SIGNAL, UNR_NO_SIGNAL, &outs[i]));
            good(test, unr_blk_reg(it.in_mem, part.offsets[i], part.sizes[i], UNR_NO_SIGNAL,
                                   bound ? it.arrived : UNR_NO_SIGNAL, &ins[i]));
            all_outs[i] = test.tell_all(outs[i]);
            all_ins[i] = test.tell_all(ins[i]);
        }
        for (const bool put : {true, false}) {
            const uru_transfer_t *all =
                put ? URU_TRANSFER_TYPE_DMA_PUT_ALL : URU_TRANSFER_TYPE_DMA_GET_ALL;
            const auto types = thrice(put ? URU_TRANSFER_TYPE_DMA_PUT : URU_TRANSFER_TYPE_DMA_GET);
            const auto here = thrice(it.local_signal(put));
            const auto there = thrice(it.remote_signal(put));
            const unr_sig_h *heres = bound ? nullptr : here.data();
            const unr_sig_h *theres = bound ? nullptr : there.data();
            const auto locals = thrice(it.local(put));
            const auto remotes = thrice(it.remote(put));
            unr_blk_h local_parts[kParts];
            unr_blk_h remote_parts[kParts];
            for (std::size_t i = 0; i < kParts; ++i) {
                local_parts[i] = put ? outs[i] : ins[i];
                remote_parts[i] = put ? all_ins[i][it.next()] : all_outs[i][it.next()];
            }
            it.moves(put, [&] {
                good(test, unr_blk_rdma_batch_start(kParts, local_parts, heres, remote_parts,
                                                    theres, all));
            });
            it.moves_by_plan(put, [&](unr_plan_h *plan) {
                good(test, unr_blk_rdma_batch_plan(kParts, local_parts, heres, remote_parts, theres,
                                                   types.data(), plan));
            });
            it.moves(put, [&] {
                good(test, unr_blk_part_rdma_batch_start(kParts, locals.data(), heres, part.offsets,
                                                         part.sizes, remotes.data(), theres,
                                                         part.offsets, types.data()));
            });
            it.moves_by_plan(put, [&](unr_plan_h *plan) {
                good(test, unr_blk_part_rdma_batch_plan(kParts, locals.data(), heres, part.offsets,
                                                        part.sizes, remotes.data(), theres,
                                                        part.offsets, all, plan));
            });
        }
        it.end();
    }
}

// Broken by an old name with another order of arguments.
RANK_TEST(unr, puts_have_their_older_names_too, kAnything) {
    const unr_sig_h none = UNR_NO_SIGNAL;
    Unr it(test, 1, true);
    const unr_blk_h local = it.out_blk;
    const unr_blk_h remote = it.all_in[it.next()];
    it.moves(true, [&] { good(test, unr_blk_send_start(local, none, remote, none)); });
    it.moves(true,
             [&] { good(test, unr_blk_part_send_start(local, none, 0, kBytes, remote, none, 0)); });
    it.moves_by_plan(true, [&](unr_plan_h *plan) {
        good(test, unr_blk_send_plan(local, none, remote, none, plan));
    });
    it.moves_by_plan(true, [&](unr_plan_h *plan) {
        good(test, unr_blk_part_send_plan(local, none, 0, kBytes, remote, none, 0, plan));
    });
    it.moves(true, [&] { good(test, unr_blk_send_batch_start(1, &local, NULL, &remote, NULL)); });
    it.moves_by_plan(true, [&](unr_plan_h *plan) {
        good(test, unr_blk_send_batch_plan(1, &local, NULL, &remote, NULL, plan));
    });
    it.end();

    const Thirds part;
    Unr three(test, kParts, true);
    const auto locals = thrice(three.out_blk);
    const auto remotes = thrice(three.all_in[three.next()]);
    three.moves(true, [&] {
        good(test, unr_blk_part_send_batch_start(kParts, locals.data(), NULL, part.offsets,
                                                 part.sizes, remotes.data(), NULL, part.offsets));
    });
    three.moves_by_plan(true, [&](unr_plan_h *plan) {
        good(test,
             unr_blk_part_send_batch_plan(kParts, locals.data(), NULL, part.offsets, part.sizes,
                                          remotes.data(), NULL, part.offsets, plan));
    });
    three.end();
}

// Broken by a name of the paper that moves data in the wrong direction or only a part of a block,
// or counts only at one end.
RANK_TEST(unr, put_and_get_of_the_paper_move_whole_blocks_and_count_at_both_ends, kAnything) {
    Unr it(test, 1, false);
    const unr_blk_h from = UNR_Blk_Init(it.out_mem, 0, kBytes, it.sent);
    const unr_blk_h to = UNR_Blk_Init(it.in_mem, 0, kBytes, it.arrived);
    const auto all_from = test.tell_all(from);
    const auto all_to = test.tell_all(to);
    for (int turn = 0; turn < 3; ++turn) {
        it.moves(true, [&] { good(test, UNR_Put(from, all_to[it.next()])); });
        it.moves(false, [&] { good(test, UNR_Get(to, all_from[it.next()])); });
    }
    it.end();
}

// Code 2 of the paper, line by line, with a barrier as the pre-synchronization. Broken by a name or
// an order of arguments that differs from the paper.
RANK_TEST(unr, the_program_of_the_paper_runs_as_it_is_written, kTwoRanks) {
    const int sender = 0;
    const int receiver = test.size - 1;
    const std::size_t size = 5000;
    std::vector<std::uint8_t> send_buf(kBytes);
    std::vector<std::uint8_t> recv_buf(kBytes);
    unr_mem_h mr = SENNIT_REGION_NULL;
    unr_sig_h send_sig = UNR_NO_SIGNAL;
    unr_sig_h recv_sig = UNR_NO_SIGNAL;
    unr_blk_h send_blk = SENNIT_BLOCK_NULL;
    unr_blk_h recv_blk = SENNIT_BLOCK_NULL;
    if (test.rank == sender) {
        mr = UNR_Mem_Reg(send_buf.data(), kBytes);
        send_sig = UNR_Sig_Init(1);
        send_blk = UNR_Blk_Init(mr, 100, size, send_sig);
    } else if (test.rank == receiver) {
        mr = UNR_Mem_Reg(recv_buf.data(), kBytes);
        recv_sig = UNR_Sig_Init(1);
        recv_blk = UNR_Blk_Init(mr, 300, size, recv_sig);
    }
    const unr_blk_h rmt_blk = test.tell_all(recv_blk)[static_cast<std::size_t>(receiver)];
    for (std::uint64_t iter = 0; iter < 20; ++iter) {
        if (test.rank == sender) fill(send_buf.data() + 100, size, iter);
        test.barrier();
        if (test.rank == sender) {
            good(test, UNR_Put(send_blk, rmt_blk));
            good(test, UNR_Sig_Wait(send_sig));
            good(test, UNR_Sig_Reset(send_sig));
        } else if (test.rank == receiver) {
            good(test, UNR_Sig_Wait(recv_sig));
            check_pattern(test, recv_buf.data() + 300, size, iter);
            good(test, UNR_Sig_Reset(recv_sig));
        }
    }
    // Plans of gets as well, whose events the receiver's signal also counts.
    test.barrier();
    if (test.rank == sender) {
        unr_sig_h both = UNR_Sig_Init(2);
        const unr_blk_h mine = UNR_Blk_Init(mr, 6000, size, both);
        const unr_blk_h locals[2] = {mine, mine};
        const unr_blk_h remotes[2] = {rmt_blk, rmt_blk};
        const uru_transfer_t types[2] = {URU_TRANSFER_TYPE_DMA_GET, URU_TRANSFER_TYPE_DMA_GET};
        unr_plan_h once = UNR_RMA_Plan(1, locals, remotes, types);
        test.require(once != nullptr, "there is a plan");
        good(test, UNR_Plan_Start(once));
        good(test, unr_plan_destroy(once));
        check_pattern(test, send_buf.data() + 6000, size, 19);
        test.equal(left_of(test, both), 1u);
        unr_plan_h twice = UNR_RMA_Plan(2, locals, remotes, types);
        test.require(twice == nullptr, "the signal of the receiver expects one event");
        test.ok(sennit_signal_destroy(both));
    }
    test.barrier();
    if (test.rank == receiver) {
        good(test, UNR_Sig_Wait(recv_sig));
        good(test, UNR_Sig_Reset(recv_sig));
    }
    for (const unr_sig_h signal : {send_sig, recv_sig})
        if (signal.handle != 0) test.ok(sennit_signal_destroy(signal));
    if (mr.bytes != 0) test.ok(sennit_deregister(mr));
    good(test, UNR_Mem_Reg_Sync());
}

// Broken by an event before the reset that is not reported, or one that stays in the count.
RANK_TEST(unr, an_event_before_the_reset_is_reported_by_it, kAnything) {
    Unr it(test, 1, true);
    const unr_blk_h remote = it.all_in[it.next()];
    bad(test, unr_sig_reset(it.arrived));  // no event has arrived
    for (const bool by_plan : {false, true}) {
        test.barrier();
        unr_plan_h plan = nullptr;
        good(test, unr_blk_rdma_plan(it.out_blk, UNR_NO_SIGNAL, remote, UNR_NO_SIGNAL,
                                     URU_TRANSFER_TYPE_DMA_PUT, &plan));
        for (int i = 0; i < 2; ++i) {
            const uru_status_t status =
                by_plan ? unr_plan_start(plan)
                        : unr_blk_rdma_start(it.out_blk, UNR_NO_SIGNAL, remote, UNR_NO_SIGNAL,
                                             URU_TRANSFER_TYPE_DMA_PUT);
            // On paths with messages, the flush may report it instead.
            const bool is_told = status == URU_EVENT_OVERFLOW ||
                                 sennit_flush(test.next(), SENNIT_FOREVER) != SENNIT_OK;
            test.require(is_told == (i == 1), "the second event is one too many");
            if (i == 0) {
                good(test, unr_sig_wait(it.sent));
                good(test, unr_sig_reset(it.sent));
            }
        }
        test.barrier();
        bad(test, unr_sig_reset(it.arrived), URU_EVENT_OVERFLOW);
        good(test, unr_sig_wait(it.arrived));
        good(test, unr_sig_reset(it.arrived));
        test.equal(static_cast<int>(unr_sig_check(it.arrived)),
                   static_cast<int>(URU_SIGNAL_WAITING));
        if (unr_sig_check(it.sent) == URU_SIGNAL_TRIGGERED) good(test, unr_sig_reset(it.sent));
        good(test, unr_plan_destroy(plan));
    }
    it.end();
}

// Broken by a pool that reports a signal twice, reports another one, or does not reset it.
RANK_TEST(unr, a_pool_reports_the_fired_signal_and_resets_it, kAnything) {
    Unr it(test, 1, false);
    unr_sig_h signals[kParts];
    std::vector<std::vector<unr_sig_h>> all(kParts);
    for (std::size_t i = 0; i < kParts; ++i) {
        good(test, unr_sig_create(&signals[i], 1));
        all[i] = test.tell_all(signals[i]);
    }
    unr_sig_pool_h pool = nullptr;
    good(test, unr_sig_pool_create(&pool, kParts, signals));
    unr_sig_pool_h second = nullptr;
    bad(test, unr_sig_pool_create(&second, 1, signals));
    test.require(second == nullptr, "a signal is in one pool");
    std::int32_t found = 5;
    good(test, unr_sig_pool_detect(pool, &found));
    test.equal(found, -1);
    test.barrier();
    for (const std::size_t which : {1u, 0u, 2u, 1u}) {
        good(test, unr_blk_rdma_start(it.out_blk, UNR_NO_SIGNAL, it.all_in[it.next()],
                                      all[which][it.next()], URU_TRANSFER_TYPE_DMA_PUT));
        do
            good(test, unr_sig_pool_detect(pool, &found));
        while (found < 0);
        test.equal(found, static_cast<std::int32_t>(which));
        test.equal(static_cast<int>(unr_sig_check(signals[which])),
                   static_cast<int>(URU_SIGNAL_WAITING));
        test.barrier();
    }
    good(test, unr_sig_pool_detect(pool, &found));
    test.equal(found, -1);
    test.ok(sennit_waitset_destroy(pool->set));
    std::free(pool);
    for (const unr_sig_h signal : signals)
        test.ok(sennit_signal_destroy(signal));
    it.end();
}

// Broken by a bad argument that moves data, or by an attached block that outlives its region.
RANK_TEST(unr, wrong_arguments_are_errors_and_nothing_moves, kAnything) {
    Unr it(test, 1, true);
    const unr_sig_h none = UNR_NO_SIGNAL;
    const uru_transfer_t put = URU_TRANSFER_TYPE_DMA_PUT;
    const unr_blk_h remote = it.all_in[it.next()];
    unr_mem_h mem = SENNIT_REGION_NULL;
    unr_sig_h signal = none;
    unr_blk_h blk = SENNIT_BLOCK_NULL;
    bad(test, unr_mem_reg(nullptr, 8, &mem));
    bad(test, unr_sig_create(&signal, 0));
    bad(test, unr_sig_create(&signal, 1ull << 31));
    bad(test, unr_sig_wait(none));
    bad(test, unr_sig_check(none));
    bad(test, unr_sig_reset(none));
    bad(test, unr_blk_reg(it.out_mem, 1, kBytes, none, none, &blk));
    bad(test, unr_blk_reg(SENNIT_REGION_NULL, 0, 0, none, none, &blk));
    test.equal(sennit_block_is_null(&blk), 1);
    bad(test, unr_blk_rdma_start(blk, none, remote, none, put));
    bad(test, unr_blk_rdma_start(it.out_blk, none, blk, none, put));
    good(test, unr_blk_reg(it.out_mem, 0, 8, none, none, &blk));
    bad(test, unr_blk_rdma_start(blk, none, remote, none, put));  // with two sizes
    bad(test, unr_blk_part_rdma_start(blk, none, 4, 8, remote, none, 0, put));
    bad(test, unr_blk_part_rdma_start(blk, none, 0, 8, remote, none, kBytes - 7, put));
    unr_plan_h plan = nullptr;
    bad(test, unr_blk_part_rdma_plan(blk, none, 0, 8, remote, none, kBytes - 7, put, &plan));
    if (test.size > 1)
        bad(test, unr_blk_rdma_start(it.all_out[it.next()], none, remote, none, put));
    test.require(plan == nullptr, "there is no plan");
    // 0 bytes are no operation, as in UNR.
    good(test, unr_blk_part_rdma_start(blk, none, 0, 0, remote, none, 0, put));
    test.barrier();
    test.equal(static_cast<int>(unr_sig_check(it.arrived)), static_cast<int>(URU_SIGNAL_WAITING));
    test.equal(static_cast<int>(unr_sig_check(it.sent)), static_cast<int>(URU_SIGNAL_WAITING));

    // More blocks than a thread keeps attached, then one whose region has ended.
    std::vector<unr_blk_h> theirs;
    unr_mem_h own_mem = SENNIT_REGION_NULL;
    good(test, unr_mem_reg(it.in.data(), kBytes, &own_mem));
    for (std::size_t i = 0; i < 40; ++i) {
        unr_blk_h own = SENNIT_BLOCK_NULL;
        good(test, unr_blk_reg(own_mem, 8 * i, 8, none, none, &own));
        theirs.push_back(test.tell_all(own)[it.next()]);
    }
    fill(it.out.data(), 8, static_cast<std::uint64_t>(test.rank));
    for (int turn = 0; turn < 2; ++turn)
        for (const unr_blk_h &one : theirs)
            good(test, unr_blk_rdma_start(blk, none, one, none, put));
    test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    test.barrier();
    for (std::size_t i = 0; i < 40; ++i)
        check_pattern(test, it.in.data() + 8 * i, 8, static_cast<std::uint64_t>(test.previous()));
    test.barrier();
    test.ok(sennit_deregister(own_mem));
    test.barrier();
    for (int turn = 0; turn < 2; ++turn)
        bad(test, unr_blk_rdma_start(blk, none, theirs[39], none, put));
    it.end();
}
