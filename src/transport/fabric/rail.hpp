// SPDX-License-Identifier: BSD-3-Clause
// One network card: its libfabric objects, with four endpoints, and registrations of memory. The
// transport owns a rail, and holds its lock around each call while the rail is in use.
//
// Only closing an endpoint ends the operations to or from it. So operations that may have to be
// ended alone have their own endpoint (docs/design/fabric.md):
//   incoming   receives messages; its name never changes
//   outgoing   sends messages; peers do not know its name
//   active     starts puts and gets; peers do not know its name
//   passive    the target of peers' puts and gets; starts nothing
//
// If is_two_way(), messages may also go back, from an incoming to an outgoing endpoint.
#pragma once

#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/fabric/interfaces.hpp"
#include "transport/fabric/keys.hpp"

namespace sennit::transport::fabric {

// A completion in the transport's form.
struct RailCompletion {
    void *context;
    std::size_t bytes;  // of a received message
    int error;          // FI_*, 0: done
    bool has_data;
    std::uint64_t data;  // completion data of a peer's put; `context` is null
};

// Memory that many operations of this rank use, registered if the provider requires it.
struct LentMemory {
    iovec memory{};
    fid_mr *registration = nullptr;  // null: not needed by the provider
    LentMemory *next = nullptr;      // next of the same endpoint

    void *descriptor() const {
        return registration != nullptr ? fi_mr_desc(registration) : nullptr;
    }
};

class Rail {
  public:
    Rail() = default;
    ~Rail() { close(); }
    Rail(const Rail &) = delete;
    Rail &operator=(const Rail &) = delete;

    // Opens the interface with this number in the card. `peers` is the expected number of inserted
    // peers. Errors: FABRIC, NOMEM.
    sennit_status open(const Interfaces &interfaces, unsigned interface, std::size_t peers);
    void close();
    // Whether each connection uses a file descriptor of this process.
    bool takes_descriptors() const { return takes_descriptors_; }
    // Whether an operation of this rank is in progress, so a completion is awaited.
    bool is_busy() const { return transfers_in_flight_ != 0 || sends_in_flight_ != 0; }

    // Limits for each endpoint: operations in progress, posted receives, bytes of a put or get.
    std::size_t depth() const;
    std::size_t receives() const;
    std::size_t most_bytes() const;
    // The most bytes of a put that the provider claims to copy at once; it may still refuse.
    std::size_t most_injected() const { return most_injected_; }
    void disable_inject() { most_injected_ = 0; }

    // The bits of completion data that the provider claims for puts: 0, 8, 16, 32 or 64. A trial
    // must show whether they arrive.
    unsigned data_bits() const;
    // Sets whether completion data is expected. If not, its queue is read rarely until data has
    // arrived.
    void expect_data(bool expects) {
        expects_data_ = expects;
        data_reads_ = 0;
    }
    bool awaits_data() const { return expects_data_ || data_reads_ != 0; }

    // The name of the passive endpoint. Errors: FABRIC (the name is too long, or there is no
    // endpoint because it could not be opened again).
    sennit_status passive_name(std::uint8_t name[kNameBytes]) const;
    // The name of the incoming endpoint.
    sennit_status message_name(std::uint8_t name[kNameBytes]) const;
    // The name as text, for people.
    void print(const void *name, char *out, std::size_t bytes) const;
    // Inserts a name into the address table. Errors: FABRIC.
    sennit_status insert(const void *name, fi_addr_t *address);
    // Removes an address from the table; no operation to it may be in progress.
    void remove(fi_addr_t *address);

    // Closes the passive endpoint and opens a new one, possibly with the same name. After OK
    // nothing sent to the old one can reach this rank's memory. Errors: FABRIC: the old one is
    // still open, or there is no passive endpoint until a later call.
    sennit_status reopen_passive();
    bool has_passive() const { return passive_.endpoint != nullptr; }
    // Whether messages to a peer may go back on the connection that the peer made, from this rank's
    // incoming to the peer's outgoing endpoint. Then incoming and outgoing share one queue.
    bool is_two_way() const {
        return info_ != nullptr && one_read_drives_all_ && has_addresses() && !wants_descriptors();
    }
    // The port of the outgoing endpoint; 0: none, or is_two_way() is false.
    std::uint16_t port_to_send_from() const { return outgoing_port_; }
    // Closes the endpoint for transfers or for messages. Returns false if it is still open. After
    // true the endpoint's puts and gets no longer access this rank's buffers, and no further
    // completion is read; exception: if is_two_way(), poll_messages() may return some. A peer may
    // still receive data that was sent before.
    enum class Use : std::uint8_t { receive, send, transfer };
    bool close(Use use) { return close_endpoint(&endpoint_for(use)) == 0; }
    // Opens the endpoint if it is closed. False: that failed. Call this before memory for an
    // operation is lent, and before each put, get and send.
    bool make_ready(Use use);

