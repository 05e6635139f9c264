// Start and end, queries, and messages.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "speech.hpp"
#include "state.hpp"

namespace shmem {

State state;

namespace {

constexpr std::size_t kDefaultHeap = std::size_t{256} << 20;
sennit_region statics_region;
bool ends_by_itself = false;  // set by start_pes(), which has no counterpart
bool watches_exit = false;

struct ProgramVariables {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint64_t program = 0xcbf29ce484222325;  // identifies the program: FNV-1a hash
    int others = 0;                              // earlier writable segments, not symmetric

    void add(const void *data, std::size_t bytes) {
        const auto *const begin_of = static_cast<const unsigned char *>(data);
        for (std::size_t i = 0; i < bytes; ++i)
            program = (program ^ begin_of[i]) * 0x100000001b3;
    }
};

// Finds the variables of the program: the last writable segment without the part that the loader
// has made read-only. Headers and notes (one is the build id) identify the program.
int find_variables(dl_phdr_info *info, std::size_t, void *context) {
    auto &found = *static_cast<ProgramVariables *>(context);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::uintptr_t read_only_end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto &header = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        found.add(&header, sizeof header);
        if (header.p_type == PT_NOTE)
            found.add(reinterpret_cast<const void *>(begin), header.p_memsz);
        if (header.p_type == PT_GNU_RELRO) read_only_end = (begin + header.p_memsz) / page * page;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto &header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
        if (found.end > read_only_end) ++found.others;
        found.begin = info->dlpi_addr + header.p_vaddr;
        found.end = found.begin + header.p_memsz;
    }
    if (read_only_end > found.begin) found.begin = std::min(read_only_end, found.end);
    return 1;  // stop: the first object is the program
}

// Parses sizes such as "20m", "3.1M" and ".5g". Returns false if the text is no size.
bool parse_size(const char *text, std::size_t *bytes) {
    // Not strtod(), whose decimal point depends on the program's locale.
    double number = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
    if (error != std::errc() || !(number >= 0)) return false;
    double factor = 1;
    switch (*end | 0x20) {
        case 'k':
            factor = 0x1p10;
            break;
        case 'm':
            factor = 0x1p20;
            break;
        case 'g':
            factor = 0x1p30;
            break;
        case 't':
            factor = 0x1p40;
            break;
        default:
            break;
    }
    if (*(factor == 1 ? end : end + 1) != '\0') return false;
    const double product = number * factor;
    if (!(product < 0x1p62)) return false;
    *bytes = static_cast<std::size_t>(product);
    if (static_cast<double>(*bytes) < product) ++*bytes;
    return true;
}

void area_open(Area &area, std::uintptr_t base, std::size_t bytes) {
    area.base = base;
    area.bytes = bytes;
    area.pointers.open(state.pes);
    area.words.open(state.pes);
    area.places = new sennit_gptr[static_cast<std::size_t>(state.pes)]();
}

void area_close(Area &area) {
    area.pointers.close();
    area.words.close();
    delete[] area.places;
    area = Area{};
}

// How atomic operations reach the areas of all PEs: directly, by Sennit, or not at all.
enum Reach : std::int32_t { kDirect, kBySennit, kNotAtAll };

// Fills the pointers, and agrees with all PEs on one kind of atomic operations. Returns whether
// every PE has pointers to the areas of all PEs.
bool area_reach(Area &area) {
    std::int32_t worst = kDirect;
    for (int pe = 0; pe < state.pes; ++pe) {
        char *const there = pe == state.me ? reinterpret_cast<char *>(area.base)
                                           : static_cast<char *>(sennit_ptr(area.places[pe]));
        area.pointers.set(pe, there);
        if (there != nullptr) continue;
        // The result for the first aligned word holds for all words.
        const std::uintptr_t ahead = -area.base % sizeof(std::uint64_t);
        std::uint64_t word = 0;
        const bool can = sennit_atomic_fetch_u64(
                             sennit_gptr_add(area.places[pe], static_cast<std::int64_t>(ahead)),
                             &word) == SENNIT_OK;
        worst = !can ? kNotAtAll : worst == kDirect ? kBySennit : worst;
    }
    std::int32_t agreed = worst;
    must("shmem_init",
         sennit_allreduce(SENNIT_TEAM_WORLD, &worst, &agreed,
                          sennit_reduction_of(1, SENNIT_INT32, SENNIT_MAX), state.limit_ns));
    area.is_locked = agreed == kNotAtAll;
    for (int pe = 0; pe < state.pes; ++pe)
        area.words.set(pe, area.is_locked ? nullptr : area.pointers.of(pe));
    return agreed == kDirect;
}

// Returns false if not all heaps could be allocated.
bool open_heap(std::size_t bytes) {
    constexpr std::size_t kLeast = std::size_t{64} << 10;
    constexpr std::size_t kMost = std::size_t{1} << 30;
    // Aligned blocks have the same offset on all PEs only if the heap's base has the largest
    // alignment.
    std::size_t alignment = std::bit_floor(bytes | kLeast);
    if (alignment > kMost) alignment = kMost;
    const std::size_t heap_bytes = (bytes + kLeast - 1) / kLeast * kLeast;
    sennit_gptr heap;
    const sennit_status status = sennit_alloc(
        SENNIT_TEAM_WORLD, heap_bytes + stalls_bytes() + kAfterHeapBytes, alignment, 0, &heap);
    if (status != SENNIT_OK) {
        std::fprintf(
            stderr,
            "shmem_init: cannot allocate a symmetric heap of %zu bytes for each of %d PEs: %s; "
            "set SHMEM_SYMMETRIC_SIZE to a smaller size\n",
            heap_bytes, state.pes, last_error().c_str());
        return false;
    }
    Area &area = state.areas[kHeap];
    area_open(area, reinterpret_cast<std::uintptr_t>(sennit_ptr(heap)), heap_bytes);
    for (int pe = 0; pe < state.pes; ++pe)
        area.places[pe] = sennit_gptr_at(heap, pe);
    heap_start(heap_bytes, alignment);
    return true;
}

// Reads the current values of the knobs of Sennit that matter here.
void read_knobs() {
    sennit_knob knob;
    for (int i = 0; sennit_knob_get(i, &knob) == SENNIT_OK; ++i) {
        const std::string_view name = knob.name;
        const bool is_on = std::strcmp(knob.value, "1") == 0;
        if (name == "SENNIT_SHMEM_STATICS") state.has_statics = is_on;
        if (name == "SENNIT_SHMEM_CHECKS") state.checks = is_on;
        if (name == "SENNIT_TRACE") state.traces = knob.value[0] != '\0';
        if (name != "SENNIT_TIMEOUT") continue;
        double seconds = 0;
        (void)std::from_chars(knob.value, knob.value + std::strlen(knob.value), seconds);
        if (seconds > 0) state.limit_ns = static_cast<std::int64_t>(seconds * 1e9);
    }
}

// Opens the area of the program's variables. If they cannot be symmetric, the area stays empty.
void open_statics() {
    ProgramVariables found;
    if (state.has_statics) dl_iterate_phdr(find_variables, &found);
    const std::uint64_t bytes = found.end - found.begin;
    if (found.others != 0) debug("segments whose variables are not symmetric: %d", found.others);
    // PEs that run another program have other variables.
    std::uint64_t words[4] = {bytes, ~bytes, found.program, ~found.program};
    must("shmem_init",
         sennit_allreduce(SENNIT_TEAM_WORLD, words, words,
                          sennit_reduction_of(4, SENNIT_UINT64, SENNIT_MAX), state.limit_ns));
    if (bytes == 0 || words[0] != ~words[1] || words[2] != ~words[3]) {
        debug("variables of the program are not symmetric: %s",
              bytes == 0 ? "switched off" : "PEs run different programs");
        return;
    }
    statics_region = SENNIT_REGION_NULL;
    const sennit_status status = sennit_register(reinterpret_cast<void *>(found.begin), bytes,
                                                 SENNIT_REGISTER_SHARED_PAGES, &statics_region);
    if (status != SENNIT_OK) debug("variables: %s", last_error().c_str());
    const auto pes = static_cast<std::size_t>(state.pes);
    const auto regions = std::make_unique<sennit_region[]>(pes);
    const sennit_status attached =
        sennit_region_attach(SENNIT_TEAM_WORLD, statics_region, regions.get());
    bool all = attached == SENNIT_OK;
    for (std::size_t pe = 0; all && pe < pes; ++pe)
        all = !sennit_gptr_is_null(regions[pe].gptr);
    if (!all) {
        debug("variables of the program are not symmetric: %s", last_error().c_str());
        return;
    }
    Area &area = state.areas[kStatics];
    area_open(area, found.begin, bytes);
    for (std::size_t pe = 0; pe < pes; ++pe)
        area.places[pe] = regions[pe].gptr;
}

// Warns if another OpenSHMEM library follows in the loader's search order: the program gets each
// function from the first library that has it. A profiler before this library is not reported.
void warn_of_other_library() {
    void *const other = dlsym(RTLD_NEXT, "shmem_init");
    Dl_info where{};
    if (state.me != 0 || other == nullptr || dladdr(other, &where) == 0) return;
    std::fprintf(stderr,
                 "shmem_init: the program is linked to another OpenSHMEM library too, which may "
                 "get some of its calls: %s\n",
                 where.dli_fname);
}

void print_settings() {
    if (state.me != 0) return;
    if (setting("VERSION") != nullptr)
        std::printf("%s, OpenSHMEM %d.%d, Sennit %s\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION,
                    SHMEM_MINOR_VERSION, sennit_version());
    if (setting("INFO") != nullptr)
        std::printf(
            "SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap of each PE; also 20k, 1.5M, 2g, 1t; "
            "now %zu bytes\n"
            "SHMEM_VERSION         any value: print the version at start\n"
            "SHMEM_INFO            any value: print this\n"
            "SHMEM_DEBUG           any value: report why memory could not be allocated, and "
            "similar\n"
            "SENNIT_SHMEM_STATICS  off: variables of the program are not symmetric\n"
            "SENNIT_SHMEM_CHECKS   off: wrong arguments are not reported\n",
            state.areas[kHeap].bytes);
    std::fflush(stdout);
}

// Whether PEs of this node share processors. Launchers may bind PEs, so all masks count.
bool is_crowded() {
    int size = 0;
    must("shmem_init", sennit_team_size(SENNIT_TEAM_NODE, &size));
    cpu_set_t mine;
    // If the mask is too short for the machine, there are enough processors.
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) std::memset(&mine, -1, sizeof mine);
    const auto masks = std::make_unique<cpu_set_t[]>(static_cast<std::size_t>(size));
    must("shmem_init",
         sennit_allgather(SENNIT_TEAM_NODE, &mine, masks.get(), sizeof mine, state.limit_ns));
    cpu_set_t all = mine;
    int beside = 0;  // number of PEs that may run only on this PE's processors
    for (int pe = 0; pe < size; ++pe) {
        const cpu_set_t &other = masks[static_cast<std::size_t>(pe)];
        cpu_set_t joined;
        CPU_OR(&joined, &mine, &other);
        if (CPU_EQUAL(&joined, &mine)) ++beside;
        CPU_OR(&all, &all, &other);
    }
    return size > CPU_COUNT(&all) || beside > CPU_COUNT(&mine);
}

