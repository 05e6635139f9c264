// SPDX-License-Identifier: BSD-3-Clause
// This rank's provider of libfabric, its usable interfaces, and the port on all of them if they
// have IPv4 addresses. All ranks' cards decide which become rails (choice.hpp). Owned by the
// transport; a Rail uses this as long as it is open.
#pragma once

#include "transport/fabric/library.hpp"
#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

// What a provider may require for registering memory.
inline constexpr int kRegistrationModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_RAW | FI_MR_ENDPOINT;

// In order of preference. `net` of 1.17 is `tcp` from 1.18 on, which has no `net`.
inline constexpr const char *kProviders[] = {"verbs;ofi_rxm", "cxi", "efa", "opx",
                                             "psm3",          "net", "tcp", "tcp;ofi_rxm"};

// Limits of Settings::copied and Settings::index.
inline constexpr unsigned kMostCopiedBytes = 1 << 20;
inline constexpr unsigned kEagerBytes = 32 << 10;  // measured: docs/design/fabric.md
inline constexpr unsigned kMostDataBytes = kMostPayloadBytes - kEventBytes;
inline constexpr unsigned kLeastIndexBits = 8;
inline constexpr unsigned kMostIndexBits = 24;

// The user's settings, after the path's name in SENNIT_PATHS: "fabric:provider=tcp;host=IP".
struct Settings {
    char provider[64] = "";                // "": the best that is there
    char host[64] = "";                    // local address of the one card; "": all
    char interfaces[kMostRails][32] = {};  // their names; none: all
    unsigned interface_count = 0;
    unsigned rails = 0;  // most rails; 0: InterfaceChoice decides
    // The most bytes of an event's data in one message with it, and of runs in a message; limited
    // by the room of a message.
    unsigned eager = kEagerBytes;
    unsigned packed = kMostDataBytes;
    unsigned copied = 0;      // bytes up to which a transfer is copied and not registered, where a
                              // provider wants one of the two; 0: kCopiedBytes
    unsigned events = 64;     // most bits of completion data
    unsigned index = 0;       // Traits::event_index_bits
    bool needs_ipv4 = false;  // not set by users: for the watch
};

// Errors: ARG.
sennit_status read_settings(const char *text, Settings *out);

// Whether it is the provider with sockets as connections, under either of its names.
bool is_of_sockets(const fi_info &info);

// The obstacle to one way of using a provider, as libfabric lists them.
struct Hindrance {
    int nearness = -1;           // the higher, the nearer to usable
    const char *text = nullptr;  // null: it is not listed; "": nothing
};
Hindrance hindrance_of(const fi_info &info);
// The obstacle of the nearest way in the list.
Hindrance nearest_hindrance(const fi_info *list, const char *provider);

class Interfaces {
  public:
    Interfaces() = default;
    ~Interfaces() { close(); }
    Interfaces(const Interfaces &) = delete;
    Interfaces &operator=(const Interfaces &) = delete;

    // Finds the first provider with interfaces, and takes a port that is free on all of them. A
    // provider with its own cards is really opened: the permission may be missing. Errors:
    // UNSUPPORTED (no provider, with what was searched), OS.
    sennit_status find(const Library &library, const Settings &settings);
    void close();
    // Writes the result, for peers.
    void describe(RailCard *card) const;
    // For people: provider, name and address of an interface.
    void describe(unsigned interface, sennit_rail *out) const;

    const Library &library() const { return *library_; }
    // By its number in the card.
    fi_info *info(unsigned interface) const { return interfaces_[interface]; }
    std::uint16_t port() const { return port_; }
    // The length of the provider's names of endpoints; 0: they are addresses and ports.
    std::size_t name_bytes() const { return name_bytes_; }
    // The longest payload of a task.
    std::size_t payload_bytes() const;

  private:
    sennit_status choose(const Settings &settings);
    int look_for(const char *provider, const Settings &settings);
    int ask(const char *provider, const Settings &settings, std::uint32_t format);
    void take(const char *provider, const Settings &settings);
    bool has(const fi_info &info) const;
    bool opens();
    sennit_status take_port();

    const Library *library_ = nullptr;
    fi_info *found_ = nullptr;               // a list
    fi_info *interfaces_[kInterfaces] = {};  // the first ones of one kind in the list
    unsigned count_ = 0;
    unsigned most_rails_ = 0;  // the user's limit; 0: none
    int port_holder_ = -1;
    std::uint16_t port_ = 0;  // in network byte order
    std::size_t name_bytes_ = 0;
    char refused_[128] = "";  // why the last provider could not be opened
};

}  // namespace sennit::transport::fabric