    // Breaks the TCP connections to the address, if the provider has any. The operations on them
    // then complete when polled.
    void cut(fi_addr_t peer);
    // The bytes moved to and from the address on its connections; 0: unknown.
    std::uint64_t bytes_moved(fi_addr_t peer) const;
    // Limits the TCP windows of message connections: those to `peer`, and those to this rank.
    void limit_windows(fi_addr_t peer) const;

    // registration.cpp. Requirements of the provider. gives_keys(): the owner sends keys and bases
    // to peers. wants_descriptors(): each operation has a descriptor of its memory. binds_memory():
    // a registration belongs to an endpoint and ends before it.
    bool gives_keys() const;
    bool wants_descriptors() const { return (mr_mode() & FI_MR_LOCAL) != 0; }
    bool binds_memory() const { return (mr_mode() & FI_MR_ENDPOINT) != 0; }
    // Exposes memory to peers: under `key`, or under remote_key() if the provider chooses keys.
    // Errors: FABRIC.
    sennit_status expose(const iovec &memory, std::uint64_t key, fid_mr **out);
    RemoteKey remote_key(fid_mr *registration, const void *memory) const;
    // Keys longer than 8 bytes. raw_key_bytes() is their length, or 0 if keys are shorter. The
    // owner reads a key by raw_key() and sends it to peers. A peer maps it to a number for its own
    // operations, until forget_key(). raw_key() and map_raw_key() return 0 or an error of
    // libfabric.
    std::size_t raw_key_bytes() const;
    int raw_key(fid_mr *registration, std::byte *raw, std::uint64_t *base) const;
    int map_raw_key(const std::byte *raw, std::uint64_t base, std::uint64_t *key);
    void forget_key(std::uint64_t key);
    // Registers memory for operations until close(); it stays registered when the endpoint is
    // reopened. lend() and lend_once() return 0, or an error of libfabric.
    int lend(Use use, LentMemory *lent);
    // Registers memory for transfers until the caller closes it.
    int lend_once(void *memory, std::size_t bytes, fid_mr **out);

    // put(), get(), send() and receive() return 0 or an error of libfabric, such as -FI_EAGAIN.
    struct Transfer {
        fi_addr_t peer;
        std::uint64_t key;
        std::uint64_t offset;
        void *local;
        std::size_t bytes;
        void *context;
        void *descriptor;          // of `local`, if the provider needs one
        bool is_hint = false;      // for a put: see Operation
        bool is_injected = false;  // for a put: the provider copies it at once
        bool has_data = false;
        std::uint64_t data = 0;
    };
    // A put completes when its data is in the target's memory; a hint completes when it is sent.
    ssize_t put(const Transfer &transfer);
    ssize_t get(const Transfer &transfer);
    // Sends from the outgoing endpoint, or back from the incoming one.
    ssize_t send(Use from, fi_addr_t peer, const iovec &message, void *descriptor, void *context);
    // Call this when a send from the outgoing endpoint has completed.
    void end_send() { sends_in_flight_ -= std::min<std::size_t>(sends_in_flight_, 1); }
    ssize_t receive(Use at, const iovec &room, void *descriptor, void *context);

    // Drives the provider, reads up to `most` completions, and returns their number. More may be
    // left even if it returns less than `most`.
    std::size_t poll(RailCompletion completions[], std::size_t most);

    // Like poll(), but reads each queue in which a completion is expected.
    std::size_t poll_all(RailCompletion completions[], std::size_t most);
    // Reads only the queue of completion data. *is_empty: the queue was empty.
    std::size_t poll_data(RailCompletion completions[], std::size_t most, bool *is_empty) {
        return read_passive(completions, most, is_empty);
    }
    // Reads only the queue of received messages, which has the sent ones too if is_two_way().
    std::size_t poll_messages(RailCompletion completions[], std::size_t most) {
        return read_queue(incoming_, completions, most);
    }

