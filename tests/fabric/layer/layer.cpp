// The functions that a program finds by name, and the objects from which all others are made.
// layer.hpp describes the layer.
#include "layer.hpp"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace layer {
namespace {

struct Real {
    decltype(&fi_getinfo) getinfo;
    decltype(&fi_freeinfo) freeinfo;
    decltype(&fi_dupinfo) dupinfo;
    decltype(&fi_fabric) fabric;
    decltype(&fi_strerror) strerror;
    decltype(&fi_version) version;
};

// The version that the path uses.
constexpr const char *kInfoVersion = "FABRIC_1.3";

template <class Function>
void look_up(void *library, const char *name, const char *version, Function *out) {
    *out = reinterpret_cast<Function>(dlvsym(library, name, version));
    if (*out != nullptr) return;
    std::fprintf(stderr, "fabric layer: the real library has no %s@%s\n", name, version);
    std::abort();
}

Real open_real() {
    void *const library = dlopen(LAYER_REAL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "fabric layer: %s\n", dlerror());
        std::abort();
    }
    Real found;
    look_up(library, "fi_getinfo", kInfoVersion, &found.getinfo);
    look_up(library, "fi_freeinfo", kInfoVersion, &found.freeinfo);
    look_up(library, "fi_dupinfo", kInfoVersion, &found.dupinfo);
    look_up(library, "fi_fabric", "FABRIC_1.1", &found.fabric);
    look_up(library, "fi_strerror", "FABRIC_1.0", &found.strerror);
    look_up(library, "fi_version", "FABRIC_1.0", &found.version);
    return found;
}

const Real &real() {
    static const Real found = open_real();
    return found;
}

// True if the program accepts a provider with all these modes.
bool is_accepted(const Settings &settings, const fi_info *hints) {
    if (hints == nullptr) return true;
    if (settings.mode & ~hints->mode) return false;
    const fi_domain_attr *const domain = hints->domain_attr;
    if (domain == nullptr) return settings.mr_mode == 0;
    return (settings.mr_mode & ~domain->mr_mode) == 0 &&
           domain->cq_data_size <= settings.data_bytes;
}

void change(const Settings &settings, fi_info *info) {
    info->mode |= settings.mode;
    info->domain_attr->mr_mode |= settings.mr_mode;
    info->domain_attr->mr_key_size = settings.key_bytes;
    info->domain_attr->cq_data_size = settings.data_bytes;
}

// The info for the real provider.
fi_info *without_modes(const Settings &settings, const fi_info *info) {
    if (const fi_info *const card = card_behind(info)) return real().dupinfo(card);
    fi_info *plain = real().dupinfo(info);
    plain->mode &= ~settings.mode;
    if (plain->domain_attr == nullptr) return plain;
    plain->domain_attr->mr_mode &= ~settings.mr_mode;
    plain->domain_attr->mr_key_size = 0;
    plain->domain_attr->cq_data_size = 0;
    return plain;
}

int open_domain(fid_fabric *fabric, fi_info *info, fid_domain **out, void *context) {
    const Guard guard;
    const Settings settings = it().settings;
    fi_info *plain = without_modes(settings, info);
    // Software providers support both ways to count addresses; the domain's mode selects one.
    plain->domain_attr->mr_mode |= settings.mr_mode & FI_MR_VIRT_ADDR;
    const int code = it().fabrics[fabric].real_calls->domain(fabric, plain, out, context);
    real().freeinfo(plain);
    if (code == 0 && !guard.is_of_provider()) wrap_domain(*out, settings, *info);
    return code;
}

// A program must not sleep while the layer holds back completions.
int try_wait(fid_fabric *fabric, fid **objects, int count) {
    const Guard guard;
    for (int i = 0; i < count; ++i)
        if (holds_something(object_of<fid_cq>(objects[i]))) return -FI_EAGAIN;
    return it().fabrics[fabric].real_calls->trywait(fabric, objects, count);
}

int open_queue(fid_domain *domain, fi_cq_attr *attributes, fid_cq **out, void *context) {
    const Guard guard;
    const int code = it().domains.at(domain).real_calls->cq_open(domain, attributes, out, context);
    if (code == 0 && !guard.is_of_provider()) wrap_queue(*out, *attributes);
    return code;
}

int open_endpoint(fid_domain *domain, fi_info *info, fid_ep **out, void *context) {
    const Guard guard;
    Domain &owner = it().domains.at(domain);
    if (guard.is_of_provider()) return owner.real_calls->endpoint(domain, info, out, context);
    if (owner.has_names && owner.settings.is_barred) return -FI_EACCES;
    constexpr unsigned kFirst = 4;
    if (owner.endpoints >= kFirst && it().refuses(owner.settings.unopened)) return -FI_EMFILE;
    ++owner.endpoints;
    fi_info *plain = without_modes(owner.settings, info);
    const int code = owner.real_calls->endpoint(domain, plain, out, context);
    real().freeinfo(plain);
    if (code == 0 && !guard.is_of_provider()) wrap_endpoint(*out, domain);
    return code;
}

