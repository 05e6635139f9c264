// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/rail.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/log.hpp"
#include "transport/fabric/cut.hpp"

namespace sennit::transport::fabric {
namespace {

// While transfers are in progress, one of this many polls reads a given queue of messages. One of
// kAllEvery polls reads all queues.
constexpr unsigned kTurns = 4;
constexpr unsigned kAllEvery = 64;
// After completion data has arrived, polls also read its queue, until this many reads found
// nothing.
constexpr unsigned kDataReads = 1u << 16;
constexpr std::size_t kMostDepth = 2048;
// The most addresses that a provider is asked to make room for: it writes to all of the room.
constexpr std::size_t kNames = 256;

sennit_status failed(const Library &library, int code, const char *what) {
    return fail_call(SENNIT_ERR_FABRIC, library, code, "%s", what);
}

}  // namespace

sennit_status Rail::open_objects(std::uint16_t port, std::size_t peers) {
    int code = library_->fabric(info_->fabric_attr, &fabric_, nullptr);
    if (code != 0) return failed(*library_, code, "fi_fabric");
    code = fi_domain(fabric_, info_, &domain_, nullptr);
    if (code != 0) return failed(*library_, code, "fi_domain");
    fi_av_attr table{};
    table.type = FI_AV_UNSPEC;
    table.count = std::min(peers, kNames);
    code = fi_av_open(domain_, &table, &addresses_, nullptr);
    if (code != 0) return failed(*library_, code, "fi_av_open");
    // Peers know only the port of the incoming endpoint.
    auto *const own = has_addresses() ? static_cast<sockaddr_in *>(info_->src_addr) : nullptr;
    if (own != nullptr) own->sin_port = port;
    sennit_status status = open_endpoint(&incoming_);
    if (own != nullptr) own->sin_port = 0;
    if (status == SENNIT_OK) status = open_endpoint(&outgoing_);
    if (status == SENNIT_OK) status = open_endpoint(&active_);
    if (status == SENNIT_OK) status = open_endpoint(&passive_);
    return status;
}

int Rail::open_queue(fi_wait_obj wait, Endpoint *out) {
    fi_cq_attr wanted{};
    wanted.size = depth() + receives();  // room for every possible completion
    if (out == &incoming_ && is_two_way()) wanted.size *= 2;
    wanted.format = FI_CQ_FORMAT_DATA;
    wanted.wait_obj = wait;
    const int code = fi_cq_open(domain_, &wanted, &out->completions, nullptr);
    out->descriptor = -1;
    if (code == 0 && wait == FI_WAIT_FD &&
        fi_control(&out->completions->fid, FI_GETWAIT, &out->descriptor) != 0)
        out->descriptor = -1;
    return code;
}

// With `net` and `tcp`, the descriptor of each queue reports arrivals for the whole domain, and
// stays readable after a completion. So only bell_, a queue without an endpoint, has a descriptor
// there.
sennit_status Rail::open_endpoint(Endpoint *out) {
    int code = -FI_ENOSYS;
    if (!one_read_drives_all_) code = open_queue(FI_WAIT_FD, out);
    if (out == &outgoing_ && is_two_way()) {
        out->completions = incoming_.completions;
        code = 0;
    }
    if (code != 0) code = open_queue(FI_WAIT_NONE, out);
    if (code == 0) code = fi_endpoint(domain_, info_, &out->endpoint, nullptr);
    if (code == 0) code = fi_ep_bind(out->endpoint, &addresses_->fid, 0);
    if (code == 0) code = fi_ep_bind(out->endpoint, &out->completions->fid, FI_TRANSMIT | FI_RECV);
    if (code == 0) code = fi_enable(out->endpoint);
    if (code == 0) code = lend_again(*out);
    if (code == 0 && out == &passive_) {
        some_are_unposted_ = data_receives_ != nullptr;
        for (std::size_t i = 0; i < receives() && some_are_unposted_; ++i)
            data_receives_[i].is_posted = false;
        post_data_receives();
    }
    if (code == 0 && out == &outgoing_ && is_two_way()) code = find_port(*out, &outgoing_port_);
    if (code == 0) return SENNIT_OK;
    drop_endpoint(out);
    return failed(*library_, code, "an endpoint");
}

int Rail::find_port(const Endpoint &endpoint, std::uint16_t *port) {
    sockaddr_in name{};
    std::size_t bytes = sizeof name;
    const int code = fi_getname(&endpoint.endpoint->fid, &name, &bytes);
    *port = code == 0 ? name.sin_port : 0;
    return code;
}

// Ends connections to the endpoint from which nothing was read: if their first bytes arrived after
// the close, `net` and `tcp` would access the closed endpoint.
void Rail::end_unread(const Endpoint &endpoint) {
    constexpr int kMostReads = 1000;  // peers may reconnect repeatedly meanwhile
    sockaddr_in name{};
    std::size_t bytes = sizeof name;
    if (endpoint.endpoint == nullptr || !has_addresses() ||
        fi_getname(&endpoint.endpoint->fid, &name, &bytes) != 0)
        return;
    for (int reads = 0; reads < kMostReads && cut_unread(name); ++reads)
        (void)fi_cq_read(endpoint.completions, nullptr, 0);  // drives the provider, reads nothing
}

// An endpoint that stays open keeps its operations and its queue.
int Rail::close_endpoint(Endpoint *endpoint) {
    end_unread(*endpoint);
    if (binds_memory()) end_lent(endpoint);
    const int code = close_object(&endpoint->endpoint);
    if (code != 0) {
        log(SENNIT_LOG_WARNING, "libfabric does not end an endpoint now: %s",
            library_->strerror(-code));
        (void)lend_again(*endpoint);
        return code;
    }
    if (endpoint == &outgoing_ && is_two_way()) endpoint->completions = nullptr;
    if (endpoint == &outgoing_) outgoing_port_ = 0;
    drop_object(&endpoint->completions, "a queue");
    endpoint->descriptor = -1;
    if (endpoint == &active_) transfers_in_flight_ = 0;
    if (endpoint == &outgoing_) sends_in_flight_ = 0;
    return 0;
}

void Rail::drop_endpoint(Endpoint *endpoint) {
    if (close_endpoint(endpoint) == 0) return;
    if (binds_memory()) end_lent(endpoint);
    *endpoint = Endpoint{nullptr, nullptr, -1, endpoint->lent};
}

bool Rail::make_ready(Use use) {
    Endpoint &endpoint = endpoint_for(use);
    return endpoint.endpoint != nullptr || open_endpoint(&endpoint) == SENNIT_OK;
}

sennit_status Rail::reopen_passive() {
    const int code = close_endpoint(&passive_);
    return code == 0 ? open_endpoint(&passive_) : failed(*library_, code, "the end of an endpoint");
}

sennit_status Rail::open(const Interfaces &interfaces, unsigned interface, std::size_t peers) {
    library_ = &interfaces.library();
    info_ = interfaces.info(interface);
    most_injected_ = info_->tx_attr->inject_size;
    const char *const provider = info_->fabric_attr->prov_name;
    one_read_drives_all_ = is_of_sockets(*info_);
    takes_descriptors_ = one_read_drives_all_ || std::strcmp(provider, "tcp;ofi_rxm") == 0 ||
                         std::strcmp(provider, "sockets") == 0;
    if (!has_room_for_data()) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    return open_objects(interfaces.port(), peers);
}

// Allocates one receive for each completion of data that can be outstanding.
bool Rail::has_room_for_data() {
    if (!takes_receives()) return true;
    data_receives_ = static_cast<DataReceive *>(std::calloc(receives(), sizeof(DataReceive)));
    return data_receives_ != nullptr;
}

void Rail::close() {
    for (Endpoint *endpoint : {&passive_, &active_, &outgoing_, &incoming_}) {
        drop_endpoint(endpoint);
        end_lent(endpoint);
        endpoint->lent = nullptr;
    }
    std::free(data_receives_);
    data_receives_ = nullptr;
    disarm();
    drop_object(&addresses_, "a table of addresses");
    drop_object(&domain_, "a domain");
    drop_object(&fabric_, "a fabric");
    info_ = nullptr;  // owned by the interfaces
}

// Limits the depth, since psm3 and opx report no limit.
std::size_t Rail::depth() const {
    return std::clamp<std::size_t>(info_->tx_attr->size, 1, kMostDepth);
}

std::size_t Rail::receives() const {
    return std::clamp<std::size_t>(info_->rx_attr->size, 1, kMostDepth);
}

// Rounds to whole pages, so that no piece ends within a word.
std::size_t Rail::most_bytes() const {
    constexpr std::size_t kPageBytes = 4096;
    return std::max(info_->ep_attr->max_msg_size / kPageBytes, std::size_t{1}) * kPageBytes;
}

sennit_status Rail::name_of(const Endpoint &endpoint, std::uint8_t name[kNameBytes]) const {
    std::memset(name, 0, kNameBytes);
    if (endpoint.endpoint == nullptr) return failed(*library_, -FI_EOPBADSTATE, "no endpoint");
    std::size_t bytes = kNameBytes;
    const int code = fi_getname(&endpoint.endpoint->fid, name, &bytes);
    return code == 0 ? SENNIT_OK : failed(*library_, code, "fi_getname");
}

sennit_status Rail::passive_name(std::uint8_t name[kNameBytes]) const {
    return name_of(passive_, name);
}

sennit_status Rail::message_name(std::uint8_t name[kNameBytes]) const {
    return name_of(incoming_, name);
}

void Rail::print(const void *name, char *out, std::size_t bytes) const {
    std::size_t room = bytes;
    (void)fi_av_straddr(addresses_, name, out, &room);
    out[bytes - 1] = '\0';
}

sennit_status Rail::insert(const void *name, fi_addr_t *address) {
    const int count = fi_av_insert(addresses_, name, 1, address, 0, nullptr);
    return count == 1 ? SENNIT_OK
                      : failed(*library_, count < 0 ? count : -FI_EINVAL, "fi_av_insert");
}

void Rail::remove(fi_addr_t *address) {
    (void)fi_av_remove(addresses_, address, 1, 0);
    *address = FI_ADDR_UNSPEC;
}

// Cuts the connection instead of closing the endpoint. If an endpoint is closed while the answer to
// a get arrives, `net`, `tcp` and `tcp;ofi_rxm` of libfabric 1.17 free the get's record twice.
void Rail::cut(fi_addr_t peer) {
    if (!has_addresses()) return;
    sockaddr_in name{};
    if (find_name(peer, &name)) cut_connections(name);
}

std::uint64_t Rail::bytes_moved(fi_addr_t peer) const {
    sockaddr_in name{};
    return find_name(peer, &name) ? bytes_of_connections(name) : 0;
}

void Rail::limit_windows(fi_addr_t peer) const {
    if (!has_addresses()) return;
    sockaddr_in own{};
    sockaddr_in there{};
    std::size_t bytes = sizeof own;
    (void)fi_getname(&incoming_.endpoint->fid, &own, &bytes);
    (void)find_name(peer, &there);
    fabric::limit_windows(own, there);
}

// Returns false if there is no such address, or its name is not an IPv4 address.
bool Rail::find_name(fi_addr_t peer, sockaddr_in *name) const {
    std::size_t bytes = sizeof *name;
    return peer != FI_ADDR_UNSPEC && fi_av_lookup(addresses_, peer, name, &bytes) == 0 &&
           bytes == sizeof *name;
}

ssize_t Rail::note_posted(ssize_t code) {
    if (code == 0) ++transfers_in_flight_;
    return code;
}

ssize_t Rail::put(const Transfer &transfer) {
    const iovec local{transfer.local, transfer.bytes};
    const fi_rma_iov there{transfer.offset, transfer.bytes, transfer.key};
    fi_msg_rma message{};
    message.msg_iov = &local;
    void *descriptor = transfer.descriptor;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = transfer.peer;
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = transfer.context;
    message.data = transfer.data;
    // By default a put completes when it is sent, not when it has arrived.
    const std::uint64_t arrival = transfer.is_hint ? 0 : FI_DELIVERY_COMPLETE;
    const std::uint64_t more =
        (transfer.has_data ? FI_REMOTE_CQ_DATA : 0) | (transfer.is_injected ? FI_INJECT : 0);
    return note_posted(fi_writemsg(active_.endpoint, &message, arrival | more | FI_COMPLETION));
}

ssize_t Rail::get(const Transfer &transfer) {
    return note_posted(fi_read(active_.endpoint, transfer.local, transfer.bytes,
                               transfer.descriptor, transfer.peer, transfer.offset, transfer.key,
                               transfer.context));
}

ssize_t Rail::send(Use from, fi_addr_t peer, const iovec &message, void *descriptor,
                   void *context) {
    const ssize_t code = fi_send(endpoint_for(from).endpoint, message.iov_base, message.iov_len,
                                 descriptor, peer, context);
    if (code == 0 && from == Use::send) ++sends_in_flight_;
    return code;
}

ssize_t Rail::receive(Use at, const iovec &room, void *descriptor, void *context) {
    return fi_recv(endpoint_for(at).endpoint, room.iov_base, room.iov_len, descriptor,
                   FI_ADDR_UNSPEC, context);
}

std::size_t Rail::read_queue(const Endpoint &endpoint, RailCompletion completions[],
                             std::size_t most) {
    constexpr std::size_t kBatch = 16;
    fi_cq_data_entry entries[kBatch];
    if (endpoint.completions == nullptr || most == 0) return 0;
    const ssize_t result = fi_cq_read(endpoint.completions, entries, std::min(most, kBatch));
    const auto count = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
    // Some providers also set the flag at the sender of the data.
    const bool is_passive = &endpoint == &passive_;
    for (std::size_t i = 0; i < count; ++i)
        completions[i] = RailCompletion{entries[i].op_context, entries[i].len, 0,
                                        is_passive && (entries[i].flags & FI_REMOTE_CQ_DATA) != 0,
                                        entries[i].data};
    std::size_t over = count;
    if (result == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        if (fi_cq_readerr(endpoint.completions, &error, 0) <= 0) return 0;
        const int code = error.err != 0 ? error.err : FI_EIO;
        completions[0] = RailCompletion{error.op_context, 0, code, false, 0};
        over = 1;
    }
    if (&endpoint == &active_) transfers_in_flight_ -= std::min(over, transfers_in_flight_);
    return over;
}

// The receives have no memory: only completion data uses them. Data without a receive waits at its
// sender.
void Rail::post_data_receives() {
    if (!some_are_unposted_) return;
    some_are_unposted_ = false;
    for (std::size_t i = 0; i < receives(); ++i) {
        DataReceive &each = data_receives_[i];
        if (!each.is_posted)
            each.is_posted =
                fi_recv(passive_.endpoint, nullptr, 0, nullptr, FI_ADDR_UNSPEC, &each.context) == 0;
        some_are_unposted_ = some_are_unposted_ || !each.is_posted;
    }
}

// In this queue only receives of data complete. A receive may complete twice.
std::size_t Rail::read_passive(RailCompletion completions[], std::size_t most, bool *is_empty) {
    const std::size_t count = read_queue(passive_, completions, most);
    if (is_empty != nullptr) *is_empty = count == 0;
    if (count == 0 && data_reads_ != 0) --data_reads_;
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (takes_receives()) {
            auto *const taken = static_cast<DataReceive *>(completions[i].context);
            if (taken == nullptr || !taken->is_posted) continue;
            taken->is_posted = false;
            some_are_unposted_ = true;
        }
        completions[i].context = nullptr;
        if (completions[i].has_data) data_reads_ = kDataReads;
        completions[left++] = completions[i];
    }
    post_data_receives();
    return left;
}

