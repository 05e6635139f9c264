// SPDX-License-Identifier: BSD-3-Clause
// Reads the tree of domains with hwloc. The build needs only hwloc's header: the functions are
// looked up by name at run time. So the header's inline functions, which call others directly,
// cannot be used here.
#include "runtime/domains.hpp"

#include <dlfcn.h>
#include <hwloc.h>

#include <cerrno>
#include <cstdlib>

#include "base/linking.hpp"

namespace sennit::runtime {
namespace {

constexpr const char *kHwloc = "libhwloc.so.15";

struct Hwloc {
    void *library = nullptr;
    decltype(&hwloc_get_api_version) get_api_version = nullptr;
    decltype(&hwloc_topology_init) topology_init = nullptr;
    decltype(&hwloc_topology_set_flags) topology_set_flags = nullptr;
    decltype(&hwloc_topology_load) topology_load = nullptr;
    decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
    decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
    decltype(&hwloc_bitmap_isset) bitmap_isset = nullptr;
};

sennit_status open_hwloc(Hwloc *hwloc) {
    if (linked_statically())
        return fail(
            SENNIT_ERR_UNSUPPORTED,
            "the tree of domains needs hwloc, which a program that is linked without shared "
            "libraries cannot open");
    hwloc->library = dlopen(kHwloc, RTLD_LAZY | RTLD_LOCAL);
    if (hwloc->library == nullptr) {
        const char *reason = dlerror();
        return fail(SENNIT_ERR_UNSUPPORTED, "the tree of domains needs hwloc: %s",
                    reason != nullptr ? reason : "it could not be loaded");
    }
    const bool complete =
        look_up(hwloc->library, "hwloc_get_api_version", &hwloc->get_api_version) &&
        look_up(hwloc->library, "hwloc_topology_init", &hwloc->topology_init) &&
        look_up(hwloc->library, "hwloc_topology_set_flags", &hwloc->topology_set_flags) &&
        look_up(hwloc->library, "hwloc_topology_load", &hwloc->topology_load) &&
        look_up(hwloc->library, "hwloc_topology_destroy", &hwloc->topology_destroy) &&
        look_up(hwloc->library, "hwloc_get_obj_by_depth", &hwloc->get_obj_by_depth) &&
        look_up(hwloc->library, "hwloc_bitmap_isset", &hwloc->bitmap_isset);
    // The upper half is the version of the structs that this file reads.
    if (complete && hwloc->get_api_version() >> 16 == HWLOC_API_VERSION >> 16) return SENNIT_OK;
    return fail(SENNIT_ERR_UNSUPPORTED, "%s is not the hwloc 2 that this library was built for",
                kHwloc);
}

// The kind of domain that the object becomes. False: none.
bool kind_of(const hwloc_obj *object, sennit_domain_kind *kind) {
    constexpr struct {
        hwloc_obj_type_t type;
        sennit_domain_kind kind;
    } kKinds[] = {{HWLOC_OBJ_MACHINE, SENNIT_DOMAIN_MACHINE},
                  {HWLOC_OBJ_PACKAGE, SENNIT_DOMAIN_PACKAGE},
                  {HWLOC_OBJ_NUMANODE, SENNIT_DOMAIN_NUMA},
                  {HWLOC_OBJ_CORE, SENNIT_DOMAIN_CORE},
                  {HWLOC_OBJ_PU, SENNIT_DOMAIN_PROCESSOR}};
    for (const auto &known : kKinds) {
        if (known.type != object->type) continue;
        *kind = known.kind;
        return true;
    }
    return false;
}

// Walks hwloc's tree and writes domains, or only counts them.
class Walk {
  public:
    Walk(const Hwloc &hwloc, Domain *out) : hwloc_(hwloc), out_(out) {}

    void visit(const hwloc_obj *object, int parent, int depth) {
        int place = parent;
        if (add(object, parent, depth, &place)) ++depth;
        const int numa = add_memory(object, place, depth);
        if (numa >= 0) {
            place = numa;
            ++depth;
        }
        for (unsigned i = 0; i < object->arity; ++i)
            visit(object->children[i], place, depth);
    }

    int count() const { return count_; }

  private:
    // hwloc attaches memory to the object with the nearest processors. In the tree of domains, the
    // NUMA domain is between that object and the objects inside it. If the object has several
    // memories, such as a faster one, the domain of the last memory is in between, and the other
    // domains beside it are empty. Returns the index of the domain in between, or -1.
    int add_memory(const hwloc_obj *object, int parent, int depth) {
        int numa = -1;
        for (const hwloc_obj *memory = object->memory_first_child; memory != nullptr;
             memory = memory->next_sibling) {
            int place = -1;
            // A memory-side cache contains the domain behind it.
            if (!add(memory, parent, depth, &place)) place = add_memory(memory, parent, depth);
            if (place >= 0) numa = place;
        }
        return numa;
    }

    bool add(const hwloc_obj *object, int parent, int depth, int *place) {
        sennit_domain_kind kind{};
        if (!kind_of(object, &kind)) return false;
        *place = count_++;
        if (out_ == nullptr) return true;
        Domain &domain = out_[*place];
        domain.kind = kind;
        domain.os_number =
            object->os_index == HWLOC_UNKNOWN_INDEX ? -1 : static_cast<int>(object->os_index);
        domain.parent = parent;
        domain.depth = depth;
        for (unsigned cpu = 0; cpu < kCpuWords * 64; ++cpu)
            if (hwloc_.bitmap_isset(object->cpuset, cpu) != 0)
                domain.processors.words[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
        for (int around = parent; around >= 0; around = out_[around].parent)
            ++out_[around].inside;
        return true;
    }

    const Hwloc &hwloc_;
    Domain *out_;
    int count_ = 0;
};

sennit_status read_topology(const Hwloc &hwloc, hwloc_topology_t topology, Domains *domains) {
    // Includes processors that this process may not use.
    (void)hwloc.topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc.topology_load(topology) != 0)
        return fail_os(SENNIT_ERR_OS, errno, "hwloc cannot read the machine's topology");
    const hwloc_obj *machine = hwloc.get_obj_by_depth(topology, 0, 0);
    Walk counting(hwloc, nullptr);
    counting.visit(machine, -1, 0);
    domains->all = static_cast<Domain *>(
        std::calloc(static_cast<std::size_t>(counting.count()), sizeof(Domain)));
    if (domains->all == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the domains");
    Walk writing(hwloc, domains->all);
    writing.visit(machine, -1, 0);
    domains->count = writing.count();
    return SENNIT_OK;
}

}  // namespace

sennit_status domains_load(Domains *domains) {
    Hwloc hwloc;
    sennit_status status = open_hwloc(&hwloc);
    hwloc_topology_t topology = nullptr;
    if (status == SENNIT_OK && hwloc.topology_init(&topology) != 0)
        status = fail(SENNIT_ERR_NOMEM, "hwloc has no memory for a topology");
    if (status == SENNIT_OK) {
        status = read_topology(hwloc, topology, domains);
        hwloc.topology_destroy(topology);
    }
    if (hwloc.library != nullptr) (void)dlclose(hwloc.library);
    return status;
}

}  // namespace sennit::runtime
