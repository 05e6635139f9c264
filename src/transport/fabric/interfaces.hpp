// SPDX-License-Identifier: BSD-3-Clause
// This rank's libfabric provider, its usable interfaces, and the port reserved on all of them if
// they have IPv4 addresses. The cards of all ranks decide which interfaces become rails
// (choice.hpp). Owned by the transport; a Rail uses this object while it is open.
#pragma once

#include "transport/fabric/library.hpp"
#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

// The modes of memory registration that Sennit supports.
inline constexpr int kRegistrationModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_RAW | FI_MR_ENDPOINT;

// In order of preference. The provider `net` of libfabric 1.17 is called `tcp` from 1.18 on.
inline constexpr const char *kProviders[] = {"verbs;ofi_rxm", "cxi", "efa", "opx",
                                             "psm3",          "net", "tcp", "tcp;ofi_rxm"};

// Limits of Settings, and the default of Settings::eager.
inline constexpr unsigned kMostCopiedBytes = 1 << 20;
inline constexpr unsigned kEagerBytes = 48 << 10;  // measured: docs/design/fabric.md
inline constexpr unsigned kMostDataBytes = kMostPayloadBytes - kEventBytes;
inline constexpr unsigned kLeastIndexBits = 8;
inline constexpr unsigned kMostIndexBits = 24;

// The user's settings, after the path's name in SENNIT_PATHS: "fabric:provider=tcp;host=IP".
struct Settings {
    char provider[64] = "";                // "": the first usable one of kProviders
    char host[64] = "";                    // local address of the only interface to use; "": all
    char interfaces[kMostRails][32] = {};  // names of the interfaces to use; none: all
    unsigned interface_count = 0;
    unsigned rails = 0;  // limit of the rails; 0: InterfaceChoice decides
    // The most bytes of a notified put, and of packed runs, that are sent in one message; limited
    // by the message's room.
    unsigned eager = kEagerBytes;
    unsigned packed = kMostDataBytes;
    unsigned copied = 0;      // transfers of up to this many bytes are copied, if the provider
                              // needs registrations; 0: make_copies() decides
    unsigned events = 64;     // most bits of completion data
    unsigned index = 0;       // Traits::event_index_bits
    bool needs_ipv4 = false;  // for the watch; users cannot set it
};

// Errors: ARG.
sennit_status read_settings(const char *text, Settings *out);

// Whether this is the provider over TCP sockets, under either of its names.
bool is_of_sockets(const fi_info &info);

// Why Sennit cannot use a provider, by one entry of libfabric's list.
struct Hindrance {
    int nearness = -1;           // higher: nearer to usable
    const char *text = nullptr;  // null: not listed; "": usable
};
Hindrance hindrance_of(const fi_info &info);
// The hindrance of the provider's entry that is nearest to usable.
Hindrance nearest_hindrance(const fi_info *list, const char *provider);

class Interfaces {
  public:
    Interfaces() = default;
    ~Interfaces() { close(); }
    Interfaces(const Interfaces &) = delete;
    Interfaces &operator=(const Interfaces &) = delete;

    // Finds the first provider with usable interfaces. If they have IPv4 addresses, reserves a port
    // that is free on all of them. A provider with its own cards must let this process open a rail,
    // since the permission may be missing. Errors: UNSUPPORTED (no usable provider), OS.
    sennit_status find(const Library &library, const Settings &settings);
    void close();
    // Fills the card for peers.
    void describe(RailCard *card) const;
    // Describes an interface for users.
    void describe(unsigned interface, sennit_rail *out) const;

    const Library &library() const { return *library_; }
    // The interface with this number in the card.
    fi_info *info(unsigned interface) const { return interfaces_[interface]; }
    std::uint16_t port() const { return port_; }
    // The length of endpoint names that the provider chooses; 0: names are addresses and ports.
    std::size_t name_bytes() const { return name_bytes_; }
    // The longest payload of a task.
    std::size_t payload_bytes() const;

  private:
    sennit_status choose(const Settings &settings);
    int find_usable(const char *provider, const Settings &settings);
    int query(const char *provider, const Settings &settings, std::uint32_t format);
    void select(const char *provider, const Settings &settings);
    bool has_selected(const fi_info &info) const;
    bool can_open();
    sennit_status reserve_port();

    const Library *library_ = nullptr;
    fi_info *found_ = nullptr;               // the list from libfabric
    fi_info *interfaces_[kInterfaces] = {};  // the usable ones, entries of found_
    unsigned count_ = 0;
    unsigned most_rails_ = 0;  // the user's limit; 0: none
    int port_holder_ = -1;
    std::uint16_t port_ = 0;  // in network byte order
    std::size_t name_bytes_ = 0;
    char refused_[128] = "";  // why the last provider could not be opened
};

}  // namespace sennit::transport::fabric
