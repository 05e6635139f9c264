// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/system_file.hpp"
#include "base/words.hpp"
#include "bootstrap/card.hpp"
#include "transport/fabric/rail.hpp"

namespace sennit::transport::fabric {
namespace {

void fill_hints(fi_info *hints) {
    hints->caps = FI_MSG | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |
                  FI_SEND | FI_RECV | FI_REMOTE_COMM | FI_LOCAL_COMM;
    // Demands of a provider that Sennit meets. FI_CONTEXT: Posted and Message have a context.
    // FI_RX_CQ_DATA: a Rail posts receives for the data. FI_ASYNC_IOV concerns only lists of memory
    // with several entries; those of Sennit have one.
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA | FI_ASYNC_IOV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = kRegistrationModes;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
}

bool asks_for(const fi_info &info, int mr_mode, std::uint64_t mode) {
    return (info.domain_attr->mr_mode & mr_mode) != 0 || (info.mode & mode) != 0;
}

// Checked in this order: a provider that passes more rows is nearer to usable.
constexpr struct {
    bool (*is_so)(const fi_info &);
    const char *text;
} kHindrances[] = {
    {[](const fi_info &info) { return info.ep_attr->type != FI_EP_RDM; },
     "it has no reliable endpoints without a connection (FI_EP_RDM)"},
    {[](const fi_info &info) { return (info.caps & FI_RMA) == 0 || (info.caps & FI_MSG) == 0; },
     "it has no puts and gets (FI_RMA), or no messages"},
    {[](const fi_info &info) { return (info.caps & FI_REMOTE_COMM) == 0; },
     "it reaches one node only"},
    {[](const fi_info &info) { return info.src_addr == nullptr; }, "it has no address here"},
    {[](const fi_info &info) { return info.src_addrlen > kNameBytes; },
     "its addresses are longer than 48 bytes"},
    {[](const fi_info &info) {
         return info.ep_attr->max_msg_size <
                (sizeof(MessageHeader) + kShortPayloadBytes + kAnswersBytes);
     },
     "its messages are too short"},
    {[](const fi_info &info) {
         const char *const fabric = info.fabric_attr->name;
         return fabric != nullptr && std::strcmp(fabric, "efa-direct") == 0;
     },
     "a target must know its senders in advance (efa-direct)"},
    // psm3 closes a connection whose peer is gone. Later it writes to the same descriptor number
    // and closes it again, when the number may belong to a file of the program. Over TCP, psm3
    // names its fabric "TCP-" and the subnet.
    {[](const fi_info &info) {
         const char *const fabric = info.fabric_attr->name;
         return fabric != nullptr && std::strcmp(info.fabric_attr->prov_name, "psm3") == 0 &&
                std::strstr(fabric, "TCP-") != nullptr;
     },
     "over TCP it closes files and sockets of the program (psm3)"},
    {[](const fi_info &info) {
         return asks_for(info, FI_MR_RAW, 0) && info.domain_attr->mr_key_size > kMostRawKeyBytes;
     },
     "its keys are longer than 64 bytes"},
    {[](const fi_info &info) { return asks_for(info, FI_MR_MMU_NOTIFY, 0); },
     "it needs notices of changed pages (FI_MR_MMU_NOTIFY)"},
    {[](const fi_info &info) { return asks_for(info, FI_MR_RMA_EVENT, 0); },
     "it needs registrations bound to events (FI_MR_RMA_EVENT)"},
    {[](const fi_info &info) { return asks_for(info, FI_MR_COLLECTIVE, 0); },
     "it needs registrations for its collectives (FI_MR_COLLECTIVE)"},
    {[](const fi_info &info) { return asks_for(info, 0, FI_MSG_PREFIX); },
     "it needs a prefix in messages (FI_MSG_PREFIX)"},
};

// Whether the user wants the domain of this name: that of an interface (sockets) or a card.
bool is_wanted(const Settings &settings, const char *name) {
    bool is_named = false;
    for (unsigned i = 0; i < settings.interface_count && name != nullptr; ++i)
        is_named = is_named || std::strcmp(name, settings.interfaces[i]) == 0;
    return is_named || settings.interface_count == 0;
}

// Whether this is verbs, whose cards also have IPv4 addresses.
bool is_verbs(const char *provider) {
    return std::strncmp(provider, "verbs", 5) == 0;
}

// The speed in Mbit/s, from libfabric or the kernel; 0: unknown.
std::uint64_t speed_of(const fi_info &info) {
    std::uint64_t megabits = 0;
    if (info.nic != nullptr && info.nic->link_attr != nullptr)
        megabits = info.nic->link_attr->speed / 1'000'000;
    char file[64];
    char text[32];
    const char *const name = info.domain_attr->name != nullptr ? info.domain_attr->name : "";
    // Omit the label of a further address, as in "eth0:1".
    (void)std::snprintf(file, sizeof file, "/sys/class/net/%.*s/speed",
                        static_cast<int>(std::strcspn(name, ":")), name);
    if (megabits == 0 && read_system_file(file, text, sizeof text) && text[0] != '-')
        megabits = std::strtoul(text, nullptr, 10);
    return megabits;
}

// The bus address of the card; 0: unknown to libfabric.
std::uint32_t bus_of(const fi_info &info) {
    if (info.nic == nullptr || info.nic->bus_attr == nullptr ||
        info.nic->bus_attr->bus_type != FI_BUS_PCI)
        return 0;
    const fi_pci_attr &pci = info.nic->bus_attr->attr.pci;
    return static_cast<std::uint32_t>(pci.domain_id) << 16 | std::uint32_t{pci.bus_id} << 8 |
           static_cast<std::uint32_t>(pci.device_id << 3 | (pci.function_id & 7));
}

std::uint32_t word_of(const char *text) {
    const std::size_t bytes = text != nullptr ? std::strlen(text) : 0;
    return static_cast<std::uint32_t>(hash_on(kHashOfNothing, text, bytes));
}

std::uint8_t number_of(const char *provider) {
    std::uint8_t number = 1;
    for (const char *known : kProviders) {
        if (std::strcmp(provider, known) == 0) return number;
        ++number;
    }
    return static_cast<std::uint8_t>(128 | word_of(provider));
}

sockaddr_in address_of(const fi_info &info) {
    sockaddr_in address;
    std::memcpy(&address, info.src_addr, sizeof address);
    return address;
}

// The number of subnet bits of the address; 32 if unknown.
std::uint8_t prefix_of(in_addr address) {
    std::uint8_t bits = 32;
    ifaddrs *all = nullptr;
    if (getifaddrs(&all) != 0) return bits;
    for (const ifaddrs *each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_netmask == nullptr ||
            each->ifa_addr->sa_family != AF_INET)
            continue;
        sockaddr_in own;
        sockaddr_in mask;
        std::memcpy(&own, each->ifa_addr, sizeof own);
        std::memcpy(&mask, each->ifa_netmask, sizeof mask);
        if (own.sin_addr.s_addr == address.s_addr)
            bits = static_cast<std::uint8_t>(std::popcount(mask.sin_addr.s_addr));
    }
    freeifaddrs(all);
    return bits;
}

bool is_width_of_events(unsigned bits) {
    return bits == 0 || (bits >= 8 && bits <= 64 && std::has_single_bit(bits));
}

bool read_setting(std::string_view word, Settings *out) {
    std::string_view value;
    if (has_value(word, "provider=", &value))
        return copy_word(value, out->provider, sizeof out->provider);
    if (has_value(word, "host=", &value)) return copy_word(value, out->host, sizeof out->host);
    if (has_value(word, "interface=", &value) && out->interface_count < kMostRails)
        return copy_word(value, out->interfaces[out->interface_count++], sizeof out->interfaces[0]);
    if (has_value(word, "copied=", &value))
        return read_number(value, kMostCopiedBytes, &out->copied) && out->copied != 0;
    if (has_value(word, "eager=", &value)) return read_number(value, kMostDataBytes, &out->eager);
    if (has_value(word, "packed=", &value)) return read_number(value, kMostDataBytes, &out->packed);
    if (has_value(word, "events=", &value))
        return read_number(value, 64, &out->events) && is_width_of_events(out->events);
    if (has_value(word, "index=", &value))
        return read_number(value, kMostIndexBits, &out->index) && out->index >= kLeastIndexBits;
    return has_value(word, "rails=", &value) && read_number(value, kMostRails, &out->rails) &&
           out->rails != 0;
}

}  // namespace