// Whether this PE is the only one of its process: PEs of one process would share their variables.
bool is_alone_in_process() {
    for (int pe = 0; pe < sennit_size(); ++pe) {
        sennit_locality_level level = SENNIT_LOCALITY_NODE;
        if (sennit_locality(pe, &level) == SENNIT_OK && level == SENNIT_LOCALITY_PROCESS)
            return false;
    }
    return true;
}

// Whether the argument is true on some PE.
bool any_pe(bool mine) {
    const std::uint32_t one = mine ? 1 : 0;
    std::uint32_t any = one;
    must("shmem_init",
         sennit_allreduce(SENNIT_TEAM_WORLD, &one, &any,
                          sennit_reduction_of(1, SENNIT_UINT32, SENNIT_MAX), state.limit_ns));
    return any != 0;
}

// If one PE has SHMEM_THREAD_MULTIPLE, its threads may be in several collective calls of active
// sets at the same time. All PEs are told, and this holds until the last finalize.
void agree_on_threads(bool has_threads) {
    state.has_threads = any_pe(has_threads || state.has_threads);
    // The first shmem_init_thread, or another part of the program, may have started Sennit with a
    // lower level. This level stays: with the highest one each collective call takes a lock.
    const auto granted = static_cast<int>(sennit_thread_level_granted());
    state.thread_level = state.has_threads ? granted : std::min(granted, SHMEM_THREAD_SERIALIZED);
}

