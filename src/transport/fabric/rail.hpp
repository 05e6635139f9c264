// SPDX-License-Identifier: BSD-3-Clause
// One network card: the objects of libfabric that belong to it, four endpoints on it, and the
// memory that peers may reach through it. Owned by the transport, which holds its lock around every
// call.
//
// What is under way to or from an endpoint is ended by closing the endpoint, and by nothing else.
// So there is one for each thing that may have to be ended alone (docs/design/fabric.md):
//   incoming   receives messages; its name never changes. Where is_two_way() it sends some back
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

// A completion as the transport needs it.
struct Event {
    void *context;
    std::size_t bytes;  // of a message that was received
    int error;          // FI_*, 0: done
    bool has_data = false;
    std::uint64_t data = 0;  // that has come with a peer's put; there is no context then
};

// Memory that this rank's operations use again and again, where the provider wants to know it.
struct LentMemory {
    iovec memory{};
    fid_mr *registration = nullptr;  // null: the provider need not know it
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

    // Opens the interface with this number in the card. `peers` is how many will be named. Errors:
    // FABRIC.
    sennit_status open(const Interfaces &interfaces, unsigned interface, std::size_t peers);
    void close();
    // Is each of its connections a descriptor of this process?
    bool takes_descriptors() const { return takes_descriptors_; }
    // Is something under way from here, so that a completion is awaited?
    bool is_busy() const { return transfers_out_ != 0 || sends_out_ != 0; }

    // Operations that may be posted at a time on each endpoint, and receives. Bytes of a put or
    // get.
    std::size_t depth() const;
    std::size_t receives() const;
    std::size_t most_bytes() const;
    // What a provider says to take of that it may refuse all the same.
    std::size_t most_injected() const { return most_injected_; }
    void inject_no_more() { most_injected_ = 0; }

    // How many bits of completion data the provider says that puts bring: 0, 8, 16, 32 or 64.
    // Whether they do is another question.
    unsigned data_bits() const;
    // May some come now? Else it is looked for seldom, until some has come.
    void expect_data(bool expects) {
        expects_data_ = expects;
        data_reads_ = 0;
    }
    bool awaits_data() const { return expects_data_ || data_reads_ != 0; }

    // Of the endpoint that peers put to. Errors: FABRIC (longer than there is room, or there is
    // none because it could not be opened again).
    sennit_status passive_name(std::uint8_t name[kNameBytes]) const;
    // Of the one that messages come to.
    sennit_status message_name(std::uint8_t name[kNameBytes]) const;
    // As text, for people.
    void print(const void *name, char *out, std::size_t bytes) const;
    // Where such a name leads. Errors: FABRIC.
    sennit_status insert(const void *name, fi_addr_t *address);
    // The table forgets it; nothing that was posted to it is under way.
    void remove(fi_addr_t *address);

    // Closes the endpoint and opens a new one under another name. After OK nothing that was sent to
    // the old one can reach this rank's memory any more. Errors: FABRIC: it could not be closed,
    // and is open as before, or there is none until a later call.
    sennit_status reopen_passive();
    bool has_passive() const { return passive_.endpoint != nullptr; }
    // May messages go back by the connection that others came by, from where messages come to to
    // where those were sent from? Then both complete in one queue.
    bool is_two_way() const {
        return info_ != nullptr && one_read_drives_all_ && has_addresses() && !wants_descriptors();
    }
    // Of the endpoint that sends messages; 0: there is none, or is_two_way() is false.
    std::uint16_t port_to_send_from() const { return outgoing_port_; }
    // The endpoint of what this rank has started, or of its messages. After true no put reads a
    // private buffer any more and no get writes to one, and what was posted and has not been polled
    // never completes; where is_two_way() messages may have, and are found by poll_messages(). A
    // peer may still receive what has left. False: it is open as before.
    enum class Use : std::uint8_t { receive, send, transfer };
    bool close(Use use) { return close_endpoint(&endpoint_for(use)) == 0; }
    // Is it there? If not it is opened. To be asked before the memory for an operation is lent, and
    // before each put, get and send.
    bool make_ready(Use use);

    // Ends what this rank has started towards the name by breaking its connection, where the
    // provider has one: each of the operations then completes when it is polled.
    void cut(fi_addr_t peer);
    // How much has gone to the name and come from it by its connections; 0: nobody knows.
    std::uint64_t bytes_moved(fi_addr_t peer) const;
    // Connections by which messages come: those of `peer`, and all that were made to here.
    void limit_windows(fi_addr_t peer) const;

