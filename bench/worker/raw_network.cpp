// See raw_network.hpp. libfabric is opened when a job spans nodes: a benchmark on one node must not
// carry it.
#include "worker/raw_network.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <rdma/fabric.h>
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

constexpr int kTarget = 1;
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
    fid_fabric *fabric = nullptr;
    fid_domain *domain = nullptr;
    fid_av *addresses = nullptr;
    fid_cq *completions = nullptr;
    fid_ep *endpoint = nullptr;
    fid_mr *memory = nullptr;
    fi_addr_t target = FI_ADDR_UNSPEC;
    std::vector<std::byte> window;

    void find_provider();
    void open(std::size_t bytes);
    void meet(const Job &job);
    void finish_one() const;
    ~Objects();
};

// In the order in which Sennit takes them.
void RawNetwork::Objects::find_provider() {
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    auto *const get_info = function<decltype(fi_getinfo)>(library, "fi_getinfo");
    auto *const copy_info = function<decltype(fi_dupinfo)>(library, "fi_dupinfo");
    auto *const open_fabric = function<decltype(fi_fabric)>(library, "fi_fabric");
    free_info = function<decltype(fi_freeinfo)>(library, "fi_freeinfo");
    fi_info *hints = copy_info(nullptr);
    if (hints == nullptr) throw std::bad_alloc();
    hints->caps = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode = 0;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    for (const char *name : {"net", "tcp", "tcp;ofi_rxm"}) {
        hints->fabric_attr->prov_name = strdup(name);
        const int code = get_info(kVersion, nullptr, nullptr, 0, hints, &info);
        std::free(hints->fabric_attr->prov_name);
        hints->fabric_attr->prov_name = nullptr;
        if (code == 0) break;
        info = nullptr;
    }
    free_info(hints);
    if (info == nullptr) throw std::runtime_error("libfabric has no provider of net and tcp");
    provider = info->fabric_attr->prov_name;
    need(open_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
}

void RawNetwork::Objects::open(std::size_t bytes) {
    window.resize(bytes);
    need(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
    fi_av_attr table{};
    table.type = FI_AV_UNSPEC;
    need(fi_av_open(domain, &table, &addresses, nullptr), "fi_av_open");
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.wait_obj = FI_WAIT_NONE;
    need(fi_cq_open(domain, &queue, &completions, nullptr), "fi_cq_open");
    need(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint");
    need(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
    need(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    need(fi_enable(endpoint), "fi_enable");
    need(fi_mr_reg(domain, window.data(), bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, kKey, 0,
                   &memory, nullptr),
         "fi_mr_reg");
}

void RawNetwork::Objects::meet(const Job &job) {
    Name mine{};
    std::size_t bytes = sizeof mine;
    need(fi_getname(&endpoint->fid, mine.bytes.data(), &bytes), "fi_getname");
    std::vector<Name> all(static_cast<std::size_t>(job.size()));
    check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all.data(), sizeof mine, SENNIT_FOREVER),
          "sennit_allgather");
    if (fi_av_insert(addresses, all[kTarget].bytes.data(), 1, &target, 0, nullptr) != 1)
        throw std::runtime_error("libfabric: fi_av_insert");
}

void RawNetwork::Objects::finish_one() const {
    fi_cq_entry entry{};
    ssize_t count = 0;
    do {
        count = fi_cq_read(completions, &entry, 1);
    } while (count == -FI_EAGAIN);
    if (count != 1) throw std::runtime_error("libfabric: an operation failed");
}

RawNetwork::Objects::~Objects() {
    const auto close = [](auto *object) {
        if (object != nullptr) (void)fi_close(&object->fid);
    };
    close(endpoint);
    close(memory);
    close(completions);
    close(addresses);
    close(domain);
    close(fabric);
    if (info != nullptr) free_info(info);
}

RawNetwork::RawNetwork(const Job &job, std::size_t bytes) : m_objects(std::make_unique<Objects>()) {
    m_objects->find_provider();
    m_objects->open(bytes);
    m_objects->meet(job);
}

RawNetwork::~RawNetwork() = default;

const std::string &RawNetwork::provider() const {
    return m_objects->provider;
}

void RawNetwork::put(const void *from, std::size_t bytes) const {
    fi_context2 context{};
    const iovec local{const_cast<void *>(from), bytes};
    const fi_rma_iov remote{0, bytes, kKey};
    const fi_msg_rma message{&local, nullptr, 1, m_objects->target, &remote, 1, &context, 0};
    ssize_t code = 0;
    do {
        code = fi_writemsg(m_objects->endpoint, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
        if (code == -FI_EAGAIN) look();
    } while (code == -FI_EAGAIN);
    need(static_cast<int>(code), "fi_writemsg");
    m_objects->finish_one();
}

void RawNetwork::get(void *to, std::size_t bytes) const {
    fi_context2 context{};
    ssize_t code = 0;
    do {
        code =
            fi_read(m_objects->endpoint, to, bytes, nullptr, m_objects->target, 0, kKey, &context);
        if (code == -FI_EAGAIN) look();
    } while (code == -FI_EAGAIN);
    need(static_cast<int>(code), "fi_read");
    m_objects->finish_one();
}

void RawNetwork::look() const {
    fi_cq_entry entry{};
    (void)fi_cq_read(m_objects->completions, &entry, 0);
}

}  // namespace sennit::bench