int close_domain(fid *object) {
    const Guard guard;
    const auto found = it().domains.find(object_of<fid_domain>(object));
    for (const auto &[mr, registration] : it().registrations)
        if (registration->domain == found->first)
            return broken(-FI_EBUSY, "the domain is closed before its registrations");
    const int code = found->second.real->close(object);
    if (code == 0) it().domains.erase(found);
    return code;
}

void say_at_end() {
    Layer &all = it();
    std::fprintf(
        stderr,
        "fabric layer: %lu posted, %lu keys, %lu descriptors, %lu again, %lu reordered, "
        "%lu delayed, %lu lost, %lu repeated, %lu garbled, %lu swallowed, %lu refused, %lu names, "
        "%lu rules broken\n",
        all.posts, all.keys, all.descriptors, all.agains, all.reordered, all.delayed, all.lost,
        all.repeated, all.garbled, all.swallowed, all.refused, all.names, all.broken);
}

}  // namespace

int Guard::depth_ = 0;

Layer &it() {
    // Never destroyed: threads of the program may outlive its static objects.
    static Layer *const all = new Layer;
    return *all;
}

int broken(int error, const char *format, ...) {
    std::va_list words;
    va_start(words, format);
    char text[256];
    (void)std::vsnprintf(text, sizeof text, format, words);
    va_end(words);
    std::fprintf(stderr, "fabric layer: broken rule: %s\n", text);
    ++it().broken;
    return error;
}

int real_getinfo(std::uint32_t version, const char *node, const char *service, std::uint64_t flags,
                 const fi_info *hints, fi_info **out) {
    return real().getinfo(version, node, service, flags, hints, out);
}

void wrap_domain(fid_domain *object, const Settings &settings, const fi_info &info) {
    const bool has_names = card_behind(&info) != nullptr;
    Domain &domain = it().domains[object];
    domain.object = object;
    domain.settings = settings;
    domain.mapped_keys.clear();
    domain.endpoints = 0;
    domain.has_names = has_names;
    domain.name = info.domain_attr->name != nullptr ? info.domain_attr->name : "";
    domain.real = object->fid.ops;
    copy_table(object->fid.ops, &domain.ops);
    domain.ops.close = close_domain;
    domain.ops.control = domain_control;
    object->fid.ops = &domain.ops;
    domain.real_calls = object->ops;
    copy_table(object->ops, &domain.calls);
    domain.calls.cq_open = open_queue;
    domain.calls.endpoint = open_endpoint;
    // Providers call the other functions themselves.
    refuse<"scalable_ep">(&domain.calls.scalable_ep);
    refuse<"endpoint2">(&domain.calls.endpoint2);
    if (has_names) hide_addresses(domain);
    object->ops = &domain.calls;
    wrap_registering(domain);
}

}  // namespace layer

// The functions that a program looks up by name.
extern "C" {

int fi_getinfo(std::uint32_t version, const char *node, const char *service, std::uint64_t flags,
               const fi_info *hints, fi_info **out) {
    using namespace layer;
    const Guard guard;
    static const int at_end = std::atexit(say_at_end);
    (void)at_end;
    const char *const text = std::getenv("FABRIC_LAYER");
    if (!read_settings(text, &it().settings))
        return broken(-FI_EINVAL, "FABRIC_LAYER=%s means nothing", text);
    const char *const rank = std::getenv("SENNIT_RANK");
    it().draw.seed(it().settings.seed * 1000 +
                   (rank != nullptr ? std::strtoull(rank, nullptr, 10) : 0));
    if (!is_accepted(it().settings, hints)) return -FI_ENODATA;
    fi_info *const plain = hints == nullptr ? nullptr : without_modes(it().settings, hints);
    const int code = asks_for_cards(it().settings, hints)
                         ? find_cards(it().settings, version, *plain, out)
                         : real().getinfo(version, node, service, flags, plain, out);
    if (plain != nullptr) real().freeinfo(plain);
    if (hints == nullptr && code == 0 && flags == 0) add_cards(it().settings, version, out);
    for (fi_info *info = code == 0 ? *out : nullptr; info != nullptr; info = info->next)
        change(it().settings, info);
    return code;
}

void fi_freeinfo(fi_info *info) {
    layer::real().freeinfo(info);
}

fi_info *fi_dupinfo(const fi_info *info) {
    return layer::real().dupinfo(info);
}

int fi_fabric(fi_fabric_attr *attributes, fid_fabric **out, void *context) {
    using namespace layer;
    const Guard guard;
    const bool is_card = attributes->prov_name != nullptr && !it().cards.empty() &&
                         attributes->prov_name == it().settings.names;
    const int code =
        real().fabric(is_card ? it().cards.begin()->second->fabric_attr : attributes, out, context);
    if (code != 0) return code;
    Fabric &fabric = it().fabrics[*out];
    fabric.real_calls = (*out)->ops;
    copy_table((*out)->ops, &fabric.calls);
    fabric.calls.domain = open_domain;
    fabric.calls.trywait = try_wait;
    refuse<"domain2">(&fabric.calls.domain2);
    (*out)->ops = &fabric.calls;
    return 0;
}

const char *fi_strerror(int code) {
    return layer::real().strerror(code);
}

std::uint32_t fi_version(void) {
    return layer::real().version();
}

}  // extern "C"
