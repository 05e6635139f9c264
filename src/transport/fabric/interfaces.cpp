// See interfaces.hpp. The choice of a provider, and what others hear of it.
#include "transport/fabric/interfaces.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/fail.hpp"
#include "base/system_file.hpp"
#include "base/words.hpp"
#include "bootstrap/card.hpp"

namespace sennit::transport::fabric {
namespace {

// In order of worth. `net` of 1.17 is what is called `tcp` from 1.18 on, where `net` is no more.
constexpr const char *kProviders[] = {"net", "tcp", "tcp;ofi_rxm"};

void fill_hints(fi_info *hints) {
    hints->caps = FI_MSG | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |
                  FI_SEND | FI_RECV | FI_REMOTE_COMM | FI_LOCAL_COMM;
    // Posted and Message have room for the contexts. Nothing brings completion data yet.
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = kRegistrationModes;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
}

// What a provider may ask for that is not done here.
struct Lack {
    int mr_mode;
    std::uint64_t mode;
    const char *name;
};
constexpr Lack kLacks[] = {
    {FI_MR_MMU_NOTIFY, 0, "word of changed pages"},
    {FI_MR_RMA_EVENT, 0, "registrations for events"},
    {FI_MR_COLLECTIVE, 0, "registrations for its collectives"},
    {0, FI_MSG_PREFIX, "room before messages"},
    {0, FI_ASYNC_IOV, "lists of memory that stay"},
};

// The first of them that the provider asks for, or null: there is no such provider either way.
const char *lack_of(const Library &library, const char *provider) {
    fi_info *const hints = library.dupinfo(nullptr);
    if (hints == nullptr) return nullptr;
    fill_hints(hints);
    hints->fabric_attr->prov_name = strdup(provider);
    const char *lack = nullptr;
    for (const Lack &each : kLacks) {
        hints->domain_attr->mr_mode |= each.mr_mode;
        hints->mode |= each.mode;
        fi_info *found = nullptr;
        if (library.getinfo(kVersion, nullptr, nullptr, 0, hints, &found) != 0) continue;
        library.freeinfo(found);
        lack = each.name;
        break;
    }
    library.freeinfo(hints);
    return lack;
}

// Those of tcp are called by their interface.
bool is_wanted(const Settings &settings, const char *name) {
    bool is_named = false;
    for (unsigned i = 0; i < settings.interface_count && name != nullptr; ++i)
        is_named = is_named || std::strcmp(name, settings.interfaces[i]) == 0;
    return is_named || settings.interface_count == 0;
}

// As the card has it; 0: the kernel does not say.
std::uint8_t speed_of(const char *interface) {
    if (interface == nullptr) return 0;
    char name[64];
    char text[32];
    (void)std::snprintf(name, sizeof name, "/sys/class/net/%s/speed", interface);
    if (!read_system_file(name, text, sizeof text)) return 0;
    const long megabits = std::strtol(text, nullptr, 10);
    return megabits > 0
               ? static_cast<std::uint8_t>(std::bit_width(static_cast<unsigned long>(megabits)))
               : 0;
}

bool read_setting(std::string_view word, Settings *out) {
    std::string_view value;
    std::int64_t number = 0;
    if (has_value(word, "provider=", &value))
        return copy_word(value, out->provider, sizeof out->provider);
    if (has_value(word, "host=", &value)) return copy_word(value, out->host, sizeof out->host);
    if (has_value(word, "interface=", &value) && out->interface_count < kMostRails)
        return copy_word(value, out->interfaces[out->interface_count++], sizeof out->interfaces[0]);
    if (!has_value(word, "rails=", &value) || !read_number(value, kMostRails, &number) ||
        number == 0)
        return false;
    out->rails = static_cast<unsigned>(number);
    return true;
}

}  // namespace

// "provider=NAME;host=ADDRESS;interface=NAME;rails=N", in any order.
sennit_status read_settings(const char *text, Settings *out) {
    const std::string_view refused =
        first_refused(text, ';', [&](std::string_view word) { return read_setting(word, out); });
    if (refused.data() != nullptr)
        return fail(SENNIT_ERR_ARG,
                    "the path fabric has no setting '%.*s'; there are provider, host, "
                    "interface (up to %u times) and rails (1 to %u)",
                    static_cast<int>(refused.size()), refused.data(), kMostRails, kMostRails);
    // A layered provider has a semicolon in its name.
    for (char &letter : out->provider)
        if (letter == '+') letter = ';';
    return SENNIT_OK;
}

sennit_status Interfaces::choose(const Settings &settings) {
    fi_info *hints = library_->dupinfo(nullptr);
    if (hints == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for libfabric's hints");
    fill_hints(hints);
    int code = -FI_ENODATA;
    const char *const host = settings.host[0] != '\0' ? settings.host : nullptr;
    const bool named = settings.provider[0] != '\0';
    for (const char *candidate : kProviders) {
        if (named) candidate = settings.provider;
        hints->fabric_attr->prov_name = strdup(candidate);
        if (hints->fabric_attr->prov_name == nullptr) break;
        hints->addr_format = FI_SOCKADDR_IN;
        code = library_->getinfo(kVersion, host, nullptr, host != nullptr ? FI_SOURCE : 0, hints,
                                 &found_);
        // A machine without any network has its loopback interface.
        if (code != 0 && host == nullptr)
            code = library_->getinfo(kVersion, "127.0.0.1", nullptr, FI_SOURCE, hints, &found_);
        std::free(hints->fabric_attr->prov_name);
        hints->fabric_attr->prov_name = nullptr;
        if (code == 0 || named) break;
    }
    library_->freeinfo(hints);
    if (code != 0) found_ = nullptr;
    for (fi_info *info = found_; info != nullptr && count_ < kInterfaces; info = info->next) {
        if (info->addr_format != FI_SOCKADDR_IN || info->src_addr == nullptr) continue;
        if (is_wanted(settings, info->domain_attr->name) && !has(info))
            interfaces_[count_++] = info;
    }
    if (count_ != 0) return SENNIT_OK;
    const char *const place = host != nullptr ? host : settings.interfaces[0];
    const char *lack = nullptr;
    for (const char *candidate : kProviders)
        if (lack == nullptr && code != 0)
            lack = lack_of(*library_, named ? settings.provider : candidate);
    const sennit_status status =
        fail(SENNIT_ERR_UNSUPPORTED, "libfabric has no provider %s%s%s: %s%s",
             named ? settings.provider : "of net, tcp and tcp;ofi_rxm",
             place[0] != '\0' ? " at " : "", place, lack != nullptr ? "it asks for " : "",
             lack != nullptr ? lack : library_->strerror(code != 0 ? -code : FI_ENODEV));
    fail_provider_code(code);
    return status;
}

// An interface may be in the list several times, with other attributes.
bool Interfaces::has(const fi_info *info) const {
    const auto *const address = static_cast<const sockaddr_in *>(info->src_addr);
    for (unsigned i = 0; i < count_; ++i)
        if (static_cast<const sockaddr_in *>(interfaces_[i]->src_addr)->sin_addr.s_addr ==
            address->sin_addr.s_addr)
            return true;
    return false;
}

// Peers hear of the port before it is known on which interface the rank will listen. A socket that
// does not listen keeps it free on all of them.
sennit_status Interfaces::take_port() {
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
    library_ = &library;
    most_rails_ = settings.rails;
    sennit_status status = choose(settings);
    if (status == SENNIT_OK) status = take_port();
    if (status == SENNIT_OK) return status;
    const sennit_error error = *thread_error();
    close();
    *thread_error() = error;
    return status;
}

void Interfaces::close() {
    if (found_ != nullptr) library_->freeinfo(found_);
    found_ = nullptr;
    count_ = 0;
    if (port_holder_ >= 0) (void)::close(port_holder_);
    port_holder_ = -1;
}

void Interfaces::describe(RailCard *card) const {
    *card = RailCard{};
    card->machine = runtime::machine_word();
    card->port = port_;
    card->most_rails = static_cast<std::uint8_t>(most_rails_);
    for (unsigned i = 0; i < count_; ++i) {
        sockaddr_in own;
        std::memcpy(&own, interfaces_[i]->src_addr, sizeof own);
        card->addresses[i] = own.sin_addr.s_addr;
        // These providers call a fabric by its subnet: 10.0.0.0/24.
        const char *const subnet = interfaces_[i]->fabric_attr->name;
        const char *const bits = subnet != nullptr ? std::strchr(subnet, '/') : nullptr;
        card->prefixes[i] =
            bits != nullptr ? static_cast<std::uint8_t>(std::strtoul(bits + 1, nullptr, 10)) : 32;
        card->speeds[i] = speed_of(interfaces_[i]->domain_attr->name);
    }
    card->interfaces = static_cast<std::uint8_t>(count_);
}

void Interfaces::describe(unsigned interface, sennit_rail *out) const {
    const fi_info &info = *interfaces_[interface];
    const char *const name = info.domain_attr->name;
    (void)std::snprintf(out->provider, sizeof out->provider, "%s", info.fabric_attr->prov_name);
    (void)std::snprintf(out->interface_name, sizeof out->interface_name, "%s",
                        name != nullptr ? name : "");
    sockaddr_in own;
    std::memcpy(&own, info.src_addr, sizeof own);
    (void)inet_ntop(AF_INET, &own.sin_addr, out->address, sizeof out->address);
}

}  // namespace sennit::transport::fabric