// Writes a message of Sennit's log in OpenSHMEM's terms.
void write_log(void *, sennit_log_level level, const char *text) {
    constexpr const char *kLevels[] = {"", "error: ", "warning: ", "info: ", "debug: "};
    const int pe = sennit_rank();
    char who[24] = "";
    // Output that the user has requested (level NONE) names its PE itself.
    if (pe >= 0 && level != SENNIT_LOG_NONE) std::snprintf(who, sizeof who, "PE %d: ", pe);
    // In the warning of a long barrier, replaces the name of Sennit's call.
    std::string line = text;
    const char *const call = long_barrier();
    constexpr std::string_view kBarrier = "sennit_barrier has waited ";
    const bool is_of_barrier = call != nullptr && line.starts_with(kBarrier);
    if (is_of_barrier) {
        line.replace(0, line.find(' '), call);
        line += "; SENNIT_TIMEOUT sets a limit";
    }
    std::fprintf(stderr, "sennit: %s%s%s\n", who, kLevels[level],
                 in_words_of_openshmem(std::move(line)).c_str());
}

void end_without_finalize(int status, void *);

// Starts Sennit and the areas. Returns the result of init: 0, or an error.
int start(int requested, bool has_threads) {
    std::size_t bytes = kDefaultHeap;
    const char *const size = setting("SYMMETRIC_SIZE");
    if (size != nullptr && !parse_size(size, &bytes)) {
        std::fprintf(stderr,
                     "shmem_init: SHMEM_SYMMETRIC_SIZE is not a size: \"%s\"; give bytes, or a "
                     "number and one of k, m, g and t: 268435456, 20m, 1.5G\n",
                     size);
        return 1;
    }
    if (sennit_initialized() == 0)
        (void)sennit_log_set(write_log, nullptr, SENNIT_LOG_WARNING);  // it cannot fail
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = static_cast<sennit_thread_level>(requested);
    if (sennit_init(&options) != SENNIT_OK) {
        std::fprintf(stderr, "shmem_init: %s\n", last_error().c_str());
        return 1;
    }
    if (!is_alone_in_process()) {
        std::fprintf(stderr, "shmem_init: each PE must be a process; this one has several PEs\n");
        (void)sennit_finalize();  // shmem_init fails in any case
        return 1;
    }
    read_knobs();
    state.process = getpid();
    state.me = sennit_rank();
    state.pes = sennit_size();
    state.debug = setting("DEBUG") != nullptr;
    state.crowded = is_crowded();
    agree_on_threads(has_threads);
    if (!open_heap(bytes)) {
        (void)sennit_finalize();  // shmem_init fails in any case
        state = State{};
        return 1;
    }
    open_statics();
    const bool heap_direct = area_reach(state.areas[kHeap]);
    const bool statics_direct =
        state.areas[kStatics].bytes == 0 || area_reach(state.areas[kStatics]);
    state.all_direct = heap_direct && statics_direct;
    teams_start(heap_direct);
    if (state.pes > 1) ending_start();
    warn_of_other_library();
    print_settings();
    state.inits = 1;
    if (!watches_exit) watches_exit = on_exit(end_without_finalize, nullptr) == 0;
    return 0;
}

