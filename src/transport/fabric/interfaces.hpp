// The interfaces of this rank that a provider of libfabric can use, and the port that it takes on
// all of them. Which become rails is known when all ranks' cards are (choice.hpp). Owned by the
// transport; a Rail uses what is here as long as it is open.
#pragma once

#include "transport/fabric/library.hpp"
#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

// What a provider may ask for in registering memory.
inline constexpr int kRegistrationModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_RAW | FI_MR_ENDPOINT;

// What a user may choose, behind the path's name in SENNIT_PATHS: "fabric:provider=tcp;host=IP".
struct Settings {
    char provider[64] = "";                // "": the best that is there
    char host[64] = "";                    // local address of the one card; "": all
    char interfaces[kMostRails][16] = {};  // their names; none: all
    unsigned interface_count = 0;
    unsigned rails = 0;  // at most; 0: as InterfaceChoice says
};

// Errors: ARG.
sennit_status read_settings(const char *text, Settings *out);

class Interfaces {
  public:
    Interfaces() = default;
    ~Interfaces() { close(); }
    Interfaces(const Interfaces &) = delete;
    Interfaces &operator=(const Interfaces &) = delete;

    // Looks for interfaces, and takes a port that is free on all of them. Errors: UNSUPPORTED (no
    // provider, with what was looked for), OS.
    sennit_status find(const Library &library, const Settings &settings);
    void close();
    // What was found, for peers.
    void describe(RailCard *card) const;
    // For people: provider, name and address of an interface.
    void describe(unsigned interface, sennit_rail *out) const;

    const Library &library() const { return *library_; }
    // By its number in the card.
    fi_info *info(unsigned interface) const { return interfaces_[interface]; }
    std::uint16_t port() const { return port_; }

  private:
    sennit_status choose(const Settings &settings);
    bool has(const fi_info *info) const;
    sennit_status take_port();

    const Library *library_ = nullptr;
    fi_info *found_ = nullptr;               // a list
    fi_info *interfaces_[kInterfaces] = {};  // the first of it with an IPv4 address
    unsigned count_ = 0;
    unsigned most_rails_ = 0;  // that the user wants; 0: any
    int port_holder_ = -1;
    std::uint16_t port_ = 0;  // in the order of the network
};

}  // namespace sennit::transport::fabric
