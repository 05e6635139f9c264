// The providers of libfabric on this machine, for people: which one ranks take, and why not the
// others. Asked once for the process.
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

// One of libfabric's own carries the release in its version: 117.0 of 1.17.0.
void note_version(const Library &library, const fi_info &info, sennit_provider *out) {
    const std::uint32_t whole = library.version();
    const std::uint32_t own = info.fabric_attr->prov_version;
    const bool carries = FI_MAJOR(own) == FI_MAJOR(whole) * 100 + FI_MINOR(whole);
    (void)std::snprintf(out->version, sizeof out->version, "%u.%u.%u", FI_MAJOR(whole) % 1000,
                        FI_MINOR(whole) % 1000, carries ? FI_MINOR(own) / 10 % 1000 : 0);
}

// What keeps it from being taken, as one of the ways to use it shows. A later sentence is nearer to
// what is wanted, so of several ways the highest counts.
int hindrance_of(const fi_info &info, const char **text) {
    if (info.ep_attr->type != FI_EP_RDM) {
        *text = "it has no reliable endpoints without a connection (FI_EP_RDM)";
        return 1;
    }
    if ((info.caps & FI_RMA) == 0 || (info.caps & FI_MSG) == 0) {
        *text = "it has no puts and gets (FI_RMA), or no messages";
        return 2;
    }
    if ((info.caps & FI_REMOTE_COMM) == 0) {
        *text = "it stays on one node";
        return 3;
    }
    if (info.addr_format != FI_SOCKADDR_IN) {
        *text = "its addresses are not those of an IPv4 interface";
        return 4;
    }
    if ((info.domain_attr->mr_mode & ~kRegistrationModes) != 0) {
        *text = "it wants memory registered in a way that Sennit does not do yet (mr_mode)";
        return 5;
    }
    *text = "libfabric does not offer it with what Sennit asks for";
    return 6;
}

void explain(const fi_info *all, sennit_provider *one) {
    int highest = 0;
    for (const fi_info *info = all; info != nullptr; info = info->next) {
        if (std::strcmp(info->fabric_attr->prov_name, one->name) != 0) continue;
        const char *text = "";
        const int rank = hindrance_of(*info, &text);
        if (rank <= highest) continue;
        highest = rank;
        (void)std::snprintf(one->reason, sizeof one->reason, "%s", text);
    }
}

// "" where none can be taken.
void name_found(const Library &library, const char *wanted, char name[64]) {
    Settings settings;
    (void)std::snprintf(settings.provider, sizeof settings.provider, "%s", wanted);
    Interfaces interfaces;
    sennit_rail found{};
    name[0] = '\0';
    const sennit_error before = *thread_error();
    if (interfaces.find(library, settings) == SENNIT_OK) {
        interfaces.describe(0, &found);
        (void)std::snprintf(name, 64, "%s", found.provider);
    } else {
        *thread_error() = before;
    }
}

void judge(const Library &library, const fi_info *all) {
    char taken[64];
    name_found(library, "", taken);
    for (int i = 0; i < providers.count; ++i) {
        sennit_provider &one = providers.list[i];
        char named[64];
        if (std::strcmp(one.name, taken) == 0) {
            one.is_taken = 1;
            (void)std::snprintf(one.reason, sizeof one.reason,
                                "the first one that has what Sennit asks for");
            std::swap(one, providers.list[0]);
            continue;
        }
        name_found(library, one.name, named);
        if (std::strcmp(one.name, named) == 0)
            (void)std::snprintf(one.reason, sizeof one.reason,
                                "only if SENNIT_PATHS names it, by fabric:provider=");
        else
            explain(all, &one);
    }
}

sennit_status ask(const Library &library) {
    fi_info *all = nullptr;
    const int code = library.getinfo(kVersion, nullptr, nullptr, 0, nullptr, &all);
    if (code != 0) return fail_call(SENNIT_ERR_UNSUPPORTED, library, code, "no provider");
    for (const fi_info *info = all; info != nullptr && providers.count < kMost; info = info->next) {
        const char *const name = info->fabric_attr->prov_name;
        if (name == nullptr || find(name) != nullptr) continue;
        sennit_provider &one = providers.list[providers.count++];
        one = sennit_provider{};
        (void)std::snprintf(one.name, sizeof one.name, "%s", name);
        note_version(library, *info, &one);
    }
    judge(library, all);
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
        return fail(SENNIT_ERR_RANGE, "there are %d providers", providers.count);
    *out = providers.list[index];
    return SENNIT_OK;
}

}  // namespace sennit::transport