void stop() {
    barrier_all("shmem_finalize");
    teams_stop();
    heap_stop();
    const sennit_gptr heap = state.areas[kHeap].places[state.me];
    // After the barrier above no PE uses the variables of another.
    if (state.areas[kStatics].bytes != 0) {
        for (int pe = 0; pe < state.pes; ++pe) {
            const sennit_region region{state.areas[kStatics].places[pe],
                                       state.areas[kStatics].bytes};
            if (pe != state.me) (void)sennit_region_detach(region);
        }
        must("shmem_finalize", sennit_barrier(SENNIT_TEAM_WORLD, state.limit_ns));
        must("shmem_finalize", sennit_deregister(statics_region));
    }
    ending_stop();  // before the heap is freed, because its thread may poll a word after the heap
    must("shmem_finalize", sennit_free(heap));
    for (Area &area : state.areas)
        area_close(area);
    state = State{};
    must("shmem_finalize", sennit_finalize());
}

int init(int requested, bool has_threads) {
    if (state.inits == 0) return start(requested, has_threads);
    ++state.inits;
    barrier_all("shmem_init");
    agree_on_threads(has_threads);
    return 0;
}

void finalize() {
    if (state.inits == 0 || is_ending()) return;
    if (state.inits > 1) {
        --state.inits;
        ++state.finalizes;
        barrier_all("shmem_finalize");
        return;
    }
    stop();
}

