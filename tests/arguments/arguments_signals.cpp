// Bad arguments for signals, wait sets, blocks and notified calls from the rank to itself.
#include <climits>

#include "arguments_table.hpp"

namespace arguments {
namespace {

constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;
constexpr sennit_status kArg = SENNIT_ERR_ARG;

constexpr sennit_signal kNoSignals[] = {{0, 0}, {0, 1}, {0, UINT32_MAX}, {1, 1}, {-1, 1}};

// A region of the rank's segment, or an invalid one.
sennit_region region_of(std::uint64_t bytes, std::uint64_t offset = 0) {
    return sennit_region{at_offset(offset), bytes};
}
sennit_status init_with(Fixture &fixture, sennit_region region, std::size_t offset,
                        std::size_t bytes) {
    return sennit_block_init(region, offset, bytes, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL,
                             &fixture.block);
}

constexpr sennit_box kLine{8, {2, 1, 1}, {16, 0, 0}, {8, 0, 0}};
constexpr sennit_piece kPiece{0, 0, 8};
constexpr sennit_piece_list kList{1, &kPiece};
constexpr sennit_piece_list kNoList{1, nullptr};

// A batch with one part, which must not be carried out.
sennit_status batch_with(decltype(sennit_put_notify_batch) *call, Fixture &fixture,
                         sennit_peer_block block) {
    sennit_notify_part part{block, SENNIT_OK, 0, fixture.buffer, 8, nullptr};
    std::size_t done = 77;
    const sennit_status status = call(1, &part, &done);
    if (status == SENNIT_ERR_STATE) return done == 77 ? status : SENNIT_ERR_INTERNAL;
    return done == 0 && part.status == status ? status : SENNIT_ERR_INTERNAL;
}

}  // namespace

const std::vector<Row> wrong_signals =
    {
        {"sennit_signal_create", "null", kRunning, kArg,
         [](Fixture &) { return sennit_signal_create(1, 1, 0, nullptr); }},
        {"sennit_signal_create", "no events", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_create(0, 1, 0, &it.signal); }},
        {"sennit_signal_create", "more events than the maximum", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_create(2, 1, 0, &it.signal); }},
        {"sennit_signal_create", "a maximum of 0", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_create(UINT32_MAX, 0, 0, &it.signal); }},
        {"sennit_signal_create", "unknown flags", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_create(1, 1, 4, &it.signal); }},
        {"sennit_signal_destroy", "no signal", kRunning, kArg,
         [](Fixture &) { return sennit_signal_destroy(SENNIT_SIGNAL_NULL); }},
        {"sennit_signal_destroy", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_destroy(it.signal); }},
        {"sennit_signal_test", "never created", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_test(kNoSignals[1], &it.flag); }},
        {"sennit_signal_test", "all bits", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_test(kNoSignals[2], &it.flag); }},
        {"sennit_signal_test", "a signal of another rank", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_test(kNoSignals[3], &it.flag); }},
        {"sennit_signal_wait", "no signal", kRunning, kArg,
         [](Fixture &) { return sennit_signal_wait(kNoSignals[0], SENNIT_FOREVER); }},
        {"sennit_signal_wait", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_wait(it.signal, 0); }},
        {"sennit_signal_reset", "no signal", kRunning, kArg,
         [](Fixture &) { return sennit_signal_reset(kNoSignals[4]); }},
        {"sennit_signal_remaining", "no signal", kRunning, kArg,
         [](Fixture &) { return sennit_signal_remaining(kNoSignals[0], nullptr); }},
        {"sennit_signal_epoch", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_epoch(it.signal, &it.word); }},
        {"sennit_signal_wait", "null", kRunning, kArg,
         [](Fixture &) { return sennit_signal_wait(SENNIT_SIGNAL_NULL, 0); }},
        {"sennit_signal_reset", "null", kRunning, kArg,
         [](Fixture &) { return sennit_signal_reset(SENNIT_SIGNAL_NULL); }},
        {"sennit_signal_notify", "null", kRunning, kArg,
         [](Fixture &) { return sennit_signal_notify(SENNIT_SIGNAL_NULL, 0); }},
        {"sennit_signal_notify", "garbage", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_signal_notify(it.signal, 0); }},
        {"sennit_signal_notify", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_signal_notify(kNoSignals[3], 0); }},
        {"sennit_signal_notify", "rank INT_MIN", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) {
             return sennit_signal_notify({INT_MIN, 1}, 0);
         }},
        {"sennit_signal_notify", "no signal", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return sennit_signal_notify(kNoSignals[0], 0); }},
        {"sennit_signal_notify", "never created", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return sennit_signal_notify(kNoSignals[1], 0); }},
        {"sennit_signal_notify", "all bits", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return sennit_signal_notify(kNoSignals[2], UINT64_MAX); }},

        {"sennit_waitset_create", "null", kRunning, kArg,
         [](Fixture &) { return sennit_waitset_create(nullptr); }},
        {"sennit_waitset_destroy", "no set", kRunning, kArg,
         [](Fixture &) { return sennit_waitset_destroy(SENNIT_WAITSET_NULL); }},
        {"sennit_waitset_destroy", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_destroy(it.signal_set); }},
        {"sennit_waitset_add", "no signal", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_add(it.signal_set, kNoSignals[0], 0); }},
        {"sennit_waitset_remove", "no signal", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_remove(it.signal_set, it.signal); }},
        {"sennit_waitset_wait_any", "null", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_wait_any(it.signal_set, 0, nullptr); }},
        {"sennit_waitset_wait_any", "a negative timeout", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_wait_any(it.signal_set, -1, &it.fired); }},
        {"sennit_waitset_wait_any", "no set", kRunning, kArg,
         [](Fixture &it) {
             return sennit_waitset_wait_any(SENNIT_WAITSET_NULL, SENNIT_FOREVER, &it.fired);
         }},
        {"sennit_waitset_wait_some", "null signals", kRunning, kArg,
         [](Fixture &it) {
             return sennit_waitset_wait_some(it.signal_set, 0, 1, nullptr, &it.size);
         }},
        {"sennit_waitset_wait_some", "a null count", kRunning, kArg,
         [](Fixture &it) {
             return sennit_waitset_wait_some(it.signal_set, 0, 1, &it.fired, nullptr);
         }},
        {"sennit_waitset_wait_some", "room for 0 signals", kRunning, kArg,
         [](Fixture &it) {
             return sennit_waitset_wait_some(it.signal_set, 0, 0, &it.fired, &it.size);
         }},
        {"sennit_waitset_wait_some", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_waitset_wait_some(it.signal_set, 0, 1, &it.fired, &it.size);
         }},
        {"sennit_waitset_wait_all", "a negative timeout", kRunning, kArg,
         [](Fixture &it) { return sennit_waitset_wait_all(it.signal_set, -1); }},
        {"sennit_waitset_wait_all", "no set", kRunning, kArg,
         [](Fixture &) { return sennit_waitset_wait_all({UINT32_MAX}, SENNIT_FOREVER); }},
        {"sennit_signal_wait_word", "null", kRunning, kArg,
         [](Fixture &) { return sennit_signal_wait_word(nullptr, SENNIT_EQUAL, 0, 0); }},
        {"sennit_signal_wait_word", "an address that is not aligned", kRunning, kArg,
         [](Fixture &it) {
             const auto *odd = reinterpret_cast<const std::uint64_t *>(
                 reinterpret_cast<std::uintptr_t>(&it.word) + 1);
             return sennit_signal_wait_word(odd, SENNIT_EQUAL, 0, 0);
         }},
        {"sennit_signal_wait_word", "no comparison", kRunning, kArg,
         [](Fixture &it) {
             return sennit_signal_wait_word(&it.word, SENNIT_COMPARISON_END, 0, SENNIT_FOREVER);
         }},
        {"sennit_signal_wait_word", "a negative comparison", kRunning, kArg,
         [](Fixture &it) {
             return sennit_signal_wait_word(&it.word, static_cast<sennit_comparison>(-1), 0, 0);
         }},
        {"sennit_signal_wait_word", "a negative timeout", kRunning, kArg,
         [](Fixture &it) { return sennit_signal_wait_word(&it.word, SENNIT_EQUAL, it.word, -1); }},
        {"sennit_wait_until", "null", kRunning, kArg,
         [](Fixture &it) { return sennit_wait_until(nullptr, &it.word, 0); }},
        {"sennit_wait_until", "a negative timeout", kRunning, kArg,
         [](Fixture &it) { return sennit_wait_until([](void *) { return 1; }, &it.word, -1); }},

        {"sennit_block_init", "null", kRunning, kArg,
         [](Fixture &) {
             return sennit_block_init(region_of(100), 0, 8, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL,
                                      nullptr);
         }},
        {"sennit_block_init", "garbage for a region", kRunning, kArg,
         [](Fixture &it) { return init_with(it, it.region, 0, 8); }},
        {"sennit_block_init", "no region", kRunning, kArg,
         [](Fixture &it) { return init_with(it, SENNIT_REGION_NULL, 0, 0); }},
        {"sennit_block_init", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) {
             return init_with(it, {memory.freed_local, 100}, 0, 8);
         }},
        {"sennit_block_init", "a region that leaves its segment", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return init_with(it, region_of(101), 0, 8); }},
        {"sennit_block_init", "a region behind its segment", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return init_with(it, region_of(1, 100), 0, 1); }},
        {"sennit_block_init", "a block that leaves its region", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return init_with(it, region_of(50), 43, 8); }},
        {"sennit_block_init", "a block that wraps", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return init_with(it, region_of(50), SIZE_MAX, 8); }},
        {"sennit_block_init", "SIZE_MAX bytes", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return init_with(it, region_of(50), 1, SIZE_MAX); }},
        {"sennit_block_init", "no such signal", kRunning, kArg,
         [](Fixture &it) {
             return sennit_block_init(region_of(50), 0, 8, kNoSignals[1], SENNIT_SIGNAL_NULL,
                                      &it.block);
         }},
        {"sennit_block_init", "a signal of another rank", kRunning, kArg,
         [](Fixture &it) {
             return sennit_block_init(region_of(50), 0, 8, SENNIT_SIGNAL_NULL, kNoSignals[3],
                                      &it.block);
         }},
        {"sennit_block_query", "null", kRunning, kArg,
         [](Fixture &it) { return sennit_block_query(nullptr, &it.block_info); }},
        {"sennit_block_query", "null info", kRunning, kArg,
         [](Fixture &it) { return sennit_block_query(&it.block, nullptr); }},
        {"sennit_block_query", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_block_query(&it.block, &it.block_info); }},
        {"sennit_block_attach", "null", kRunning, kArg,
         [](Fixture &it) { return sennit_block_attach(nullptr, &it.peer_block); }},
        {"sennit_block_attach", "a null handle", kRunning, kArg,
         [](Fixture &it) { return sennit_block_attach(&it.block, nullptr); }},
        {"sennit_block_attach", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_block_attach(&it.block, &it.peer_block); }},
        {"sennit_block_detach", "none", kRunning, kArg,
         [](Fixture &) { return sennit_block_detach(SENNIT_PEER_BLOCK_NULL); }},
        {"sennit_block_detach", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_block_detach(it.peer_block); }},

        {"sennit_put_notify", "no block", kRunning, kArg,
         [](Fixture &it) { return sennit_put_notify(SENNIT_PEER_BLOCK_NULL, 0, it.buffer, 8); }},
        {"sennit_put_notify", "all bits", kRunning, kArg,
         [](Fixture &it) { return sennit_put_notify({UINT32_MAX}, 0, it.buffer, 8); }},
        {"sennit_get_notify", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_get_notify(it.buffer, it.peer_block, 0, 8); }},
        {"sennit_put_notify_with", "null notice", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_with(it.peer_block, 0, it.buffer, 8, nullptr);
         }},
        {"sennit_put_notify_with", "garbage", kRunning, kArg,
         [](Fixture &it) {
             const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
             return sennit_put_notify_with(it.peer_block, 0, it.buffer, 8, &notice);
         }},
        {"sennit_get_notify_with", "null notice", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_with(it.buffer, it.peer_block, 0, 8, nullptr);
         }},
        {"sennit_put_notify_nb", "no block", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_nb(SENNIT_PEER_BLOCK_NULL, 0, it.buffer, 8, nullptr, nullptr);
         }},
        {"sennit_put_notify_nb", "garbage", kRunning, kArg,
         [](Fixture &it) {
             const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
             return sennit_put_notify_nb(it.peer_block, SIZE_MAX, nullptr, 8, &notice, nullptr);
         }},
        {"sennit_get_notify_nb", "no block", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_nb(it.buffer, {UINT32_MAX}, 0, 8, nullptr, nullptr);
         }},
        {"sennit_get_notify_nb", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_nb(nullptr, it.peer_block, SIZE_MAX, 8, nullptr, nullptr);
         }},
        {"sennit_put_notify_strided", "null box", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_strided(it.peer_block, 0, it.buffer, nullptr, nullptr);
         }},
        {"sennit_put_notify_strided", "no block", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_strided(SENNIT_PEER_BLOCK_NULL, 0, it.buffer, &kLine,
                                              nullptr);
         }},
        {"sennit_get_notify_strided", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_strided(nullptr, it.peer_block, SIZE_MAX, &kLine, nullptr);
         }},
        {"sennit_put_notify_strided_nb", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_strided_nb(it.peer_block, 0, it.buffer, &kLine, nullptr,
                                                 nullptr);
         }},
        {"sennit_get_notify_strided_nb", "no block", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_strided_nb(it.buffer, {UINT32_MAX}, 0, nullptr, nullptr,
                                                 nullptr);
         }},
        {"sennit_put_notify_indexed", "null pieces", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_indexed(it.peer_block, 0, it.buffer, &kNoList, nullptr);
         }},
        {"sennit_get_notify_indexed", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_indexed(it.buffer, it.peer_block, 0, nullptr,
                                              nullptr);
         }},
        {"sennit_put_notify_indexed_nb", "no block", kRunning, kArg,
         [](Fixture &it) {
             return sennit_put_notify_indexed_nb(SENNIT_PEER_BLOCK_NULL, 0, it.buffer, &kList,
                                                 nullptr, nullptr);
         }},
        {"sennit_get_notify_indexed_nb", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_get_notify_indexed_nb(it.buffer, it.peer_block, 0, &kList, nullptr,
                                                 nullptr);
         }},
        {"sennit_put_notify_batch", "null parts", kRunning, kArg,
         [](Fixture &it) { return sennit_put_notify_batch(1, nullptr, &it.size); }},
        {"sennit_put_notify_batch", "null done", kRunning, kArg,
         [](Fixture &) { return sennit_put_notify_batch(0, nullptr, nullptr); }},
        {"sennit_put_notify_batch", "no block", kRunning, kArg,
         [](Fixture
                &
                    it) { return batch_with(sennit_put_notify_batch, it, SENNIT_PEER_BLOCK_NULL); }},
        {"sennit_put_notify_batch", "garbage", kRunning, kArg,
         [](Fixture &it) { return batch_with(sennit_put_notify_batch, it, it.peer_block); }},
        {"sennit_get_notify_batch", "null parts", kRunning, kArg,
         [](Fixture &it) { return sennit_get_notify_batch(SIZE_MAX, nullptr, &it.size); }},
        {"sennit_get_notify_batch", "null done", kRunning, kArg,
         [](Fixture &) { return sennit_get_notify_batch(0, nullptr, nullptr); }},
        {"sennit_get_notify_batch", "garbage", kRunning, kArg,
         [](Fixture &it) { return batch_with(sennit_get_notify_batch, it, it.peer_block); }},

        {"sennit_plan_create", "null", kRunning, kArg,
         [](Fixture &) { return sennit_plan_create(nullptr); }},
        {"sennit_plan_put", "no plan", kRunning, kArg,
         [](Fixture
                &
                    it) { return sennit_plan_put(SENNIT_PLAN_NULL, it.peer_block, 0, it.buffer, 8); }},
        {"sennit_plan_put", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_plan_put(it.plan, it.peer_block, 0, it.buffer, 8); }},
        {"sennit_plan_get", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_plan_get(it.plan, it.buffer, it.peer_block, 0, 8); }},
        {"sennit_plan_put_with", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_put_with(it.plan, it.peer_block, 0, it.buffer, 8, nullptr);
         }},
        {"sennit_plan_get_with", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_get_with(it.plan, it.buffer, it.peer_block, 0, 8, nullptr);
         }},
        {"sennit_plan_put_strided", "no plan", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_put_strided(SENNIT_PLAN_NULL, it.peer_block, 0, it.buffer, &kLine,
                                            nullptr);
         }},
        {"sennit_plan_get_strided", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_get_strided(it.plan, it.buffer, it.peer_block, 0, nullptr, nullptr);
         }},
        {"sennit_plan_put_indexed", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_put_indexed(it.plan, it.peer_block, 0, it.buffer, nullptr,
                                            nullptr);
         }},
        {"sennit_plan_get_indexed", "all bits", kRunning, kArg,
         [](Fixture &it) {
             return sennit_plan_get_indexed({UINT32_MAX}, it.buffer, it.peer_block, 0, &kList,
                                            nullptr);
         }},
        {"sennit_plan_commit", "all bits", kRunning, kArg,
         [](Fixture &) { return sennit_plan_commit({UINT32_MAX}, 0, 1); }},
        {"sennit_plan_start", "no plan", kRunning, kArg,
         [](Fixture &) { return sennit_plan_start(SENNIT_PLAN_NULL); }},
        {"sennit_plan_start", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_plan_start(it.plan); }},
        {"sennit_plan_wait", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_plan_wait(it.plan, SENNIT_FOREVER); }},
        {"sennit_plan_destroy", "no plan", kRunning, kArg,
         [](Fixture &) { return sennit_plan_destroy(SENNIT_PLAN_NULL); }},

        {"sennit_queue_create", "null queue", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_create(8, 8, 1, nullptr, &it.queue_address); }},
        {"sennit_queue_create", "null address", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_create(8, 8, 1, &it.queue, nullptr); }},
        {"sennit_queue_create", "no bytes", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_create(0, 8, 1, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "SIZE_MAX bytes", kRunning, kArg,
         [](Fixture
                &
                    it) { return sennit_queue_create(SIZE_MAX, 8, 1, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "no places", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_create(8, 0, 1, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "SIZE_MAX places", kRunning, kArg,
         [](Fixture
                &
                    it) { return sennit_queue_create(8, SIZE_MAX, 1, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "no producers", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_create(8, 8, 0, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "UINT_MAX producers", kRunning, kArg,
         [](Fixture
                &
                    it) { return sennit_queue_create(8, 8, UINT_MAX, &it.queue, &it.queue_address); }},
        {"sennit_queue_create", "more bytes than memory has", kRunning, SENNIT_ERR_NOMEM,
         [](Fixture &it) {
             return sennit_queue_create(1u << 20, 1u << 30, 65536, &it.queue, &it.queue_address);
         }},
        {"sennit_queue_destroy", "no queue", kRunning, kArg,
         [](Fixture &) { return sennit_queue_destroy(SENNIT_QUEUE_NULL); }},
        {"sennit_queue_attach", "null", kRunning, kArg,
         [](Fixture &) { return sennit_queue_attach({memory.segment}, nullptr); }},
        {"sennit_queue_attach", "memory too small for a queue", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_queue_attach({memory.segment}, &it.producer); }},
        {"sennit_queue_attach", "a freed address", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) { return sennit_queue_attach({memory.freed_local}, &it.producer); }},
        {"sennit_queue_attach", "garbage", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_queue_attach(it.queue_address, &it.producer); }},
        {"sennit_queue_detach", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_detach(it.producer); }},
        {"sennit_queue_push", "no producer", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_push(SENNIT_PRODUCER_NULL, it.buffer, 0); }},
        {"sennit_queue_push", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_push(it.producer, nullptr, -1); }},
        {"sennit_queue_pop", "all bits", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_pop({UINT32_MAX}, it.buffer, 0); }},
        {"sennit_queue_pop", "garbage", kRunning, kArg,
         [](Fixture &it) { return sennit_queue_pop(it.queue, it.buffer, SENNIT_FOREVER); }},
        {"sennit_queue_push_many", "no producer", kRunning, kArg,
         [](Fixture &it) {
             return sennit_queue_push_many(SENNIT_PRODUCER_NULL, it.buffer, 1, 0, &it.size);
         }},
        {"sennit_queue_push_many", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_queue_push_many(it.producer, nullptr, SIZE_MAX, -1, nullptr);
         }},
        {"sennit_queue_pop_many", "all bits", kRunning, kArg,
         [](Fixture &it) {
             return sennit_queue_pop_many({UINT32_MAX}, it.buffer, 1, 0, &it.size);
         }},
        {"sennit_queue_pop_many", "garbage", kRunning, kArg,
         [](Fixture &it) {
             return sennit_queue_pop_many(it.queue, it.buffer, 1, SENNIT_FOREVER, nullptr);
         }},
};