// Reads settings in any order, such as "provider=NAME;host=ADDRESS;rails=N".
sennit_status read_settings(const char *text, Settings *out) {
    const std::string_view refused =
        first_refused(text, ';', [&](std::string_view word) { return read_setting(word, out); });
    if (refused.data() != nullptr)
        return fail(SENNIT_ERR_ARG,
                    "the path fabric refuses '%.*s'; its settings are provider, host, "
                    "interface (up to %u times), rails (1 to %u), copied (1 to %u), eager and "
                    "packed (0 to %u), events (0, 8, 16, 32 or 64) and index (%u to %u)",
                    static_cast<int>(refused.size()), refused.data(), kMostRails, kMostRails,
                    kMostCopiedBytes, kMostDataBytes, kLeastIndexBits, kMostIndexBits);
    // Users write `+` for the semicolon in the name of a layered provider.
    for (char &letter : out->provider)
        if (letter == '+') letter = ';';
    return SENNIT_OK;
}

bool is_of_sockets(const fi_info &info) {
    const char *const provider = info.fabric_attr->prov_name;
    return std::strcmp(provider, "net") == 0 || std::strcmp(provider, "tcp") == 0;
}

std::size_t Interfaces::payload_bytes() const {
    return is_of_sockets(*interfaces_[0]) ? kMostPayloadBytes : kShortPayloadBytes;
}