[[noreturn, gnu::format(printf, 2, 0)]] void print_and_end(const char *call, const char *format,
                                                           va_list arguments) {
    char text[512];
    std::vsnprintf(text, sizeof text, format, arguments);
    // Before init the process has no PE number.
    if (state.me < 0)
        std::fprintf(stderr, "%s: %s\n", call, text);
    else
        std::fprintf(stderr, "PE %d: %s: %s\n", state.me, call, text);
    pshmem_global_exit(1);
}

// Finalizes in exit() if the program has not called shmem_finalize; other libraries do this too. A
// PE that exits alone, or not with 0, counts as lost.
void end_without_finalize(int status, void *) {
    constexpr std::int64_t kLongest_ns = 5'000'000'000;
    if (status != 0 || state.inits == 0 || is_ending() || is_forked_child()) return;
    if (!all_are_at_exit(std::min(state.limit_ns, kLongest_ns))) return;
    if (state.me == 0 && state.finalizes == 0)
        tell("warning: the program ended without shmem_finalize");
    else if (state.me == 0)
        tell("warning: the program ended after %d calls of shmem_init and %d of shmem_finalize",
             state.inits + state.finalizes, state.finalizes);
    state.inits = 1;
    finalize();
}

void end_by_itself(int status, void *) {
    if (status == 0 && state.inits > 0 && !is_forked_child()) {
        state.inits = 1;
        finalize();
    }
}

}  // namespace

void Pointers::open(int pes) {
    pes_ = static_cast<unsigned>(pes);
    if (pes_ > kFirst) others_ = new char *[pes_ - kFirst]();
}

void Pointers::close() {
    delete[] others_;
    *this = Pointers{};
}

void Pointers::set(int pe, char *pointer) {
    const auto index = static_cast<unsigned>(pe);
    (index < kFirst ? first_[index] : others_[index - kFirst]) = pointer;
}

bool is_forked_child() {
    return state.process != 0 && state.process != getpid();
}

const char *setting(const char *name) {
    char text[64];
    std::snprintf(text, sizeof text, "SHMEM_%s", name);
    const char *const value = std::getenv(text);
    if (value != nullptr) return value;
    std::snprintf(text, sizeof text, "SMA_%s", name);
    return std::getenv(text);
}

std::string last_error() {
    return in_words_of_openshmem(sennit_last_error()->text);
}

std::string late_pes() {
    // The part after the semicolon.
    const std::string text = last_error();
    const std::size_t late = text.find("; ");
    return late == std::string::npos ? "" : text.substr(late + 2);
}

void fail(const char *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_and_end(call, format, arguments);
}

void wrong(const char *call, const char *format, ...) {
    if (!state.checks) return;
    va_list arguments;
    va_start(arguments, format);
    print_and_end(call, format, arguments);
}

