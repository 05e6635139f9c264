// libfabric is loaded only if a job spans nodes, so a benchmark on one node runs without it.
#include "worker/raw_network.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <sennit/sennit.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "worker/check.hpp"

namespace sennit::bench {

namespace {

// The second of the two ranks is the target.
constexpr int kTarget = 1;
// In the order of Sennit's preference.
constexpr const char *kProviders[] = {"net", "tcp", "tcp;ofi_rxm"};
constexpr std::uint32_t kVersion = FI_VERSION(1, 17);
constexpr std::uint64_t kKey = 1;

// An endpoint's name, as ranks exchange it.
struct Name {
    std::array<std::uint8_t, 64> bytes;
};

void need(int code, const char *what) {
    if (code != 0) throw std::runtime_error(fmt::format("libfabric: {}: error {}", what, code));
}

template <class Function>
Function *function(void *library, const char *name) {
    auto *const found = reinterpret_cast<Function *>(dlsym(library, name));
    if (found == nullptr) throw std::runtime_error(fmt::format("libfabric has no {}", name));
    return found;
}

}  // namespace

struct RawNetwork::Objects {
    std::string provider;
    fi_info *info = nullptr;
    decltype(&fi_freeinfo) free_info = nullptr;
    decltype(&fi_getinfo) get_info = nullptr;
    decltype(&fi_dupinfo) copy_info = nullptr;
    decltype(&fi_fabric) open_fabric = nullptr;
    fid_fabric *fabric = nullptr;
    fid_domain *domain = nullptr;
    fid_av *addresses = nullptr;
    fid_cq *completions = nullptr;
    fid_ep *endpoint = nullptr;
    fid_mr *memory = nullptr;
    int descriptor = -1;
    fi_addr_t peer = FI_ADDR_UNSPEC;
    std::vector<std::byte> window;
    std::array<fi_context2, kWindow> contexts;
    std::array<std::size_t, kStreams> events{};  // arrived, but not yet waited for
    std::size_t ended = 0;  // puts with events of this rank that have completed