    // Prepares a sleep: stores descriptors that become readable at an arrival, and returns their
    // number. 0: the provider has none, or something has arrived. A completion that is already in a
    // queue may not make them readable. Descriptors are closed with endpoints, and by disarm().
    static constexpr std::size_t kQueues = 4;
    std::size_t arm(int descriptors[kQueues]);
    // Closes the queue that arm() opens for a sleep. While this queue is open, the provider also
    // reports each arrival to it, which takes 0.15 us (measured between two namespaces of a host).
    // To open it again takes 20 us.
    void disarm();
    // Whether the descriptors are readable exactly when something has arrived.
    bool are_descriptors_exact() const { return one_read_drives_all_; }

  private:
    bool find_name(fi_addr_t peer, sockaddr_in *name) const;
    sennit_status open_objects(std::uint16_t port, std::size_t peers);
    bool takes_receives() const { return (info_->mode & FI_RX_CQ_DATA) != 0; }
    bool has_room_for_data();
    void post_data_receives();
    std::size_t read_passive(RailCompletion completions[], std::size_t most,
                             bool *is_empty = nullptr);
    // Each endpoint has its own queue, which is closed with the endpoint: a completion left in the
    // queue could be taken for that of a later operation. Exception: if is_two_way(), outgoing_
    // uses the queue of incoming_.
    struct Endpoint {
        fid_ep *endpoint = nullptr;
        fid_cq *completions = nullptr;
        int descriptor = -1;
        LentMemory *lent = nullptr;
    };
    bool has_addresses() const { return info_->addr_format == FI_SOCKADDR_IN; }
    sennit_status name_of(const Endpoint &endpoint, std::uint8_t name[kNameBytes]) const;
    int mr_mode() const;
    bool has_room_for_keys() const;
    std::uint64_t new_key();
    Endpoint &endpoint_for(Use use);
    int register_memory(const Endpoint &endpoint, const iovec &memory, std::uint64_t access,
                        std::uint64_t key, fid_mr **out);
    int register_lent(const Endpoint &endpoint, LentMemory *lent);
    int lend_again(const Endpoint &endpoint);
    static void end_lent(Endpoint *endpoint);
    const Endpoint &next_read();
    ssize_t note_posted(ssize_t code);
    static int find_port(const Endpoint &endpoint, std::uint16_t *port);
    int open_queue(fi_wait_obj wait, Endpoint *out);
    sennit_status open_endpoint(Endpoint *out);
    void end_unread(const Endpoint &endpoint);
    int close_endpoint(Endpoint *endpoint);
    void drop_endpoint(Endpoint *endpoint);
    std::size_t read_queue(const Endpoint &endpoint, RailCompletion completions[],
                           std::size_t most);

    // A receive for completion data, if the provider needs it.
    struct DataReceive {
        fi_context2 context;
        bool is_posted = false;
    };

    const Library *library_ = nullptr;
    fi_info *info_ = nullptr;  // the interface
    fid_fabric *fabric_ = nullptr;
    fid_domain *domain_ = nullptr;
    fid_av *addresses_ = nullptr;
    Endpoint incoming_;
    Endpoint outgoing_;
    std::size_t sends_in_flight_ = 0;  // sends of outgoing_ that have not completed
    std::uint16_t outgoing_port_ = 0;  // if is_two_way()
    Endpoint active_;
    Endpoint passive_;
    Endpoint bell_;                         // only a queue for sleeps, if one read drives all
    DataReceive *data_receives_ = nullptr;  // [receives()]; null: the provider needs none
    bool some_are_unposted_ = false;        // of data_receives_
    bool expects_data_ = false;
    unsigned data_reads_ = 0;           // reads of the data queue still to do; see kDataReads
    std::size_t most_injected_ = 0;     // bytes of a put that the provider copies
    bool one_read_drives_all_ = false;  // one read drives all endpoints of the domain
    bool takes_descriptors_ = false;
    std::size_t transfers_in_flight_ = 0;  // operations posted on the active endpoint
    unsigned reads_ = 0;
    std::uint64_t keys_made_ = 0;
};

}  // namespace sennit::transport::fabric