const std::vector<Row> signals_that_need_a_rank = {
    {"sennit_signal_create", "", kAny, kState,
     [](Fixture &it) { return sennit_signal_create(1, 1, 0, &it.signal); }},
    {"sennit_signal_destroy", "", kAny, kState,
     [](Fixture &it) { return sennit_signal_destroy(it.signal); }},
    {"sennit_signal_test", "null", kAny, kState,
     [](Fixture &it) { return sennit_signal_test(it.signal, nullptr); }},
    {"sennit_signal_wait", "a negative timeout", kAny, kState,
     [](Fixture &it) { return sennit_signal_wait(it.signal, -1); }},
    {"sennit_signal_reset", "", kAny, kState,
     [](Fixture &it) { return sennit_signal_reset(it.signal); }},
    {"sennit_signal_remaining", "null", kAny, kState,
     [](Fixture &it) { return sennit_signal_remaining(it.signal, nullptr); }},
    {"sennit_signal_epoch", "", kAny, kState,
     [](Fixture &it) { return sennit_signal_epoch(it.signal, &it.word); }},
    {"sennit_signal_notify", "", kAny, kState,
     [](Fixture &) {
         return sennit_signal_notify({0, 1}, 0);
     }},
    {"sennit_waitset_create", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_create(&it.signal_set); }},
    {"sennit_waitset_destroy", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_destroy(it.signal_set); }},
    {"sennit_waitset_add", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_add(it.signal_set, it.signal, 0); }},
    {"sennit_waitset_remove", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_remove(it.signal_set, it.signal); }},
    {"sennit_waitset_wait_any", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_wait_any(it.signal_set, -1, nullptr); }},
    {"sennit_waitset_wait_some", "", kAny, kState,
     [](Fixture &it) {
         return sennit_waitset_wait_some(it.signal_set, SENNIT_FOREVER, 1, &it.fired, &it.size);
     }},
    {"sennit_waitset_wait_all", "", kAny, kState,
     [](Fixture &it) { return sennit_waitset_wait_all(it.signal_set, SENNIT_FOREVER); }},
    {"sennit_signal_wait_word", "", kAny, kState,
     [](Fixture &it) {
         return sennit_signal_wait_word(&it.word, SENNIT_EQUAL, 0, SENNIT_FOREVER);
     }},
    {"sennit_wait_until", "", kAny, kState,
     [](Fixture &it) {
         return sennit_wait_until([](void *) { return 1; }, &it.word, SENNIT_FOREVER);
     }},
    {"sennit_block_init", "", kAny, kState,
     [](Fixture &it) { return init_with(it, it.region, 0, 8); }},
    {"sennit_block_query", "", kAny, kState,
     [](Fixture &it) { return sennit_block_query(&it.block, &it.block_info); }},
    {"sennit_block_attach", "", kAny, kState,
     [](Fixture &it) { return sennit_block_attach(&it.block, &it.peer_block); }},
    {"sennit_block_detach", "", kAny, kState,
     [](Fixture &it) { return sennit_block_detach(it.peer_block); }},
    {"sennit_put_notify", "", kAny, kState,
     [](Fixture &it) { return sennit_put_notify(it.peer_block, 0, it.buffer, 8); }},
    {"sennit_get_notify", "null", kAny, kState,
     [](Fixture &it) { return sennit_get_notify(nullptr, it.peer_block, 0, 8); }},
    {"sennit_put_notify_with", "null notice", kAny, kState,
     [](Fixture &it) { return sennit_put_notify_with(it.peer_block, 0, it.buffer, 8, nullptr); }},
    {"sennit_get_notify_with", "", kAny, kState,
     [](Fixture &it) {
         const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
         return sennit_get_notify_with(it.buffer, it.peer_block, 0, 8, &notice);
     }},
    {"sennit_put_notify_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_notify_nb(it.peer_block, 0, it.buffer, 8, nullptr, nullptr);
     }},
    {"sennit_get_notify_nb", "null", kAny, kState,
     [](Fixture &it) {
         return sennit_get_notify_nb(nullptr, it.peer_block, 0, 8, nullptr, nullptr);
     }},
    {"sennit_put_notify_strided", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_notify_strided(it.peer_block, 0, it.buffer, &kLine, nullptr);
     }},
    {"sennit_get_notify_strided", "null box", kAny, kState,
     [](Fixture &it) {
         return sennit_get_notify_strided(it.buffer, it.peer_block, 0, nullptr, nullptr);
     }},
    {"sennit_put_notify_strided_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_notify_strided_nb(it.peer_block, 0, it.buffer, &kLine, nullptr, nullptr);
     }},
    {"sennit_get_notify_strided_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_notify_strided_nb(it.buffer, it.peer_block, 0, &kLine, nullptr, nullptr);
     }},
    {"sennit_put_notify_indexed", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_notify_indexed(it.peer_block, 0, it.buffer, &kList, nullptr);
     }},
    {"sennit_get_notify_indexed", "null pieces", kAny, kState,
     [](Fixture &it) {
         return sennit_get_notify_indexed(it.buffer, it.peer_block, 0, nullptr, nullptr);
     }},
    {"sennit_put_notify_indexed_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_notify_indexed_nb(it.peer_block, 0, it.buffer, &kList, nullptr, nullptr);
     }},
    {"sennit_get_notify_indexed_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_notify_indexed_nb(it.buffer, it.peer_block, 0, &kList, nullptr, nullptr);
     }},
    {"sennit_put_notify_batch", "", kAny, kState,
     [](Fixture &it) { return batch_with(sennit_put_notify_batch, it, it.peer_block); }},
    {"sennit_get_notify_batch", "null", kAny, kState,
     [](Fixture &) { return sennit_get_notify_batch(1, nullptr, nullptr); }},
    {"sennit_plan_create", "", kAny, kState,
     [](Fixture &it) { return sennit_plan_create(&it.plan); }},
    {"sennit_plan_put", "", kAny, kState,
     [](Fixture &it) { return sennit_plan_put(it.plan, it.peer_block, 0, it.buffer, 8); }},
    {"sennit_plan_get", "null", kAny, kState,
     [](Fixture &it) { return sennit_plan_get(it.plan, nullptr, it.peer_block, 0, 8); }},
    {"sennit_plan_put_with", "", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_put_with(it.plan, it.peer_block, 0, it.buffer, 8, nullptr);
     }},
    {"sennit_plan_get_with", "", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_get_with(it.plan, it.buffer, it.peer_block, 0, 8, nullptr);
     }},
    {"sennit_plan_put_strided", "", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_put_strided(it.plan, it.peer_block, 0, it.buffer, &kLine, nullptr);
     }},
    {"sennit_plan_get_strided", "null box", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_get_strided(it.plan, it.buffer, it.peer_block, 0, nullptr, nullptr);
     }},
    {"sennit_plan_put_indexed", "", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_put_indexed(it.plan, it.peer_block, 0, it.buffer, &kList, nullptr);
     }},
    {"sennit_plan_get_indexed", "", kAny, kState,
     [](Fixture &it) {
         return sennit_plan_get_indexed(it.plan, it.buffer, it.peer_block, 0, &kList, nullptr);
     }},
    {"sennit_plan_commit", "", kAny, kState,
     [](Fixture &it) { return sennit_plan_commit(it.plan, 0, 1); }},
    {"sennit_plan_start", "", kAny, kState, [](Fixture &it) { return sennit_plan_start(it.plan); }},
    {"sennit_plan_wait", "", kAny, kState,
     [](Fixture &it) { return sennit_plan_wait(it.plan, -1); }},
    {"sennit_plan_destroy", "", kAny, kState,
     [](Fixture &it) { return sennit_plan_destroy(it.plan); }},
    {"sennit_queue_create", "", kAny, kState,
     [](Fixture &it) { return sennit_queue_create(8, 8, 1, &it.queue, &it.queue_address); }},
    {"sennit_queue_destroy", "", kAny, kState,
     [](Fixture &it) { return sennit_queue_destroy(it.queue); }},
    {"sennit_queue_attach", "null", kAny, kState,
     [](Fixture &it) { return sennit_queue_attach(it.queue_address, nullptr); }},
    {"sennit_queue_detach", "", kAny, kState,
     [](Fixture &it) { return sennit_queue_detach(it.producer); }},
    {"sennit_queue_push", "", kAny, kState,
     [](Fixture &it) { return sennit_queue_push(it.producer, it.buffer, 0); }},
    {"sennit_queue_pop", "null", kAny, kState,
     [](Fixture &it) { return sennit_queue_pop(it.queue, nullptr, SENNIT_FOREVER); }},
    {"sennit_queue_push_many", "", kAny, kState,
     [](Fixture &it) { return sennit_queue_push_many(it.producer, it.buffer, 1, 0, &it.size); }},
    {"sennit_queue_pop_many", "null", kAny, kState,
     [](Fixture &it) {
         return sennit_queue_pop_many(it.queue, nullptr, 1, SENNIT_FOREVER, nullptr);
     }},
};

}  // namespace arguments