Hindrance hindrance_of(const fi_info &info) {
    int nearness = 0;
    for (const auto &hindrance : kHindrances) {
        if (hindrance.is_so(info)) return {nearness, hindrance.text};
        ++nearness;
    }
    return {nearness, ""};
}

Hindrance nearest_hindrance(const fi_info *list, const char *provider) {
    Hindrance nearest;
    for (const fi_info *info = list; info != nullptr; info = info->next) {
        if (std::strcmp(info->fabric_attr->prov_name, provider) != 0) continue;
        const Hindrance here = hindrance_of(*info);
        if (here.nearness > nearest.nearness) nearest = here;
    }
    return nearest;
}

// Asks libfabric for the provider's interfaces and selects the usable ones. Returns 0, or an error
// of libfabric if there are none.
int Interfaces::query(const char *provider, const Settings &settings, std::uint32_t format) {
    fi_info *const hints = library_->dupinfo(nullptr);
    if (hints == nullptr) return -FI_ENOMEM;
    fill_hints(hints);
    hints->addr_format = format;
    hints->fabric_attr->prov_name = strdup(provider);
    const char *const host = settings.host[0] != '\0' ? settings.host : nullptr;
    const std::uint64_t flags = host != nullptr ? FI_SOURCE : 0;
    int code = library_->getinfo(kVersion, host, nullptr, flags, hints, &found_);
    // A machine without a network still has a loopback interface.
    if (code != 0 && host == nullptr && format == FI_SOCKADDR_IN)
        code = library_->getinfo(kVersion, "127.0.0.1", nullptr, FI_SOURCE, hints, &found_);
    library_->freeinfo(hints);
    if (code != 0) found_ = nullptr;
    select(provider, settings);
    if (count_ != 0) return 0;
    close();
    return code != 0 ? code : -FI_ENODEV;
}