void fail_timeout(const char *call, const std::string &why) {
    fail(call, "no end after %g s (SENNIT_TIMEOUT)%s%s", static_cast<double>(state.limit_ns) / 1e9,
         why.empty() ? "" : ": ", why.c_str());
}

void fail_status(const char *call, sennit_status status) {
    if (status == SENNIT_ERR_TIMEOUT) fail_timeout(call, late_pes());
    // The lost PE may be in shmem_global_exit, which then ends this PE within this time.
    if (status == SENNIT_ERR_PEER_LOST) usleep(300'000);
    // The thread of ending.cpp may not yet have seen an exit status from another node.
    ending_check();
    fail(call, "%s: %s", sennit_status_string(status), last_error().c_str());
}

void tell(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "PE %d: %s\n", state.me, text);
}

SHMEM_DEFINE(void, shmem_init, (void)) {
    // Lets Sennit allow several threads, though the program has not requested them.
    if (init(SHMEM_THREAD_MULTIPLE, false) != 0) std::exit(1);
}
SHMEM_DEFINE(int, shmem_init_thread, (int requested, int *provided)) {
    const bool known = requested >= SHMEM_THREAD_SINGLE && requested <= SHMEM_THREAD_MULTIPLE;
    const int result = known ? init(requested, requested == SHMEM_THREAD_MULTIPLE) : 1;
    if (result == 0) *provided = state.thread_level;
    return result;
}
SHMEM_DEFINE(void, start_pes, (int)) {
    if (state.inits > 0) return;
    pshmem_init();
    if (!ends_by_itself) ends_by_itself = on_exit(end_by_itself, nullptr) == 0;
}
SHMEM_DEFINE(void, shmem_finalize, (void)) {
    finalize();
}
SHMEM_DEFINE(void, shmem_query_initialized, (int *initialized)) {
    *initialized = state.inits > 0 ? 1 : 0;
}
SHMEM_DEFINE(void, shmem_query_thread, (int *provided)) {
    *provided = state.thread_level;
}
SHMEM_DEFINE(int, shmem_my_pe, (void)) {
    return state.me;
}
SHMEM_DEFINE(int, shmem_n_pes, (void)) {
    return state.pes;
}
SHMEM_DEFINE(int, _my_pe, (void)) {
    return state.me;
}
SHMEM_DEFINE(int, _num_pes, (void)) {
    return state.pes;
}
SHMEM_DEFINE(int, shmem_pe_accessible, (int pe)) {
    return pe >= 0 && pe < state.pes ? 1 : 0;
}
SHMEM_DEFINE(int, shmem_addr_accessible, (const void *addr, int pe)) {
    if (pe < 0 || pe >= state.pes) return 0;
    for (const Area &area : state.areas) {
        if (reinterpret_cast<std::uintptr_t>(addr) - area.base < area.bytes) return 1;
    }
    return 0;
}
SHMEM_DEFINE(void *, shmem_ptr, (const void *dest, int pe)) {
    return reach(dest, 1, pe);
}
SHMEM_DEFINE(void, shmem_info_get_version, (int *major, int *minor)) {
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
SHMEM_DEFINE(void, shmem_info_get_name, (char *name)) {
    std::strcpy(name, SHMEM_VENDOR_STRING);
}
// Only profilers implement this call.
SHMEM_DEFINE(void, shmem_pcontrol, (int, ...)) {}
// These calls of OpenSHMEM up to 1.4 do nothing, since caches are coherent.
SHMEM_DEFINE(void, shmem_set_cache_inv, (void)) {}
SHMEM_DEFINE(void, shmem_clear_cache_inv, (void)) {}
SHMEM_DEFINE(void, shmem_set_cache_line_inv, (void *)) {}
SHMEM_DEFINE(void, shmem_clear_cache_line_inv, (void *)) {}
SHMEM_DEFINE(void, shmem_udcflush, (void)) {}
SHMEM_DEFINE(void, shmem_udcflush_line, (void *)) {}

}  // namespace shmem
