// A test library between Sennit and libfabric. It has libfabric's name and is found first
// (LD_LIBRARY_PATH). It opens the real library and checks the calls that Sennit makes against
// rules: registration modes that no provider on this machine needs, and completions as other
// networks give them. A call that breaks a rule is refused with a provider's error, and the rule is
// named on stderr.
//
//     FABRIC_LAYER=mr=local+virt+prov_key+endpoint+allocated+raw+mmu_notify,key_size=N,context,context2,rx_cq_data,
//                  cq_data=N,enosys=CALL+CALL,again=N,connect_ms=N,reorder,delay_us=N,lose=N,repeat=N,garble=N,
//                  unopened=N,unclosed=N,unlent=N,hints=N,names=PROVIDER,network=NAME,cards=N,barred,
//                  no_sends=FILE,no_transfers=FILE,no_closes=FILE,drop=NAME,no_data,data_bits=N,seed=N
//
//     mr          registration modes that fi_getinfo reports besides the provider's; virt is the
//                 provider's work, and ofi_rxm does not support it
//     key_size    bytes of a key, 1 to 8; with raw up to 64
//     context     operations need a fi_context; with context2 a fi_context2
//     async_iov   lists of memory must stay until the operation ends
//     rx_cq_data  data that comes with a put takes a posted receive
//     cq_data     bytes of completion data
//     enosys      calls that do not exist: writedata, write, ...; `data`: all calls with data;
//                 `inject`: all calls that return the memory to the program at once
//     again       one of N posted operations finds no room
//     connect_ms  all operations of an endpoint find no room for N ms after the first try
//     reorder     completions come in another order
//     delay_us    each completion comes up to N us later
//     lose        one of N completions of puts and gets never comes
//     repeat      one of N completions comes twice; those of data only if data takes a receive
//     garble      one of N messages has some of its first 8 bytes changed, or is cut short
//     unopened    one of N endpoints of a domain after the first four cannot be opened
//     unclosed    one of N closings of an endpoint finds it in use
//     names       adds a provider of that name whose endpoints have names instead of IP addresses;
//                 `net` or `tcp` on the loopback interface carries its data
//     network     name of the network of these cards; default: the provider's name
//     cards       number of these cards, all on one network; 200 Gbit/s, at 0000:00:03.0 and lower
//     barred      endpoints of these cards may not be opened
//     unlent      one of N registrations that are only for puts and gets finds no memory
//     hints       one of N puts without delivery completion completes and never arrives
//     no_sends, no_transfers  while this file exists, posted operations are taken and nothing
//                 happens
//     no_closes   while this file exists, each closing of an endpoint finds it in use
//     drop        puts by the interface or card of that name complete, and their bytes are lost
//     no_data     puts with data arrive without the data
//     data_bits   only N bits of the data arrive, though the provider promises more
//
// A program that opens another domain may change FABRIC_LAYER before: each fi_getinfo reads it.
// Passing here does not replace a test on a card: the rules come from the manual pages, and the
// data still goes by a provider that needs none of them.
//
// There is one lock. Objects of libfabric are the provider's own, with the layer's tables of
// functions; registrations are the layer's own, since a provider may not know a registration before
// it is enabled.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace layer {

struct Settings {
    int mr_mode = 0;
    std::uint64_t mode = 0;
    std::size_t key_bytes = 8;
    std::size_t data_bytes = 8;
    std::set<std::string> missing;  // calls
    unsigned again = 0;             // one in N fails, 0: none
    std::int64_t connect_ms = 0;
    bool reorders = false;
    std::int64_t delay_us = 0;
    unsigned lose = 0;
    unsigned repeat = 0;
    unsigned garble = 0;
    unsigned unopened = 0;
    unsigned unclosed = 0;
    unsigned unlent = 0;
    unsigned hints = 0;
    std::string names;    // of a provider; "": none
    std::string network;  // of its cards; "": the provider's name
    unsigned cards = 1;
    bool is_barred = false;
    std::uint64_t seed = 1;
    std::string no_sends;  // these three are names of files
    std::string no_transfers;
    std::string no_closes;
    std::string drop;  // name of an interface
    unsigned data_bits = 64;

    bool changes_completions() const {
        return reorders || delay_us != 0 || lose != 0 || repeat != 0;
    }
};
// False if the text has an unknown word.
bool read_settings(const char *text, Settings *out);

// Registered memory.
struct Registration {
    fid_mr mr{};  // the first member: the program has its address
    fi_ops ops{};
    fid_domain *domain = nullptr;
    fid_ep *bound = nullptr;
    fid_mr *real = nullptr;  // null before it is enabled
    std::byte *memory = nullptr;
    std::size_t bytes = 0;
    std::uint64_t access = 0;
    std::uint64_t requested = 0;  // the key that was asked for
    std::uint64_t key = 0;        // the provider's key; the program's may differ
    std::uint64_t flags = 0;
};

// An operation that was posted and has not completed.
struct Posted {
    enum class Kind : std::uint8_t { receive, send, transfer };
    Kind kind;
    std::byte *memory;  // the memory of a receive
    std::vector<Registration *> uses;
    bool is_taken = false;  // a receive that data has taken
};

