// SPDX-License-Identifier: BSD-3-Clause
// One network card: its objects of libfabric, four endpoints on it, and the memory that peers may
// reach through it. Owned by the transport, which holds its lock around every call.
//
// Only closing an endpoint ends the operations to or from it. So there is one for each kind that
// may have to be ended alone (docs/design/fabric.md):
//   incoming   receives messages; its name never changes. If is_two_way() it sends some back
//   outgoing   sends them; nobody knows its name, unless is_two_way(): then it receives some
//   active     starts puts and gets; nobody knows its name
//   passive    the target of the peers' puts and gets; starts nothing
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
struct Event {
    void *context;
    std::size_t bytes;  // of a received message
    int error;          // FI_*, 0: done
    bool has_data = false;
    std::uint64_t data = 0;  // data of a peer's put; then without a context
};

// Memory that this rank's operations reuse, if the provider must know it.
struct LentMemory {
    iovec memory{};
    fid_mr *registration = nullptr;  // null: not needed by the provider
    LentMemory *next = nullptr;      // of the same endpoint

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

    // Opens the interface with this number in the card. `peers` is the number of peers that will be
    // named. Errors: FABRIC.
    sennit_status open(const Interfaces &interfaces, unsigned interface, std::size_t peers);
    void close();
    // Whether each of its connections is a descriptor of this process.
    bool takes_descriptors() const { return takes_descriptors_; }
    // Whether an operation from here is in progress, so that a completion is awaited.
    bool is_busy() const { return transfers_out_ != 0 || sends_out_ != 0; }

    // The most operations posted at a time on each endpoint, and receives; the most bytes of a put
    // or get.
    std::size_t depth() const;
    std::size_t receives() const;
    std::size_t most_bytes() const;
    // The most bytes that a provider claims to copy; it may still refuse.
    std::size_t most_injected() const { return most_injected_; }
    void inject_no_more() { most_injected_ = 0; }

    // The bits of completion data that the provider claims for puts: 0, 8, 16, 32 or 64. Whether
    // they arrive must be tested.
    unsigned data_bits() const;
    // Sets whether data may come now. If not, it is checked rarely, until some has come.
    void expect_data(bool expects) {
        expects_data_ = expects;
        data_reads_ = 0;
    }
    bool awaits_data() const { return expects_data_ || data_reads_ != 0; }

    // The name of the endpoint for peers' puts. Errors: FABRIC (too long, or no endpoint because it
    // could not be opened again).
    sennit_status passive_name(std::uint8_t name[kNameBytes]) const;
    // The name of the endpoint for messages.
    sennit_status message_name(std::uint8_t name[kNameBytes]) const;
    // The name as text, for people.
    void print(const void *name, char *out, std::size_t bytes) const;
    // Inserts such a name into the table. Errors: FABRIC.
    sennit_status insert(const void *name, fi_addr_t *address);
    // Removes it from the table; no operation to it may be in progress.
    void remove(fi_addr_t *address);

    // Closes the endpoint and opens a new one with another name. After OK nothing that was sent to
    // the old one can reach this rank's memory any more. Errors: FABRIC: it could not be closed and
    // is open as before, or there is none until a later call.
    sennit_status reopen_passive();
    bool has_passive() const { return passive_.endpoint != nullptr; }
    // Whether messages may go back on the connection of others' messages, from the endpoint for
    // receives to the one that sent them. Then both complete in one queue.
    bool is_two_way() const {
        return info_ != nullptr && one_read_drives_all_ && has_addresses() && !wants_descriptors();
    }
    // The port of the endpoint that sends messages; 0: none, or is_two_way() is false.
    std::uint16_t port_to_send_from() const { return outgoing_port_; }
    // Closes an endpoint: of this rank's transfers, or of its messages. After true no put reads a
    // private buffer any more, no get writes to one, and unpolled operations never complete; if
    // is_two_way(), messages may have completed, and poll_messages() finds them. A peer may still
    // receive what was sent. False: open as before.
    enum class Use : std::uint8_t { receive, send, transfer };
    bool close(Use use) { return close_endpoint(&endpoint_for(use)) == 0; }
    // Whether it is open; opens it if not. Call it before memory for an operation is lent, and
    // before each put, get and send.
    bool make_ready(Use use);

    // Ends this rank's operations to the name by breaking its connection, if the provider has
    // connections: each operation then completes when polled.
    void cut(fi_addr_t peer);
    // The bytes to and from the name on its connections; 0: unknown.
    std::uint64_t bytes_moved(fi_addr_t peer) const;
    // Limits the windows of incoming connections for messages: those of `peer`, and all connections
    // to this rank.
    void limit_windows(fi_addr_t peer) const;

