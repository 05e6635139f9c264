// Bad arguments for every public function, and the promised status for each.
#include "arguments_table.hpp"

#include <climits>

namespace arguments {
namespace {

// A pointer result as a status: null means the last error.
sennit_status status_of(const void *pointer) {
    return pointer != nullptr ? SENNIT_OK : sennit_last_error()->status;
}
sennit_status status_of(sennit_gptr place) {
    return sennit_gptr_is_null(place) ? sennit_last_error()->status : SENNIT_OK;
}

sennit_status init_with(void (*spoil)(sennit_options &, sennit_bootstrap &)) {
    static int (*const no_allgather)(void *, const void *, void *, std::size_t, std::int64_t) =
        [](void *, const void *, void *, std::size_t, std::int64_t) { return 1; };
    sennit_options options = SENNIT_OPTIONS_INIT;
    sennit_bootstrap bootstrap{};
    bootstrap.struct_bytes = sizeof bootstrap;
    bootstrap.name = "spoiled";
    bootstrap.size = 1;
    bootstrap.allgather = no_allgather;
    bootstrap.barrier = [](void *, std::int64_t) { return 1; };
    spoil(options, bootstrap);
    return sennit_init(&options);
}

using Options = sennit_options &;
using Bootstrap = sennit_bootstrap &;

constexpr When kBefore = When::before_init;
constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;

}  // namespace

Memory memory;

const std::vector<Row> wrong_arguments =
    {
        {"sennit_init", "options of another size", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) { return init_with([](Options o, Bootstrap) { o.struct_bytes = 8; }); }},
        {"sennit_init", "thread level -1", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap) {
                 o.thread_level = static_cast<sennit_thread_level>(-1);
             });
         }},
        {"sennit_init", "thread level 4", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap) {
                 o.thread_level = static_cast<sennit_thread_level>(4);
             });
         }},
        {"sennit_init", "a negative timeout", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) { return init_with([](Options o, Bootstrap) { o.timeout_ns = -1; }); }},
        {"sennit_init", "a path that does not exist", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap) { o.paths = "self,teleport"; });
         }},
        {"sennit_init", "a bootstrap of another size", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.struct_bytes = 1;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap without allgather", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.allgather = nullptr;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap without barrier", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.barrier = nullptr;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap of no ranks", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.size = 0;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap whose rank is its size", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.rank = 1;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap with rank -1", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) {
             return init_with([](Options o, Bootstrap b) {
                 b.rank = -1;
                 o.bootstrap = &b;
             });
         }},
        {"sennit_init", "a bootstrap that fails", kBefore, SENNIT_ERR_BOOTSTRAP,
         [](Fixture &) { return init_with([](Options o, Bootstrap b) { o.bootstrap = &b; }); }},

        {"sennit_thread_attach", "no rank of this process", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_thread_attach(1); }},
        {"sennit_thread_attach", "rank -2", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_thread_attach(-2); }},
        {"sennit_thread_attach", "before any rank exists", kBefore, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_thread_attach(0); }},

        {"sennit_locality", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_locality(0, nullptr); }},
        {"sennit_locality", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_locality(-1, &it.level); }},
        {"sennit_locality", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_locality(1, &it.level); }},
        {"sennit_locality", "rank INT_MAX", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_locality(INT_MAX, &it.level); }},
        {"sennit_locality", "rank INT_MIN", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_locality(INT_MIN, &it.level); }},

        {"sennit_bootstrap_inproc_create", "null", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_bootstrap_inproc_create(2, nullptr); }},
        {"sennit_bootstrap_inproc_create", "0 ranks", kBefore, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_bootstrap_inproc_create(0, it.bootstraps); }},
        {"sennit_bootstrap_inproc_create", "-1 ranks", kBefore, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_bootstrap_inproc_create(-1, it.bootstraps); }},
        {"sennit_bootstrap_inproc_create", "65 ranks", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_bootstrap_inproc_create(65, it.bootstraps); }},
        {"sennit_bootstrap_inproc_destroy", "null", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_bootstrap_inproc_destroy(2, nullptr); }},
        {"sennit_bootstrap_inproc_destroy", "0 ranks", kBefore, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_bootstrap_inproc_destroy(0, it.bootstraps); }},
        {"sennit_bootstrap_inproc_destroy", "bootstraps never created", kBefore, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_bootstrap_inproc_destroy(2, it.bootstraps); }},

        {"sennit_alloc", "a team that does not exist", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc(sennit_team{0}, 8, 0, 0, &it.gptr); }},
        {"sennit_alloc", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, nullptr); }},
        {"sennit_alloc", "alignment 3", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc(SENNIT_TEAM_WORLD, 8, 3, 0, &it.gptr); }},
        {"sennit_alloc", "alignment 2 GiB", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_alloc(SENNIT_TEAM_WORLD, 8, std::size_t{1} << 31, 0, &it.gptr);
         }},
        {"sennit_alloc", "alignment SIZE_MAX", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc(SENNIT_TEAM_WORLD, 8, SIZE_MAX, 0, &it.gptr); }},
        {"sennit_alloc", "an unknown flag", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 8, &it.gptr); }},
        {"sennit_alloc", "SIZE_MAX bytes", kRunning, SENNIT_ERR_NOMEM,
         [](Fixture &it) { return sennit_alloc(SENNIT_TEAM_WORLD, SIZE_MAX, 0, 0, &it.gptr); }},
        {"sennit_alloc", "more bytes than the machine has", kRunning, SENNIT_ERR_NOMEM,
         [](Fixture &it) {
             return sennit_alloc(SENNIT_TEAM_WORLD, std::size_t{1} << 45, 0, 0, &it.gptr);
         }},
        {"sennit_alloc_local", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_alloc_local(8, 0, 0, nullptr); }},
        {"sennit_alloc_local", "alignment 48", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc_local(8, 48, 0, &it.gptr); }},
        {"sennit_alloc_local", "all flags", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_alloc_local(8, 0, UINT_MAX, &it.gptr); }},
        {"sennit_alloc_local", "SIZE_MAX bytes", kRunning, SENNIT_ERR_NOMEM,
         [](Fixture &it) { return sennit_alloc_local(SIZE_MAX, 0, 0, &it.gptr); }},
        {"sennit_alloc_local", "SIZE_MAX bytes to reserve", kRunning, SENNIT_ERR_NOMEM,
         [](Fixture &it) {
             return sennit_alloc_local(SIZE_MAX, 0, SENNIT_ALLOC_RESERVE, &it.gptr);
         }},

        {"sennit_free", "the null pointer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_free(SENNIT_GPTR_NULL); }},
        {"sennit_free", "an offset", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_free(at_offset(1)); }},
        {"sennit_free", "an offset in a local segment", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_free(sennit_gptr_add(memory.local, 8)); }},
        {"sennit_free", "a freed segment", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return sennit_free(memory.freed); }},
        {"sennit_free", "a local segment that was freed", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return sennit_free(memory.freed_local); }},
        {"sennit_free", "the memory of a queue", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_free(memory.queue_address.gptr); }},

        {"sennit_ptr", "beyond the end", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return status_of(sennit_ptr(at_offset(101))); }},
        {"sennit_ptr", "offset UINT64_MAX", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return status_of(sennit_ptr(at_offset(UINT64_MAX))); }},
        {"sennit_ptr", "the null pointer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return status_of(sennit_ptr(SENNIT_GPTR_NULL)); }},
        {"sennit_ptr", "a freed segment", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) { return status_of(sennit_ptr(memory.freed)); }},
        {"sennit_gptr_of", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return status_of(sennit_gptr_of(nullptr, 0)); }},
        {"sennit_gptr_of", "private memory", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return status_of(sennit_gptr_of(&it.size, 0)); }},
        {"sennit_gptr_of", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return status_of(sennit_gptr_of(sennit_ptr(memory.segment), -1)); }},
        {"sennit_segment_bytes", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_segment_bytes(memory.segment, nullptr); }},
        {"sennit_segment_bytes", "a freed segment", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) { return sennit_segment_bytes(memory.freed_local, &it.size); }},
        {"sennit_segment_bytes", "the null pointer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_segment_bytes(SENNIT_GPTR_NULL, &it.size); }},

        {"sennit_put", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_put(memory.segment, nullptr, 1); }},
        {"sennit_get", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_get(nullptr, memory.segment, 1); }},
        {"sennit_put_nb", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_put_nb(memory.segment, nullptr, 1, &it.request); }},
        {"sennit_put_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_put_nb(memory.segment, it.buffer, 1, nullptr); }},
        {"sennit_get_nb", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_get_nb(nullptr, memory.segment, 1, &it.request); }},
        {"sennit_get_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_get_nb(it.buffer, memory.segment, 1, nullptr); }},
        {"sennit_put_local", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_put_local(memory.segment, nullptr, 1); }},
        {"sennit_put_nbi", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_put_nbi(memory.segment, nullptr, 1); }},
        {"sennit_get_nbi", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_get_nbi(nullptr, memory.segment, 1); }},

        {"sennit_wait", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_wait(nullptr, 0); }},
        {"sennit_wait", "garbage", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait(&it.request, SENNIT_FOREVER); }},
        {"sennit_test", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test(nullptr, &it.flag); }},
        {"sennit_test", "a null flag", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test(&it.request, nullptr); }},
        {"sennit_test", "garbage", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test(&it.request, &it.flag); }},
        {"sennit_wait_all", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_wait_all(1, nullptr, 0); }},
        {"sennit_wait_all", "garbage", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait_all(1, &it.request, SENNIT_FOREVER); }},
        {"sennit_test_all", "null requests", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test_all(1, nullptr, &it.flag); }},
        {"sennit_test_all", "a null flag", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test_all(1, &it.request, nullptr); }},
        {"sennit_test_all", "garbage", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_test_all(1, &it.request, &it.flag); }},
        {"sennit_wait_any", "null requests", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait_any(1, nullptr, 0, &it.size); }},
        {"sennit_wait_any", "a null index", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait_any(1, &it.request, 0, nullptr); }},
        {"sennit_wait_any", "garbage", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait_any(1, &it.request, SENNIT_FOREVER, &it.size); }},

        {"sennit_flush", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_flush(-1, 0); }},
        {"sennit_flush", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_flush(1, 0); }},
        {"sennit_flush_local", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_flush_local(-1, 0); }},
        {"sennit_flush", "rank INT_MAX", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_flush(INT_MAX, 0); }},
        {"sennit_flush", "rank INT_MIN", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) { return sennit_flush(INT_MIN, 0); }},
        {"sennit_barrier", "a team that does not exist", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_barrier(sennit_team{3}, SENNIT_FOREVER); }},

        {"sennit_wait", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait(&it.request, -1); }},
        {"sennit_wait_all", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_wait_all(0, nullptr, -1); }},
        {"sennit_wait_any", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_wait_any(0, nullptr, INT64_MIN, &it.size); }},
        {"sennit_flush", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_flush(0, -1); }},
        {"sennit_flush_local", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_flush_local(0, -1); }},
        {"sennit_flush_local_all", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_flush_local_all(-1); }},
        {"sennit_flush_all", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_flush_all(INT64_MIN); }},
        {"sennit_barrier", "a negative timeout", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_barrier(SENNIT_TEAM_WORLD, -1); }},

        {"sennit_peer_path", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_peer_path(0, nullptr); }},
        {"sennit_peer_path", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_path(1, &it.path); }},
        {"sennit_peer_path", "rank INT_MIN", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_path(INT_MIN, &it.path); }},
        {"sennit_peer_path_reason", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_peer_path_reason(0, SENNIT_PATH_SELF, nullptr, 10); }},
        {"sennit_peer_path_reason", "no room", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_peer_path_reason(0, SENNIT_PATH_SELF, it.text, 0); }},
        {"sennit_peer_path_reason", "SENNIT_PATH_NONE", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_peer_path_reason(0, SENNIT_PATH_NONE, it.text, 9); }},
        {"sennit_peer_path_reason", "a path that does not exist", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_peer_path_reason(0, SENNIT_PATH_END, it.text, 9); }},
        {"sennit_peer_path_reason", "a negative path", kRunning, SENNIT_ERR_ARG,
         [](Fixture &fixture) {
             return sennit_peer_path_reason(0, static_cast<sennit_path>(-1), fixture.text, 9);
         }},
        {"sennit_peer_path_reason", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_path_reason(-1, SENNIT_PATH_SELF, it.text, 9); }},
        {"sennit_peer_rail", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_peer_rail(0, 0, nullptr); }},
        {"sennit_peer_rail", "rank -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_rail(-1, 0, &it.rail); }},
        {"sennit_peer_rail", "a job on one node", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_rail(0, 0, &it.rail); }},
        {"sennit_peer_rail", "index -1", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_peer_rail(0, -1, &it.rail); }},
        {"sennit_provider_get", "null", kAny, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_provider_get(0, nullptr); }},
        {"sennit_stats_get", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_stats_get(0, SENNIT_PATH_SELF, nullptr); }},
        {"sennit_stats_get", "a path that does not exist", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_stats_get(0, SENNIT_PATH_END, &it.counters); }},
        {"sennit_stats_get", "a negative path", kRunning, SENNIT_ERR_ARG,
         [](Fixture
                &it) { return sennit_stats_get(0, static_cast<sennit_path>(-1), &it.counters); }},
        {"sennit_stats_get", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_stats_get(1, SENNIT_PATH_SELF, &it.counters); }},
        {"sennit_stats_get", "rank -2", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_stats_get(-2, SENNIT_PATH_SELF, &it.counters); }},
        {"sennit_stats_get", "counters that are off", kRunning, SENNIT_ERR_UNSUPPORTED,
         [](Fixture &it) { return sennit_stats_get(0, SENNIT_PATH_SELF, &it.counters); }},
        {"sennit_stats_print", "counters that are off", kRunning, SENNIT_ERR_UNSUPPORTED,
         [](Fixture &) { return sennit_stats_print(); }},
        {"sennit_trace_note", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_trace_note(nullptr); }},
        {"sennit_knob_get", "null", kBefore, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_knob_get(0, nullptr); }},
        {"sennit_knob_get", "index -1", kBefore, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_knob_get(-1, &it.knob); }},
        {"sennit_knob_get", "index INT_MAX", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_knob_get(INT_MAX, &it.knob); }},
        {"sennit_log_set", "level -1", kBefore, SENNIT_ERR_ARG,
         [](Fixture
                &) { return sennit_log_set(nullptr, nullptr, static_cast<sennit_log_level>(-1)); }},
        {"sennit_log_set", "level 5", kRunning, SENNIT_ERR_ARG,
         [](Fixture
                &) { return sennit_log_set(nullptr, nullptr, static_cast<sennit_log_level>(5)); }},
};