struct Endpoint {
    fid_ep *object;
    fid_domain *domain;
    std::vector<fid_cq *> queues;
    std::multimap<void *, Posted> posted;  // by context
    std::int64_t first_try_us = 0;
    fi_ops ops;
    fi_ops *real;
    fi_ops_msg messages;
    fi_ops_msg *real_messages;
    fi_ops_rma transfers;
    fi_ops_rma *real_transfers;
    fi_ops_cm connections;
    fi_ops_cm *real_connections;
};

// A table of addresses.
struct Table {
    fi_ops ops;
    fi_ops *real;
    fi_ops_av calls;
    fi_ops_av *real_calls;
};

struct Completion {
    fi_cq_tagged_entry entry;
    fi_cq_err_entry error;
    bool is_error;
    bool comes_twice;
    std::int64_t ready_us;
};

struct Queue {
    fid_cq *object;
    std::size_t entry_bytes;
    std::vector<Completion> waiting;
    std::deque<Completion> failed;  // readerr returns the first one
    std::set<void *> taken;         // receives that data has taken: the provider has cancelled them
    fi_ops ops;
    fi_ops *real;
    fi_ops_cq calls;
    fi_ops_cq *real_calls;
};

struct Domain {
    fid_domain *object;
    Settings settings;                                   // as read by the fi_getinfo before it
    std::map<std::uint64_t, std::uint64_t> mapped_keys;  // raw keys of peers
    std::uint64_t last_mapped = 0;
    unsigned endpoints = 0;  // endpoints opened so far
    bool has_names = false;  // its endpoints have names instead of addresses
    std::string name;
    fi_ops ops;
    fi_ops *real;
    fi_ops_domain calls;
    fi_ops_domain *real_calls;
    fi_ops_mr registering;
    fi_ops_mr *real_registering;
};

struct Fabric {
    fi_ops_fabric calls;
    fi_ops_fabric *real_calls;
};

struct Layer {
    std::recursive_mutex lock;
    Settings settings;
    std::mt19937_64 draw{1};
    std::map<fid_fabric *, Fabric> fabrics;
    std::map<fid_domain *, Domain> domains;
    std::map<fid_cq *, Queue> queues;
    std::map<fid_ep *, Endpoint> endpoints;
    std::map<fid_mr *, std::unique_ptr<Registration>> registrations;
    std::map<fid_av *, Table> tables;
    std::map<std::string, fi_info *> cards;  // the real card, by the name of its domain
    std::set<std::uint64_t> given_keys;
    // Counts that are printed at the end.
    unsigned long posts = 0, agains = 0, reordered = 0, delayed = 0, lost = 0, repeated = 0;
    unsigned long garbled = 0, swallowed = 0;
    unsigned long keys = 0, descriptors = 0, names = 0, refused = 0, broken = 0;

    bool one_in(unsigned count) { return count != 0 && draw() % count == 0; }
    bool refuses(unsigned one_in_so_many) {
        const bool does = one_in(one_in_so_many);
        refused += does;
        return does;
    }
};
Layer &it();
std::int64_t now_us();

// Guards each call of the program. Providers call each other, and themselves, by the same tables.
class Guard {
  public:
    Guard() { it().lock.lock(), ++depth_; }
    ~Guard() { --depth_, it().lock.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    bool is_of_provider() const { return depth_ > 1; }

  private:
    static int depth_;
};

// Says which rule was broken, and returns the error.
int broken(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Copies the table of functions of an object. The provider's may have another version and length.
template <class Table>
void copy_table(const Table *from, Table *to) {
    *to = Table{};
    std::memcpy(to, from, std::min(from->size, sizeof *to));
    to->size = sizeof *to;
}

// Refuses a call that the layer does not check, so that it cannot bypass the rules.
template <std::size_t kBytes>
struct Name {
    char text[kBytes];
    constexpr Name(const char (&from)[kBytes]) { std::copy_n(from, kBytes, text); }
};
template <Name kName, class Result, class... Words>
void refuse(Result (**entry)(Words...)) {
    *entry = [](Words...) {
        return static_cast<Result>(broken(-FI_ENOSYS, "the layer does not know %s", kName.text));
    };
}

template <class Object>
Object *object_of(fid *object) {
    return reinterpret_cast<Object *>(object);
}

int real_getinfo(std::uint32_t version, const char *node, const char *service, std::uint64_t flags,
                 const fi_info *hints, fi_info **out);
void wrap_domain(fid_domain *object, const Settings &settings, const fi_info &info);
void wrap_endpoint(fid_ep *object, fid_domain *domain);
void wrap_queue(fid_cq *object, const fi_cq_attr &attributes);
void end_delays(fid_cq *object);
bool holds_something(fid_cq *object);
void end_posted(fid_cq *queue, void *context, std::size_t *bytes);

// cards.cpp
bool asks_for_cards(const Settings &settings, const fi_info *hints);
int find_cards(const Settings &settings, std::uint32_t version, const fi_info &hints,
               fi_info **out);
// Inserts them at the front of the list of all providers.
void add_cards(const Settings &settings, std::uint32_t version, fi_info **list);
const fi_info *card_behind(const fi_info *info);
void hide_addresses(Domain &domain);
void hide_name(Endpoint &endpoint);

// registrations.cpp
void wrap_registering(Domain &domain);
int domain_control(fid *domain, int command, void *argument);
// The registration that a descriptor names, or null.
Registration *find_descriptor(void *descriptor);
const Domain &domain_of(const Endpoint &endpoint);

}  // namespace layer