    // registration.cpp. The provider's requirements: that peers learn keys and places from the
    // owner; that each operation has a descriptor of its memory; that a registration ends before
    // its endpoint.
    bool gives_keys() const;
    bool wants_descriptors() const { return (mr_mode() & FI_MR_LOCAL) != 0; }
    bool binds_memory() const { return (mr_mode() & FI_MR_ENDPOINT) != 0; }
    // Exposes the memory to peers: under `key`, or under remote_key() if the provider chooses keys.
    // Errors: FABRIC.
    sennit_status expose(const iovec &memory, std::uint64_t key, fid_mr **out);
    RemoteKey remote_key(fid_mr *registration, const void *memory) const;
    // Keys that are longer than a word: their bytes, 0 if keys are words. The owner gives the bytes
    // to peers; a peer converts them to a word for its own operations, until it forgets it. 0, or
    // an error of libfabric.
    std::size_t raw_key_bytes() const;
    int raw_key(fid_mr *registration, std::byte *raw, std::uint64_t *base) const;
    int take_raw_key(const std::byte *raw, std::uint64_t base, std::uint64_t *key);
    void forget_key(std::uint64_t key);
    // Registers memory for operations until close(), also if the endpoint is reopened. 0, or an
    // error of libfabric; so does lend_once().
    int lend(Use use, LentMemory *lent);
    // Registers memory for transfers until the caller closes it.
    int lend_once(void *memory, std::size_t bytes, fid_mr **out);

    // These return 0, or -FI_EAGAIN and other errors of libfabric.
    struct Transfer {
        fi_addr_t peer;
        std::uint64_t key;
        std::uint64_t offset;
        void *local;
        std::size_t bytes;
        void *context;
        void *descriptor;      // of `local`, if the provider needs one
        bool is_hint = false;  // for a put
        bool is_injected =
            false;  // for a put: the provider copies it at once, without a descriptor
        bool has_data = false;
        std::uint64_t data = 0;
    };
    // Completes when the data is in the target's memory; a hint when sent.
    ssize_t put(const Transfer &transfer);
    ssize_t get(const Transfer &transfer);
    // Sends from the endpoint for sends, or back from the one for receives.
    ssize_t send(Use from, fi_addr_t peer, const iovec &message, void *descriptor, void *context);
    // A send from there has ended.
    void end_send() { sends_out_ -= std::min<std::size_t>(sends_out_, 1); }
    ssize_t receive(Use at, const iovec &room, void *descriptor, void *context);

    // Drives the provider and reads up to `most` completions; returns their number. Fewer than
    // `most`, or none, does not mean that there are no more.
    std::size_t poll(Event events[], std::size_t most);

    // The same for each queue that may have some.
    std::size_t poll_all(Event events[], std::size_t most);
    // Reads only the queue of completion data. *is_empty: it was empty.
    std::size_t poll_data(Event events[], std::size_t most, bool *is_empty) {
        return read_passive(events, most, is_empty);
    }
    // The same for incoming messages, and if is_two_way() for sent ones.
    std::size_t poll_messages(Event events[], std::size_t most) {
        return read_queue(incoming_, events, most);
    }

    // Prepares a sleep on descriptors, which become readable at an arrival and end with their
    // endpoints. A completion that was already in an unread queue does not make them readable. 0:
    // something has come, or the provider has none.
    static constexpr std::size_t kQueues = 4;
    std::size_t arm(int descriptors[kQueues]);
    // Whether they are readable exactly when something has come.
    bool are_descriptors_sure() const { return one_read_drives_all_; }

  private:
    bool find_name(fi_addr_t peer, sockaddr_in *name) const;
    sennit_status open_objects(std::uint16_t port, std::size_t peers);
    bool takes_receives() const { return (info_->mode & FI_RX_CQ_DATA) != 0; }
    bool has_room_for_data();
    void post_data_receives();
    std::size_t read_passive(Event events[], std::size_t most, bool *is_empty = nullptr);
    // Each has its own queue, which ends with it: a leftover completion would be taken for one of a
    // later operation. If is_two_way(), outgoing_ uses the queue of incoming_.
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
    std::size_t read_queue(const Endpoint &endpoint, Event events[], std::size_t most);

    // A receive for completion data, if the provider needs it.
    struct DataReceive {
        fi_context2 context;  // of its operation
        bool is_posted = false;
    };

    const Library *library_ = nullptr;
    fi_info *info_ = nullptr;  // the interface
    fid_fabric *fabric_ = nullptr;
    fid_domain *domain_ = nullptr;
    fid_av *addresses_ = nullptr;
    Endpoint incoming_;
    Endpoint outgoing_;
    std::size_t sends_out_ = 0;        // sends with the provider
    std::uint16_t outgoing_port_ = 0;  // if is_two_way()
    Endpoint active_;
    Endpoint passive_;
    Endpoint bell_;                         // only a queue, if one read drives all
    DataReceive *data_receives_ = nullptr;  // [receives()]; null: the provider needs none
    bool some_are_unposted_ = false;        // of these
    bool expects_data_ = false;
    unsigned data_reads_ = 0;           // remaining looks for data after some has come
    std::size_t most_injected_ = 0;     // bytes of a put that the provider copies
    bool one_read_drives_all_ = false;  // one read drives all endpoints of the domain
    bool takes_descriptors_ = false;
    std::size_t transfers_out_ = 0;  // operations on the active endpoint
    unsigned reads_ = 0;
    std::uint64_t keys_made_ = 0;
};

}  // namespace sennit::transport::fabric