    // registration.cpp. What the provider asks for: that peers learn keys and places from the
    // owner; that each operation shows a descriptor of its memory; that a registration ends before
    // its endpoint.
    bool gives_keys() const;
    bool wants_descriptors() const { return (mr_mode() & FI_MR_LOCAL) != 0; }
    bool binds_memory() const { return (mr_mode() & FI_MR_ENDPOINT) != 0; }
    // Peers reach the memory from now on: under `key`, or where keys are given under that of
    // remote_key(). Errors: FABRIC.
    sennit_status expose(const iovec &memory, std::uint64_t key, fid_mr **out);
    RemoteKey remote_key(fid_mr *registration, const void *memory) const;
    // Keys that are longer than a word: how many bytes, 0 where keys are words. The owner gives the
    // bytes to peers; a peer makes a word of them for its own operations, until it forgets it.
    // 0, or an error of libfabric.
    std::size_t raw_key_bytes() const;
    int raw_key(fid_mr *registration, std::byte *raw, std::uint64_t *base) const;
    int take_raw_key(const std::byte *raw, std::uint64_t base, std::uint64_t *key);
    void forget_key(std::uint64_t key);
    // Memory for operations; it stays registered until close(), also when the endpoint is reopened.
    // 0, or an error of libfabric; so does lend_once().
    int lend(Use use, LentMemory *lent);
    // For transfers, until the caller closes it.
    int lend_once(void *memory, std::size_t bytes, fid_mr **out);

    // 0, or -FI_EAGAIN and other errors of libfabric.
    struct Transfer {
        fi_addr_t peer;
        std::uint64_t key;
        std::uint64_t offset;
        void *local;
        std::size_t bytes;
        void *context;
        void *descriptor;          // of `local`, where the provider wants one
        bool is_hint = false;      // of a put
        bool is_injected = false;  // the same: the provider copies it at once, without a descriptor
        bool has_data = false;
        std::uint64_t data = 0;
    };
    // Completes when the data is in the target's memory; a hint when it has left.
    ssize_t put(const Transfer &transfer);
    ssize_t get(const Transfer &transfer);
    // From the endpoint for sends, or back from that for receives.
    ssize_t send(Use from, fi_addr_t peer, const iovec &message, void *descriptor, void *context);
    // One of those that were sent from there has ended.
    void end_send() { sends_out_ -= std::min<std::size_t>(sends_out_, 1); }
    ssize_t receive(Use at, const iovec &room, void *descriptor, void *context);

    // Drives the provider, and reads up to `most` completions; how many. None, or less than `most`,
    // does not say that there are no more.
    std::size_t poll(Event events[], std::size_t most);

    // The same, of each queue that may have some.
    std::size_t poll_all(Event events[], std::size_t most);
    // Only what may bring completion data. *is_empty: nothing was there.
    std::size_t poll_data(Event events[], std::size_t most, bool *is_empty) {
        return read_passive(events, most, is_empty);
    }
    // The same of messages that come, and where is_two_way() of those that were sent.
    std::size_t poll_messages(Event events[], std::size_t most) {
        return read_queue(incoming_, events, most);
    }

    // Gets ready for a sleep on descriptors, which become readable when something comes, and end
    // with their endpoints. What lies in a queue that was not read since does not make them so.
    // 0: something has come, or the provider has none.
    static constexpr std::size_t kQueues = 4;
    std::size_t arm(int descriptors[kQueues]);
    // Are they ready when something has come, and then alone?
    bool are_descriptors_sure() const { return one_read_drives_all_; }

  private:
    bool find_name(fi_addr_t peer, sockaddr_in *name) const;
    sennit_status open_objects(std::uint16_t port, std::size_t peers);
    bool takes_receives() const { return (info_->mode & FI_RX_CQ_DATA) != 0; }
    bool has_room_for_data();
    void post_data_receives();
    std::size_t read_passive(Event events[], std::size_t most, bool *is_empty = nullptr);
    // Each has a queue of its own, which ends with it: a completion that lies in it would be taken
    // for one of what was posted later. Where is_two_way(), outgoing_ has that of incoming_.
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

    // What completion data may take, where the provider wants that.
    struct DataReceive {
        fi_context2 context;  // its operation's
        bool is_posted = false;
    };

    const Library *library_ = nullptr;
    fi_info *info_ = nullptr;  // of the interface
    fid_fabric *fabric_ = nullptr;
    fid_domain *domain_ = nullptr;
    fid_av *addresses_ = nullptr;
    Endpoint incoming_;
    Endpoint outgoing_;
    std::size_t sends_out_ = 0;        // that the provider has
    std::uint16_t outgoing_port_ = 0;  // where is_two_way()
    Endpoint active_;
    Endpoint passive_;
    Endpoint bell_;                         // a queue alone, where one read drives all
    DataReceive *data_receives_ = nullptr;  // [receives()]; null: the provider needs none
    bool some_are_unposted_ = false;        // of them
    bool expects_data_ = false;
    unsigned data_reads_ = 0;           // so many more look for data, since some has come
    std::size_t most_injected_ = 0;     // bytes of a put
    bool one_read_drives_all_ = false;  // endpoints of the domain
    bool takes_descriptors_ = false;
    std::size_t transfers_out_ = 0;  // on the active endpoint
    unsigned reads_ = 0;
    std::uint64_t keys_made_ = 0;
};

}  // namespace sennit::transport::fabric