    void open_library();
    bool find(const char *name, Use use, const std::string &address = {});
    void open(std::size_t bytes, bool sleeps, bool has_events);
    void exchange_names(const Job &job, int partner);
    bool has_atomics(const Job &job) const;
    ssize_t post_fetch_add(std::uint64_t value, std::uint64_t *old, fi_context2 *context) const;
    std::size_t finish_some() const;
    void finish(std::size_t count) const;
    void take_events();
    void post_event(unsigned stream, const void *from, std::size_t bytes, bool is_short);
    template <class Post>
    void post_and_finish(const char *what, Post post) const;
    void close();
    ~Objects() { close(); }
};

void RawNetwork::Objects::open_library() {
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    get_info = function<decltype(fi_getinfo)>(library, "fi_getinfo");
    copy_info = function<decltype(fi_dupinfo)>(library, "fi_dupinfo");
    open_fabric = function<decltype(fi_fabric)>(library, "fi_fabric");
    free_info = function<decltype(fi_freeinfo)>(library, "fi_freeinfo");
}

bool RawNetwork::Objects::find(const char *name, Use use, const std::string &address) {
    fi_info *hints = copy_info(nullptr);
    if (hints == nullptr) throw std::bad_alloc();
    hints->caps = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (use == Use::atomics) hints->caps |= FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode = 0;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(name);
    const bool is_bound = !address.empty();
    const int code = get_info(kVersion, is_bound ? address.c_str() : nullptr, nullptr,
                              is_bound ? FI_SOURCE : 0, hints, &info);
    free_info(hints);
    if (code != 0) {
        info = nullptr;
        return false;
    }
    provider = info->fabric_attr->prov_name;
    need(open_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
    return true;
}

void RawNetwork::Objects::open(std::size_t bytes, bool sleeps, bool has_events) {
    window.assign(bytes, std::byte{0});
    need(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
    fi_av_attr table{};
    table.type = FI_AV_UNSPEC;
    need(fi_av_open(domain, &table, &addresses, nullptr), "fi_av_open");
    fi_cq_attr queue{};
    queue.format = has_events ? FI_CQ_FORMAT_DATA : FI_CQ_FORMAT_CONTEXT;
    queue.wait_obj = sleeps ? FI_WAIT_FD : FI_WAIT_NONE;
    need(fi_cq_open(domain, &queue, &completions, nullptr), "fi_cq_open");
    if (sleeps) need(fi_control(&completions->fid, FI_GETWAIT, &descriptor), "fi_control");
    need(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint");
    need(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
    need(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    need(fi_enable(endpoint), "fi_enable");
    need(fi_mr_reg(domain, window.data(), bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, kKey, 0,
                   &memory, nullptr),
         "fi_mr_reg");
}

void RawNetwork::Objects::exchange_names(const Job &job, int partner) {
    Name mine{};
    std::size_t bytes = sizeof mine;
    need(fi_getname(&endpoint->fid, mine.bytes.data(), &bytes), "fi_getname");
    std::vector<Name> all(static_cast<std::size_t>(job.size()));
    check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all.data(), sizeof mine, SENNIT_FOREVER),
          "sennit_allgather");
    const Name &other = all[static_cast<std::size_t>(partner)];
    if (fi_av_insert(addresses, other.bytes.data(), 1, &peer, 0, nullptr) != 1)
        throw std::runtime_error("libfabric: fi_av_insert");
}

// The number of operations that have completed now; 0: none.
std::size_t RawNetwork::Objects::finish_some() const {
    std::array<fi_cq_entry, 16> entries{};
    const ssize_t count = fi_cq_read(completions, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) throw std::runtime_error("libfabric: an operation failed");
    return static_cast<std::size_t>(count);
}

void RawNetwork::Objects::finish(std::size_t count) const {
    while (count > 0)
        count -= finish_some();
}

void RawNetwork::Objects::take_events() {
    std::array<fi_cq_data_entry, 16> entries{};
    const ssize_t count = fi_cq_read(completions, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return;
    if (count < 0) throw std::runtime_error("libfabric: an operation failed");
    for (ssize_t i = 0; i < count; ++i) {
        const fi_cq_data_entry &entry = entries[static_cast<std::size_t>(i)];
        ++((entry.flags & FI_REMOTE_CQ_DATA) != 0 ? events.at(entry.data) : ended);
    }
}

// The number of the stream is the completion data.
void RawNetwork::Objects::post_event(unsigned stream, const void *from, std::size_t bytes,
                                     bool is_short) {
    const std::uint64_t to = stream * bytes;
    ssize_t code = 0;
    do {
        code = is_short ? fi_inject_writedata(endpoint, from, bytes, stream, peer, to, kKey)
                        : fi_writedata(endpoint, from, bytes, nullptr, stream, peer, to, kKey,
                                       &contexts[stream]);
        if (code == -FI_EAGAIN) take_events();
    } while (code == -FI_EAGAIN);
    need(static_cast<int>(code), "fi_writedata");
}

// One operation at a time, so no other one can complete meanwhile.
template <class Post>
void RawNetwork::Objects::post_and_finish(const char *what, Post post) const {
    fi_context2 context{};
    ssize_t code = 0;
    while ((code = post(&context)) == -FI_EAGAIN)
        (void)fi_cq_read(completions, nullptr, 0);
    need(static_cast<int>(code), what);
    finish(1);
}

ssize_t RawNetwork::Objects::post_fetch_add(std::uint64_t value, std::uint64_t *old,
                                            fi_context2 *context) const {
    return fi_fetch_atomic(endpoint, &value, 1, nullptr, old, nullptr, peer, 0, kKey, FI_UINT64,
                           FI_SUM, context);
}

// `net` of 1.17 offers atomic operations, but returns ENOSYS for the first one. So one operation is
// tried, and both ranks get the result; the other rank polls meanwhile.
bool RawNetwork::Objects::has_atomics(const Job &job) const {
    std::uint64_t *const answer = job.raw_flag(kTarget, 0);
    *answer = 0;
    job.barrier();
    constexpr std::uint64_t kWorks = 1;
    constexpr std::uint64_t kRefused = 2;
    if (job.rank() != kTarget) {
        std::uint64_t old = 0;
        fi_context2 context{};
        ssize_t code = 0;
        while ((code = post_fetch_add(0, &old, &context)) == -FI_EAGAIN)
            (void)fi_cq_read(completions, nullptr, 0);
        if (code == 0) finish(1);
        post_flag(answer, code == 0 ? kWorks : kRefused);
    }
    // SYNC bench-flag: pairs with the release in post_flag(); no other data depends on it.
    while (Flag(*answer).load(std::memory_order_acquire) == 0)
        (void)fi_cq_read(completions, nullptr, 0);
    const bool works = *answer == kWorks;
    job.barrier();
    return works;
}

void RawNetwork::Objects::close() {
    const auto close_one = [](auto *&object) {
        if (object != nullptr) (void)fi_close(&object->fid);
        object = nullptr;
    };
    close_one(endpoint);
    close_one(memory);
    close_one(completions);
    close_one(addresses);
    close_one(domain);
    close_one(fabric);
    if (info != nullptr) free_info(info);
    info = nullptr;
}

RawNetwork::RawNetwork(const Job &job, std::size_t bytes, Use use)
    : m_objects(std::make_unique<Objects>()) {
    m_objects->open_library();
    for (const char *name : kProviders) {
        if (!m_objects->find(name, use)) continue;
        m_objects->open(bytes, use == Use::sleeping && job.rank() == kTarget, use == Use::events);
        m_objects->exchange_names(job, job.rank() == kTarget ? 0 : kTarget);
        if (use != Use::atomics || m_objects->has_atomics(job)) return;
        m_objects->close();
    }
    throw std::runtime_error(use == Use::atomics
                                 ? "libfabric has no provider of net and tcp with fi_fetch_atomic"
                                 : "libfabric has no provider of net and tcp");
}

RawNetwork::RawNetwork(const Job &job, std::size_t bytes, int partner, const std::string &address)
    : m_objects(std::make_unique<Objects>()) {
    m_objects->open_library();
    for (const char *name : kProviders) {
        if (!m_objects->find(name, Use::events, address)) continue;
        m_objects->open(bytes, false, true);
        m_objects->exchange_names(job, partner);
        return;
    }
    throw std::runtime_error("libfabric has no provider of net and tcp by " + address);
}

RawNetwork::~RawNetwork() = default;

const std::string &RawNetwork::provider() const {
    return m_objects->provider;
}

void RawNetwork::put(const void *from, std::size_t bytes) const {
    const iovec local{const_cast<void *>(from), bytes};
    const fi_rma_iov remote{0, bytes, kKey};
    m_objects->post_and_finish("fi_writemsg", [&](fi_context2 *context) {
        const fi_msg_rma message{&local, nullptr, 1, m_objects->peer, &remote, 1, context, 0};
        return fi_writemsg(m_objects->endpoint, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
    });
}

void RawNetwork::get(void *to, std::size_t bytes) const {
    m_objects->post_and_finish("fi_read", [&](fi_context2 *context) {
        return fi_read(m_objects->endpoint, to, bytes, nullptr, m_objects->peer, 0, kKey, context);
    });
}

std::uint64_t RawNetwork::add(std::uint64_t value) const {
    std::uint64_t old = 0;
    m_objects->post_and_finish("fi_fetch_atomic", [&](fi_context2 *context) {
        return m_objects->post_fetch_add(value, &old, context);
    });
    return old;
}

std::uint64_t RawNetwork::compare_swap(std::uint64_t expected, std::uint64_t desired) const {
    std::uint64_t old = 0;
    m_objects->post_and_finish("fi_compare_atomic", [&](fi_context2 *context) {
        return fi_compare_atomic(m_objects->endpoint, &desired, 1, nullptr, &expected, nullptr,
                                 &old, nullptr, m_objects->peer, 0, kKey, FI_UINT64, FI_CSWAP,
                                 context);
    });
    return old;
}

void RawNetwork::put_window(const std::byte *from, std::size_t bytes, std::size_t stride) const {
    std::size_t ended = 0;
    for (std::size_t i = 0; i < kWindow; ++i) {
        const iovec local{const_cast<std::byte *>(from + i * bytes), bytes};
        const fi_rma_iov remote{i * stride, bytes, kKey};
        const fi_msg_rma message{
            &local, nullptr, 1, m_objects->peer, &remote, 1, &m_objects->contexts[i], 0};
        ssize_t code = 0;
        while ((code = fi_writemsg(m_objects->endpoint, &message,
                                   FI_DELIVERY_COMPLETE | FI_COMPLETION)) == -FI_EAGAIN)
            ended += m_objects->finish_some();
        need(static_cast<int>(code), "fi_writemsg");
    }
    m_objects->finish(kWindow - ended);
}

void RawNetwork::put_event(const void *from, std::size_t bytes, unsigned stream) const {
    const bool is_short = bytes <= m_objects->info->tx_attr->inject_size;
    const std::size_t ended = m_objects->ended;
    m_objects->post_event(stream, from, bytes, is_short);
    while (!is_short && m_objects->ended == ended)
        m_objects->take_events();
}

void RawNetwork::await_event(unsigned stream) const {
    while (m_objects->events[stream] == 0)
        m_objects->take_events();
    --m_objects->events[stream];
}

void RawNetwork::start_event(unsigned stream, const void *from, std::size_t bytes) const {
    m_objects->post_event(stream, from, bytes, false);
}

void RawNetwork::finish_events(std::size_t count) const {
    while (m_objects->ended < count)
        m_objects->take_events();
}

bool RawNetwork::take_event(unsigned stream) const {
    m_objects->take_events();
    const bool has_come = m_objects->events[stream] != 0;
    if (has_come) --m_objects->events[stream];
    return has_come;
}

const std::byte *RawNetwork::memory() const {
    return m_objects->window.data();
}

void RawNetwork::look() const {
    (void)fi_cq_read(m_objects->completions, nullptr, 0);
}

void RawNetwork::sleep(int timeout_ms) const {
    fid *object = &m_objects->completions->fid;
    pollfd ready{m_objects->descriptor, POLLIN, 0};
    if (fi_trywait(m_objects->fabric, &object, 1) == FI_SUCCESS) (void)poll(&ready, 1, timeout_ms);
    look();
}

void RawNetwork::barrier(std::uint64_t number) const {
    ssize_t code = 0;
    while ((code = fi_inject_write(m_objects->endpoint, &number, sizeof number, m_objects->peer, 0,
                                   kKey)) == -FI_EAGAIN)
        look();
    need(static_cast<int>(code), "fi_inject_write");
    auto *const arrived = reinterpret_cast<std::uint64_t *>(m_objects->window.data());
    // SYNC bench-flag: the provider's copy is the other side; no other data depends on it.
    while (Flag(*arrived).load(std::memory_order_acquire) < number)
        look();
}

}  // namespace sennit::bench
