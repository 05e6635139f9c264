// Cards of a provider whose endpoints have no IP addresses: `net` or `tcp` on the loopback
// interface under another name.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>

#include "layer.hpp"

namespace layer {
namespace {

constexpr std::uint32_t kFormat = FI_PROV_SPECIFIC | 1;

// An address as the program sees it.
struct Name {
    char mark[8];
    std::uint64_t hidden;
    std::uint64_t check;
};
constexpr char kMark[8] = {'e', 'n', 'd', 'p', 'o', 'i', 'n', 't'};
constexpr std::uint64_t kCover = 0x9e3779b97f4a7c15;

Name name_of(const sockaddr_in &address) {
    Name name{};
    std::memcpy(name.mark, kMark, sizeof name.mark);
    name.hidden = (std::uint64_t{address.sin_addr.s_addr} << 16 | address.sin_port) ^ kCover;
    name.check = name.hidden * kCover;
    return name;
}

bool read_name(const void *from, sockaddr_in *address) {
    Name name;
    std::memcpy(&name, from, sizeof name);
    if (std::memcmp(name.mark, kMark, sizeof kMark) != 0 || name.check != name.hidden * kCover)
        return false;
    *address = sockaddr_in{};
    address->sin_family = AF_INET;
    address->sin_port = static_cast<in_port_t>(name.hidden ^ kCover);
    address->sin_addr.s_addr = static_cast<in_addr_t>((name.hidden ^ kCover) >> 16);
    return true;
}

int give_name(const sockaddr_in &address, void *out, std::size_t *bytes) {
    const std::size_t room = *bytes;
    *bytes = sizeof(Name);
    if (room < sizeof(Name)) return -FI_ETOOSMALL;
    const Name name = name_of(address);
    std::memcpy(out, &name, sizeof name);
    return 0;
}

int get_name(fid *object, void *out, std::size_t *bytes) {
    const Guard guard;
    const Endpoint &endpoint = it().endpoints.at(object_of<fid_ep>(object));
    if (guard.is_of_provider()) return endpoint.real_connections->getname(object, out, bytes);
    sockaddr_in address{};
    std::size_t length = sizeof address;
    const int code = endpoint.real_connections->getname(object, &address, &length);
    return code != 0 ? code : give_name(address, out, bytes);
}

int insert(fid_av *object, const void *names, std::size_t count, fi_addr_t *out,
           std::uint64_t flags, void *context) {
    const Guard guard;
    const Table &table = it().tables.at(object);
    if (guard.is_of_provider())
        return table.real_calls->insert(object, names, count, out, flags, context);
    std::vector<sockaddr_in> addresses(count);
    for (std::size_t i = 0; i < count; ++i)
        if (!read_name(static_cast<const Name *>(names) + i, &addresses[i]))
            return broken(-FI_EINVAL, "a name that no endpoint has");
    ++it().names;
    return table.real_calls->insert(object, addresses.data(), count, out, flags, context);
}

int look_up(fid_av *object, fi_addr_t peer, void *out, std::size_t *bytes) {
    const Guard guard;
    const Table &table = it().tables.at(object);
    if (guard.is_of_provider()) return table.real_calls->lookup(object, peer, out, bytes);
    sockaddr_in address{};
    std::size_t length = sizeof address;
    const int code = table.real_calls->lookup(object, peer, &address, &length);
    return code != 0 ? code : give_name(address, out, bytes);
}

const char *print(fid_av *, const void *from, char *out, std::size_t *bytes) {
    Name name;
    std::memcpy(&name, from, sizeof name);
    const int length =
        std::snprintf(out, *bytes, "card://%016llx", static_cast<unsigned long long>(name.check));
    *bytes = static_cast<std::size_t>(length) + 1;
    return out;
}

int close_table(fid *object) {
    const Guard guard;
    const auto found = it().tables.find(object_of<fid_av>(object));
    const int code = found->second.real->close(object);
    if (code == 0) it().tables.erase(found);
    return code;
}

int open_table(fid_domain *domain, fi_av_attr *attributes, fid_av **out, void *context) {
    const Guard guard;
    const int code = it().domains.at(domain).real_calls->av_open(domain, attributes, out, context);
    if (code != 0 || guard.is_of_provider()) return code;
    fid_av *const object = *out;
    Table &table = it().tables[object];
    table.real = object->fid.ops;
    copy_table(object->fid.ops, &table.ops);
    table.ops.close = close_table;
    object->fid.ops = &table.ops;
    table.real_calls = object->ops;
    copy_table(object->ops, &table.calls);
    table.calls.insert = insert;
    table.calls.lookup = look_up;
    table.calls.straddr = print;
    refuse<"insertsvc">(&table.calls.insertsvc);
    refuse<"insertsym">(&table.calls.insertsym);
    object->ops = &table.calls;
    return 0;
}

void rename(char **text, const std::string &to) {
    std::free(*text);
    *text = strdup(to.c_str());
}

// A card's place on the bus and its speed. Later cards have lower places.
struct Nic {
    fid_nic nic{};
    fi_device_attr device{};
    fi_bus_attr bus{};
    fi_link_attr link{};
    fi_ops ops{};
};

int keep_nic(fid *) {
    return 0;
}

int copy_nic(fid *object, int command, void *out) {
    if (command != FI_DUP) return -FI_ENOSYS;
    *static_cast<fid_nic **>(out) = object_of<fid_nic>(object);
    return 0;
}

fid_nic *nic_of(unsigned number) {
    static auto *const all = new std::map<unsigned, Nic>;  // never destroyed, like Layer
    Nic &one = (*all)[number];
    one.ops.size = sizeof one.ops;
    one.ops.close = keep_nic;
    one.ops.control = copy_nic;
    one.nic.fid = fid{FI_CLASS_NIC, nullptr, &one.ops};
    one.nic.device_attr = &one.device;
    one.nic.bus_attr = &one.bus;
    one.nic.link_attr = &one.link;
    one.bus.bus_type = FI_BUS_PCI;
    one.bus.attr.pci.device_id = static_cast<std::uint8_t>(3 - number % 4);
    one.link.speed = 200'000'000'000;
    return &one.nic;
}

// Changes the names in `info`. The real provider's info is kept under the name of the domain.
void disguise(const Settings &settings, fi_info *info, unsigned number) {
    const std::string domain = settings.names + std::to_string(number);
    fi_info *&behind = it().cards[domain];
    if (behind == nullptr) behind = fi_dupinfo(info);
    rename(&info->fabric_attr->prov_name, settings.names);
    rename(&info->fabric_attr->name, settings.network.empty() ? settings.names : settings.network);
    rename(&info->domain_attr->name, domain);
    const Name name = name_of(*static_cast<const sockaddr_in *>(info->src_addr));
    std::free(info->src_addr);
    info->src_addr = std::malloc(sizeof name);
    std::memcpy(info->src_addr, &name, sizeof name);
    info->src_addrlen = sizeof name;
    info->addr_format = kFormat;
    if (info->nic != nullptr) (void)fi_close(&info->nic->fid);
    info->nic = nic_of(number);
}

}  // namespace

bool asks_for_cards(const Settings &settings, const fi_info *hints) {
    return !settings.names.empty() && hints != nullptr && hints->fabric_attr != nullptr &&
           hints->fabric_attr->prov_name != nullptr &&
           hints->fabric_attr->prov_name == settings.names;
}

// Gives `hints` to the real provider, with another provider name and address format.
int find_cards(const Settings &settings, std::uint32_t version, const fi_info &hints,
               fi_info **out) {
    if (hints.addr_format != FI_FORMAT_UNSPEC && hints.addr_format != kFormat) return -FI_ENODATA;
    fi_info *plain = fi_dupinfo(&hints);
    plain->addr_format = FI_SOCKADDR_IN;
    fi_info *found = nullptr;
    int code = -FI_ENODATA;
    for (const char *player : {"net", "tcp"}) {
        rename(&plain->fabric_attr->prov_name, player);
        if (code != 0) code = real_getinfo(version, "127.0.0.1", nullptr, FI_SOURCE, plain, &found);
    }
    fi_freeinfo(plain);
    if (code != 0) return code;
    *out = nullptr;
    for (unsigned number = settings.cards; number-- > 0;) {
        fi_info *const card = fi_dupinfo(found);
        disguise(settings, card, number);
        card->next = *out;
        *out = card;
    }
    fi_freeinfo(found);
    return 0;
}

void add_cards(const Settings &settings, std::uint32_t version, fi_info **list) {
    if (settings.names.empty()) return;
    fi_info *const hints = fi_dupinfo(nullptr);
    hints->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
    hints->ep_attr->type = FI_EP_RDM;
    fi_info *cards = nullptr;
    if (find_cards(settings, version, *hints, &cards) == 0) {
        fi_info *last = cards;
        while (last->next != nullptr)
            last = last->next;
        last->next = *list;
        *list = cards;
    }
    fi_freeinfo(hints);
}

// Null if `info` is not of one of these cards.
const fi_info *card_behind(const fi_info *info) {
    if (!asks_for_cards(it().settings, info) || info->domain_attr == nullptr ||
        info->domain_attr->name == nullptr)
        return nullptr;
    const auto found = it().cards.find(info->domain_attr->name);
    return found != it().cards.end() ? found->second : nullptr;
}

void hide_addresses(Domain &domain) {
    domain.calls.av_open = open_table;
}

void hide_name(Endpoint &endpoint) {
    endpoint.real_connections = endpoint.object->cm;
    copy_table(endpoint.object->cm, &endpoint.connections);
    endpoint.connections.getname = get_name;
    endpoint.object->cm = &endpoint.connections;
}

}  // namespace layer