// Reading an empty queue drives the provider and costs a system call. So if one read drives all
// endpoints, a poll reads only one of these queues, besides the queue of completion data.
const Rail::Endpoint &Rail::next_read() {
    const unsigned turn = reads_++ % kTurns;
    if (turn == 1 && sends_in_flight_ != 0 && !is_two_way()) return outgoing_;
    return turn != 0 && transfers_in_flight_ != 0 ? active_ : incoming_;
}

std::size_t Rail::poll(RailCompletion completions[], std::size_t most) {
    if (!one_read_drives_all_ || reads_ % kAllEvery == 0) return poll_all(completions, most);
    const std::size_t count = awaits_data() ? read_passive(completions, most) : 0;
    return count + read_queue(next_read(), completions + count, most - count);
}

// If one read drives all, a queue in which no completion is expected is rarely read. Completion
// data and messages may arrive at any time, so their queues are always read. The last read may
// drive a completion into another queue; the next poll reads it.
std::size_t Rail::poll_all(RailCompletion completions[], std::size_t most) {
    const bool each = !one_read_drives_all_ || reads_++ % kAllEvery == 0;
    std::size_t count = read_passive(completions, most);
    if (!is_two_way() && (each || sends_in_flight_ != 0))
        count += read_queue(outgoing_, completions + count, most - count);
    if (each || transfers_in_flight_ != 0)
        count += read_queue(active_, completions + count, most - count);
    return count + read_queue(incoming_, completions + count, most - count);
}

std::size_t Rail::arm(int descriptors[kQueues]) {
    if (one_read_drives_all_ && bell_.completions == nullptr) (void)open_queue(FI_WAIT_FD, &bell_);
    fid *queues[kQueues];
    std::size_t count = 0;
    const Endpoint *const all[] = {&bell_, &incoming_, &outgoing_, &active_, &passive_};
    const std::span sleepers(all);
    for (const Endpoint *sleeper : one_read_drives_all_ ? sleepers.first(1) : sleepers.subspan(1)) {
        if (sleeper->descriptor < 0) return 0;
        descriptors[count] = sleeper->descriptor;
        queues[count++] = &sleeper->completions->fid;
    }
    return fi_trywait(fabric_, queues, static_cast<int>(count)) == 0 ? count : 0;
}

void Rail::disarm() {
    drop_object(&bell_.completions, "a queue");
    bell_.descriptor = -1;
}

unsigned Rail::data_bits() const {
    const std::size_t bytes = std::min<std::size_t>(info_->domain_attr->cq_data_size, 8);
    return static_cast<unsigned>(8 * std::bit_floor(bytes));
}

}  // namespace sennit::transport::fabric