// Selects only interfaces whose provider has exactly this name: libfabric also returns
// `net;ofi_rxm` for `net`. If the user gave only a prefix of a name, selects the first provider
// found.
void Interfaces::select(const char *provider, const Settings &settings) {
    const fi_info *first = nullptr;
    for (const fi_info *info = found_; info != nullptr; info = info->next)
        if (first == nullptr || std::strcmp(info->fabric_attr->prov_name, provider) == 0) {
            first = info;
            if (std::strcmp(info->fabric_attr->prov_name, provider) == 0) break;
        }
    for (fi_info *info = found_; info != nullptr && count_ < kInterfaces; info = info->next) {
        const char *const name = info->domain_attr->name;
        // psm3 also lists a domain that picks a card by itself.
        const bool stands_for_others = name != nullptr && std::strncmp(name, "autoselect", 10) == 0;
        if (std::strcmp(info->fabric_attr->prov_name, first->fabric_attr->prov_name) == 0 &&
            info->addr_format == first->addr_format && *hindrance_of(*info).text == '\0' &&
            !stands_for_others && is_wanted(settings, name) && !has_selected(*info))
            interfaces_[count_++] = info;
    }
    if (count_ == 0 || first->addr_format == FI_SOCKADDR_IN) return;
    name_bytes_ = interfaces_[0]->src_addrlen;
    // Sort, because libfabric's order may differ between nodes.
    std::stable_sort(interfaces_, interfaces_ + count_,
                     [](const fi_info *a, const fi_info *b) { return bus_of(*a) < bus_of(*b); });
}

// Whether a rail of the provider can be opened. Providers over TCP are not tested, because they
// need only an interface.
bool Interfaces::can_open() {
    if (name_bytes_ == 0 && !is_verbs(interfaces_[0]->fabric_attr->prov_name)) return true;
    Rail rail;
    return rail.open(*this, 0, 1) == SENNIT_OK;
}

int Interfaces::find_usable(const char *provider, const Settings &settings) {
    if (settings.needs_ipv4 && is_verbs(provider)) return -FI_ENODATA;
    int code = query(provider, settings, FI_SOCKADDR_IN);
    if (code != 0 && !settings.needs_ipv4 && settings.host[0] == '\0')
        code = query(provider, settings, FI_FORMAT_UNSPEC);
    if (code != 0 || can_open()) return code;
    (void)std::snprintf(refused_, sizeof refused_, "%.*s", static_cast<int>(sizeof refused_ - 1),
                        thread_error()->text);
    log(SENNIT_LOG_INFO, "the provider %s is not taken: %s", provider, refused_);
    close();
    return -FI_ENODEV;
}

sennit_status Interfaces::choose(const Settings &settings) {
    const char *const named = settings.provider;
    const bool is_named = named[0] != '\0';
    const char *const *const names = is_named ? &named : kProviders;
    const char *const *const end = names + (is_named ? 1 : std::size(kProviders));
    int code = -FI_ENODATA;
    for (const char *const *name = names; name != end; ++name) {
        code = find_usable(*name, settings);
        if (code == 0) return SENNIT_OK;
    }
    Hindrance nearest;
    fi_info *all = nullptr;
    if (library_->getinfo(kVersion, nullptr, nullptr, 0, nullptr, &all) != 0) all = nullptr;
    for (const char *const *name = names; name != end; ++name) {
        const Hindrance here = nearest_hindrance(all, *name);
        if (here.nearness > nearest.nearness) nearest = here;
    }
    if (all != nullptr) library_->freeinfo(all);
    const char *reason = library_->strerror(-code);
    if (nearest.text != nullptr && *nearest.text != '\0') reason = nearest.text;
    if (refused_[0] != '\0') reason = refused_;
    const char *const place = settings.host[0] != '\0' ? settings.host : settings.interfaces[0];
    (void)fail(SENNIT_ERR_UNSUPPORTED, "libfabric has no provider %s%s%s: %s",
               is_named ? named : "that Sennit takes", place[0] != '\0' ? " at " : "", place,
               reason);
    fail_provider_code(code);
    return SENNIT_ERR_UNSUPPORTED;
}

