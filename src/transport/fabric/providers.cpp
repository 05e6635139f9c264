// SPDX-License-Identifier: BSD-3-Clause
// Describes libfabric's providers on this machine for users: the provider that ranks use, and why
// the others are not used. The list is made once per process.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/mutex.hpp"
#include "transport/fabric/interfaces.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr int kMost = 48;

struct Providers {
    bool known = false;
    int count = 0;
    sennit_provider list[kMost];
};
pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
Providers providers;

sennit_provider *find(const char *name) {
    for (int i = 0; i < providers.count; ++i)
        if (std::strcmp(providers.list[i].name, name) == 0) return &providers.list[i];
    return nullptr;
}

// Providers that are part of libfabric have its release in their version: 117.0 for 1.17.0.
void note_version(const Library &library, const fi_info &info, sennit_provider *out) {
    const std::uint32_t whole = library.version();
    const std::uint32_t own = info.fabric_attr->prov_version;
    const bool carries = FI_MAJOR(own) == FI_MAJOR(whole) * 100 + FI_MINOR(whole);
    (void)std::snprintf(out->version, sizeof out->version, "%u.%u.%u", FI_MAJOR(whole) % 1000,
                        FI_MINOR(whole) % 1000, carries ? FI_MINOR(own) / 10 % 1000 : 0);
}

// Sets the numbers of bits of completion data, and the support level that follows from them. The
// caller of a put or get has the bits of a pointer, the context of the call. The target of a put
// has the most bits of any entry of the provider in libfabric's list; the target of a get has none.
void note_bits(const fi_info &info, sennit_provider *out) {
    if ((info.caps & FI_RMA) == 0 || info.ep_attr->type != FI_EP_RDM) return;
    constexpr int kContextBits = 8 * sizeof(void *);
    const auto data =
        static_cast<int>(8 * std::min<std::size_t>(info.domain_attr->cq_data_size, 8));
    out->put_local_bits = out->get_local_bits = kContextBits;
    out->put_remote_bits = std::max(out->put_remote_bits, data);
    out->level = support_level(static_cast<unsigned>(out->put_remote_bits));
}

// Finds the name of the provider that Sennit would use, and the names of its interfaces. `wanted`
// is the only provider that is allowed; if it is empty, those of kProviders are. Returns false if
// none is usable; the thread's error then has the reason.
bool is_found(const Library &library, const char *wanted, char (&name)[64], char (&cards)[96]) {
    Settings settings;
    (void)std::snprintf(settings.provider, sizeof settings.provider, "%s", wanted);
    Interfaces interfaces;
    name[0] = cards[0] = '\0';
    if (interfaces.find(library, settings) != SENNIT_OK) return false;
    RailCard card;
    interfaces.describe(&card);
    std::size_t length = 0;
    for (unsigned i = 0; i < card.interfaces && length < sizeof cards; ++i) {
        sennit_rail found{};
        interfaces.describe(i, &found);
        (void)std::snprintf(name, sizeof name, "%s", found.provider);
        const int more = std::snprintf(cards + length, sizeof cards - length, "%s%s",
                                       i != 0 ? ", " : "", found.interface_name);
        length += static_cast<std::size_t>(more > 0 ? more : 0);
    }
    return true;
}

void explain(const Library &library, const fi_info *all, sennit_provider *one) {
    char name[64];
    char cards[96];
    const sennit_error before = *thread_error();
    const bool found = is_found(library, one->name, name, cards);
    const Hindrance nearest = nearest_hindrance(all, one->name);
    const char *text = "libfabric does not offer it with the features that Sennit needs";
    if (found && std::strcmp(one->name, name) == 0)
        text = "only if SENNIT_PATHS names it, by fabric:provider=";
    else if (*nearest.text != '\0')
        text = nearest.text;
    else if (!found)
        text = thread_error()->text;
    (void)std::snprintf(one->reason, sizeof one->reason, "%.*s",
                        static_cast<int>(sizeof one->reason - 1), text);
    *thread_error() = before;
}

void explain_all(const Library &library, const fi_info *all) {
    char taken[64];
    char cards[96];
    const sennit_error before = *thread_error();
    if (!is_found(library, "", taken, cards)) *thread_error() = before;
    for (int i = 0; i < providers.count; ++i) {
        sennit_provider &one = providers.list[i];
        if (std::strcmp(one.name, taken) != 0) {
            explain(library, all, &one);
            continue;
        }
        one.is_taken = 1;
        (void)std::snprintf(one.reason, sizeof one.reason,
                            "the best one with the features that Sennit needs; cards: %s", cards);
        std::swap(one, providers.list[0]);
    }
}

// Adds the providers of kProviders that libfabric does not list because they have no card here, or
// because it is built without them.
void add_missing() {
    for (const char *name : kProviders) {
        if (providers.count == kMost || find(name) != nullptr) continue;
        sennit_provider &one = providers.list[providers.count++];
        one = sennit_provider{};
        (void)std::snprintf(one.name, sizeof one.name, "%s", name);
        (void)std::snprintf(one.version, sizeof one.version, "%s", providers.list[0].version);
        (void)std::snprintf(one.reason, sizeof one.reason,
                            "libfabric finds no card for it here, or is built without it");
    }
}

sennit_status ask(const Library &library) {
    fi_info *all = nullptr;
    const int code = library.getinfo(kVersion, nullptr, nullptr, 0, nullptr, &all);
    if (code != 0) return fail_call(SENNIT_ERR_UNSUPPORTED, library, code, "no provider");
    for (const fi_info *info = all; info != nullptr; info = info->next) {
        const char *const name = info->fabric_attr->prov_name;
        if (name == nullptr) continue;
        sennit_provider *one = find(name);
        if (one == nullptr && providers.count < kMost) {
            one = &providers.list[providers.count++];
            *one = sennit_provider{};
            (void)std::snprintf(one->name, sizeof one->name, "%s", name);
            note_version(library, *info, one);
        }
        if (one != nullptr) note_bits(*info, one);
    }
    explain_all(library, all);
    add_missing();
    library.freeinfo(all);
    providers.known = true;
    return SENNIT_OK;
}

}  // namespace
}  // namespace sennit::transport::fabric

namespace sennit::transport {

sennit_status describe_provider(int index, sennit_provider *out) {
    using namespace fabric;
    const MutexLock guard(asking);
    if (!providers.known) {
        const Library *library = nullptr;
        sennit_status status = library_open(&library);
        if (status == SENNIT_OK) status = ask(*library);
        if (status != SENNIT_OK) return status;
    }
    if (index < 0 || index >= providers.count)
        return fail(SENNIT_ERR_RANGE, "provider %d is outside 0 to %d", index, providers.count - 1);
    *out = providers.list[index];
    return SENNIT_OK;
}

}  // namespace sennit::transport