const std::vector<Row> calls_that_need_a_rank = {
    {"sennit_finalize", "", kAny, kState, [](Fixture &) { return sennit_finalize(); }},
    {"sennit_locality", "", kAny, kState,
     [](Fixture &it) { return sennit_locality(0, &it.level); }},
    {"sennit_alloc", "", kAny, kState,
     [](Fixture &it) { return sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &it.gptr); }},
    {"sennit_alloc_local", "", kAny, kState,
     [](Fixture &it) { return sennit_alloc_local(8, 0, 0, &it.gptr); }},
    {"sennit_free", "", kAny, kState, [](Fixture &) { return sennit_free(memory.segment); }},
    {"sennit_ptr", "", kAny, kState,
     [](Fixture &) { return status_of(sennit_ptr(memory.segment)); }},
    {"sennit_gptr_of", "", kAny, kState,
     [](Fixture &it) { return status_of(sennit_gptr_of(&it.size, 0)); }},
    {"sennit_segment_bytes", "", kAny, kState,
     [](Fixture &it) { return sennit_segment_bytes(memory.segment, &it.size); }},
    {"sennit_put", "", kAny, kState,
     [](Fixture &it) { return sennit_put(memory.segment, it.buffer, 8); }},
    {"sennit_get", "", kAny, kState,
     [](Fixture &it) { return sennit_get(it.buffer, memory.segment, 8); }},
    {"sennit_put", "no bytes", kAny, kState,
     [](Fixture &it) { return sennit_put(memory.segment, it.buffer, 0); }},
    {"sennit_put_nb", "", kAny, kState,
     [](Fixture &it) { return sennit_put_nb(memory.segment, it.buffer, 8, &it.request); }},
    {"sennit_get_nb", "", kAny, kState,
     [](Fixture &it) { return sennit_get_nb(it.buffer, memory.segment, 8, &it.request); }},
    {"sennit_put_local", "", kAny, kState,
     [](Fixture &it) { return sennit_put_local(memory.segment, it.buffer, 8); }},
    {"sennit_put_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_put_nbi(memory.segment, it.buffer, 8); }},
    {"sennit_get_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_get_nbi(it.buffer, memory.segment, 8); }},
    {"sennit_wait", "", kAny, kState,
     [](Fixture &it) { return sennit_wait(&it.request, SENNIT_FOREVER); }},
    {"sennit_test", "", kAny, kState,
     [](Fixture &it) { return sennit_test(&it.request, &it.flag); }},
    {"sennit_wait_all", "", kAny, kState,
     [](Fixture &it) { return sennit_wait_all(1, &it.request, SENNIT_FOREVER); }},
    {"sennit_test_all", "", kAny, kState,
     [](Fixture &it) { return sennit_test_all(1, &it.request, &it.flag); }},
    {"sennit_wait_any", "", kAny, kState,
     [](Fixture &it) { return sennit_wait_any(1, &it.request, SENNIT_FOREVER, &it.size); }},
    {"sennit_flush", "", kAny, kState, [](Fixture &) { return sennit_flush(0, SENNIT_FOREVER); }},
    {"sennit_flush_local", "", kAny, kState,
     [](Fixture &) { return sennit_flush_local(0, SENNIT_FOREVER); }},
    {"sennit_flush_local_all", "", kAny, kState,
     [](Fixture &) { return sennit_flush_local_all(SENNIT_FOREVER); }},
    {"sennit_flush_all", "", kAny, kState,
     [](Fixture &) { return sennit_flush_all(SENNIT_FOREVER); }},
    {"sennit_fence", "", kAny, kState, [](Fixture &) { return sennit_fence(); }},
    {"sennit_barrier", "", kAny, kState,
     [](Fixture &) { return sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER); }},
    {"sennit_peer_path", "", kAny, kState,
     [](Fixture &it) { return sennit_peer_path(0, &it.path); }},
    {"sennit_stats_get", "", kAny, kState,
     [](Fixture &it) { return sennit_stats_get(0, SENNIT_PATH_SELF, &it.counters); }},
    {"sennit_stats_print", "", kAny, kState, [](Fixture &) { return sennit_stats_print(); }},
    {"sennit_trace_note", "", kAny, kState, [](Fixture &) { return sennit_trace_note(""); }},
    {"sennit_peer_path_reason", "", kAny, kState,
     [](Fixture &it) { return sennit_peer_path_reason(0, SENNIT_PATH_SELF, it.text, 9); }},
    {"sennit_peer_rail", "", kAny, kState,
     [](Fixture &it) { return sennit_peer_rail(0, 0, &it.rail); }},
};

}  // namespace arguments