// Whether the interface is already selected: it may be listed several times, with other attributes.
bool Interfaces::has_selected(const fi_info &info) const {
    for (unsigned i = 0; i < count_; ++i) {
        const fi_info &one = *interfaces_[i];
        const char *const name = one.domain_attr->name;
        const bool is_same =
            info.addr_format == FI_SOCKADDR_IN
                ? address_of(one).sin_addr.s_addr == address_of(info).sin_addr.s_addr
                : name != nullptr && info.domain_attr->name != nullptr &&
                      std::strcmp(name, info.domain_attr->name) == 0;
        if (is_same) return true;
    }
    return false;
}

// Reserves a port: peers receive its number before the rank knows on which interface it will
// listen. A bound socket that does not listen reserves the port on all interfaces, and this rank
// can still listen on it.
sennit_status Interfaces::reserve_port() {
    port_holder_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t bytes = sizeof any;
    auto *name = reinterpret_cast<sockaddr *>(&any);
    if (port_holder_ < 0 ||
        setsockopt(port_holder_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(port_holder_, name, sizeof any) != 0 || getsockname(port_holder_, name, &bytes) != 0)
        return fail_os(SENNIT_ERR_OS, errno, "a port for the path fabric");
    port_ = any.sin_port;
    return SENNIT_OK;
}

sennit_status Interfaces::find(const Library &library, const Settings &settings) {
    const sennit_error before = *thread_error();
    library_ = &library;
    most_rails_ = settings.rails;
    sennit_status status = choose(settings);
    if (status == SENNIT_OK && name_bytes_ == 0) status = reserve_port();
    if (status == SENNIT_OK) {
        *thread_error() = before;  // earlier tries have changed it
        return status;
    }
    const sennit_error error = *thread_error();
    close();
    *thread_error() = error;
    return status;
}

void Interfaces::close() {
    if (found_ != nullptr) library_->freeinfo(found_);
    found_ = nullptr;
    count_ = 0;
    name_bytes_ = 0;
    if (port_holder_ >= 0) (void)::close(port_holder_);
    port_holder_ = -1;
}

void Interfaces::describe(RailCard *card) const {
    *card = RailCard{};
    card->machine = runtime::machine_word();
    card->port = port_;
    card->most_rails = static_cast<std::uint8_t>(most_rails_);
    card->provider = number_of(interfaces_[0]->fabric_attr->prov_name);
    card->more = name_bytes_ != 0 ? more_words(name_bytes_) : 0;
    for (unsigned i = 0; i < count_; ++i) {
        const fi_info &info = *interfaces_[i];
        card->speeds[i] = static_cast<std::uint8_t>(std::bit_width(speed_of(info)));
        if (name_bytes_ == 0) {
            card->addresses[i] = address_of(info).sin_addr.s_addr;
            card->prefixes[i] = prefix_of(address_of(info).sin_addr);
            continue;
        }
        card->addresses[i] = word_of(info.fabric_attr->name);
        for (unsigned before = 0; before < i; ++before)
            if (card->addresses[before] == card->addresses[i]) ++card->prefixes[i];
    }
    card->interfaces = static_cast<std::uint8_t>(count_);
}

void Interfaces::describe(unsigned interface, sennit_rail *out) const {
    const fi_info &info = *interfaces_[interface];
    const char *const name = info.domain_attr->name;
    (void)std::snprintf(out->provider, sizeof out->provider, "%s", info.fabric_attr->prov_name);
    (void)std::snprintf(out->interface_name, sizeof out->interface_name, "%s",
                        name != nullptr ? name : "");
    out->speed_mbit = static_cast<int>(std::min<std::uint64_t>(speed_of(info), INT_MAX));
    const std::uint32_t bus = bus_of(info);
    if (bus != 0)
        (void)std::snprintf(out->bus, sizeof out->bus, "%04x:%02x:%02x.%x", bus >> 16,
                            bus >> 8 & 0xff, bus >> 3 & 0x1f, bus & 7);
    if (name_bytes_ != 0) return;
    const sockaddr_in own = address_of(info);
    (void)inet_ntop(AF_INET, &own.sin_addr, out->address, sizeof out->address);
}

}  // namespace sennit::transport::fabric
