// Registered memory: keys, descriptors, and the allowed order of calls.
#include <cinttypes>
#include <cstdio>

#include "layer.hpp"

namespace layer {
namespace {

constexpr std::uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;

std::uint64_t largest_key(const Settings &settings) {
    return settings.key_bytes >= 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * settings.key_bytes) - 1;
}

bool has_mode(const Registration &registration, int mode) {
    return (it().domains.at(registration.domain).settings.mr_mode & mode) != 0;
}

// A new key. Like a provider's key it cannot be guessed and is never reused.
std::uint64_t new_key(const Settings &settings) {
    static std::random_device device;
    std::uint64_t key = 0;
    do {
        key = (std::uint64_t{device()} << 32 | device()) & largest_key(settings);
    } while (!it().given_keys.insert(key).second);
    return key;
}

// True if every page is mapped and writable.
bool is_there(const std::byte *memory, std::size_t bytes) {
    std::FILE *const maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return false;
    auto at = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t end = at + bytes;
    char line[512];
    while (at < end && std::fgets(line, sizeof line, maps) != nullptr) {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        char rights[5];
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &first, &last, rights) != 3)
            continue;
        if (first <= at && at < last && rights[0] == 'r' && rights[1] == 'w') at = last;
    }
    (void)std::fclose(maps);
    return at >= end;
}

int enable(Registration &registration) {
    const Settings &settings = it().domains.at(registration.domain).settings;
    const bool provides = has_mode(registration, FI_MR_PROV_KEY | FI_MR_RAW);
    const std::uint64_t key = provides ? new_key(settings) : registration.requested;
    const int code = it().domains.at(registration.domain)
                         .real_registering->reg(&registration.domain->fid, registration.memory,
                                                registration.bytes, registration.access, 0, key,
                                                registration.flags, &registration.real, nullptr);
    if (code != 0) return code;
    ++it().keys;
    registration.key = key;
    registration.mr.key = has_mode(registration, FI_MR_RAW) ? FI_KEY_NOTAVAIL : key;
    return 0;
}

bool is_used(const Registration &registration) {
    for (const auto &[object, endpoint] : it().endpoints)
        for (const auto &[context, posted] : endpoint.posted)
            for (const Registration *use : posted.uses)
                if (use == &registration) return true;
    return false;
}

int close_registration(fid *object) {
    const Guard guard;
    const auto found = it().registrations.find(object_of<fid_mr>(object));
    if (found == it().registrations.end())
        return broken(-FI_EINVAL, "an unknown registration is closed");
    Registration &registration = *found->second;
    // In this mode registrations are closed before their endpoint, and closing the endpoint ends
    // its operations: so these may still use them.
    if (!has_mode(registration, FI_MR_ENDPOINT) && is_used(registration))
        return broken(-FI_EBUSY, "a registration is closed while an operation uses it");
    if (registration.real != nullptr) {
        const int code = fi_close(&registration.real->fid);
        if (code != 0) return code;
    }
    it().registrations.erase(found);
    return 0;
}

int bind_registration(fid *object, fid *to, std::uint64_t) {
    const Guard guard;
    Registration &registration = *it().registrations.at(object_of<fid_mr>(object));
    if (!has_mode(registration, FI_MR_ENDPOINT) || registration.real != nullptr ||
        it().endpoints.count(object_of<fid_ep>(to)) == 0)
        return broken(-FI_EINVAL, "this binding of a registration is not allowed");
    registration.bound = object_of<fid_ep>(to);
    return 0;
}

int give_raw_key(const Registration &registration, const struct fi_mr_raw_attr &out) {
    const std::size_t bytes = it().domains.at(registration.domain).settings.key_bytes;
    const std::size_t room = *out.key_size;
    *out.key_size = bytes;
    if (room < bytes) return -FI_ETOOSMALL;
    if (registration.real == nullptr)
        return broken(-FI_EINVAL, "the key of a registration that is not enabled");
    std::memset(out.raw_key, 0x5a, bytes);
    std::memcpy(out.raw_key, &registration.key, sizeof registration.key);
    const std::uint64_t check = ~registration.key;
    std::memcpy(out.raw_key + bytes - sizeof check, &check, sizeof check);
    *out.base_addr = has_mode(registration, FI_MR_VIRT_ADDR)
                         ? reinterpret_cast<std::uintptr_t>(registration.memory)
                         : 0;
    return 0;
}

int control_registration(fid *object, int command, void *argument) {
    const Guard guard;
    Registration &registration = *it().registrations.at(object_of<fid_mr>(object));
    if (command == FI_GET_RAW_MR && has_mode(registration, FI_MR_RAW))
        return give_raw_key(registration, *static_cast<const struct fi_mr_raw_attr *>(argument));
    if (command != FI_ENABLE || !has_mode(registration, FI_MR_ENDPOINT) ||
        registration.real != nullptr)
        return broken(-FI_ENOSYS, "a command %d to a registration", command);
    if (registration.bound == nullptr)
        return broken(-FI_EOPBADSTATE, "a registration is enabled before it is bound");
    return enable(registration);
}

int check_new(const Settings &settings, const Registration &registration) {
    const bool provides = (settings.mr_mode & (FI_MR_PROV_KEY | FI_MR_RAW)) != 0;
    if (!provides && registration.requested > largest_key(settings))
        return broken(-FI_EKEYREJECTED, "the key %" PRIx64 " has more than %zu bytes",
                      registration.requested, settings.key_bytes);
    if ((settings.mr_mode & FI_MR_ALLOCATED) != 0 &&
        !is_there(registration.memory, registration.bytes))
        return broken(-FI_EFAULT, "registered memory is not mapped: %p, %zu bytes",
                      static_cast<const void *>(registration.memory), registration.bytes);
    return 0;
}

int fi_mr_reg(fid *domain, const void *memory, std::size_t bytes, std::uint64_t access,
              std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr **out,
              void *context) {
    const Guard guard;
    if (guard.is_of_provider())
        return it()
            .domains.at(object_of<fid_domain>(domain))
            .real_registering->reg(domain, memory, bytes, access, offset, key, flags, out, context);
    auto made = std::make_unique<Registration>();
    Registration &registration = *made;
    registration.domain = object_of<fid_domain>(domain);
    registration.memory = static_cast<std::byte *>(const_cast<void *>(memory));
    registration.bytes = bytes;
    registration.access = access;
    registration.requested = key;
    registration.flags = flags;
    const Settings &settings = it().domains.at(registration.domain).settings;
    if (offset != 0) return broken(-FI_EINVAL, "memory is registered with an offset");
    if ((access & (kRemote | FI_SEND | FI_RECV | FI_READ | FI_WRITE)) == 0)
        return broken(-FI_EINVAL, "memory is registered without access rights");
    int code = check_new(settings, registration);
    if (code != 0) return code;
    if ((access & (kRemote | FI_SEND | FI_RECV)) == 0 && it().refuses(settings.unlent))
        return -FI_ENOMEM;
    registration.ops = fi_ops{sizeof(fi_ops),
                              close_registration,
                              bind_registration,
                              control_registration,
                              nullptr,
                              nullptr,
                              nullptr};
    registration.mr.fid = fid{FI_CLASS_MR, context, &registration.ops};
    registration.mr.mem_desc = &registration;
    registration.mr.key = FI_KEY_NOTAVAIL;
    if ((settings.mr_mode & FI_MR_ENDPOINT) == 0) code = enable(registration);
    if (code != 0) return code;
    *out = &registration.mr;
    it().registrations[*out] = std::move(made);
    return 0;
}

int map_raw_key(Domain &domain, const struct fi_mr_map_raw &raw) {
    std::uint64_t key = 0;
    std::uint64_t check = 0;
    if (raw.key_size != domain.settings.key_bytes)
        return broken(-FI_EINVAL, "a raw key of %zu bytes", raw.key_size);
    std::memcpy(&key, raw.raw_key, sizeof key);
    std::memcpy(&check, raw.raw_key + raw.key_size - sizeof check, sizeof check);
    if (check != ~key) return broken(-FI_EINVAL, "a raw key that no peer has given");
    *raw.key = ++domain.last_mapped;
    domain.mapped_keys[*raw.key] = key;
    return 0;
}

}  // namespace

int domain_control(fid *object, int command, void *argument) {
    const Guard guard;
    Domain &domain = it().domains.at(object_of<fid_domain>(object));
    if ((domain.settings.mr_mode & FI_MR_RAW) != 0) {
        if (command == FI_MAP_RAW_MR)
            return map_raw_key(domain, *static_cast<const struct fi_mr_map_raw *>(argument));
        if (command == FI_UNMAP_KEY)
            return domain.mapped_keys.erase(*static_cast<std::uint64_t *>(argument)) != 0
                       ? 0
                       : broken(-FI_EINVAL, "an unknown raw key is unmapped");
    }
    return broken(-FI_ENOSYS, "a command %d to a domain", command);
}

Registration *find_descriptor(void *descriptor) {
    // A descriptor is the address of its registration.
    const auto found = it().registrations.find(static_cast<fid_mr *>(descriptor));
    return found == it().registrations.end() ? nullptr : found->second.get();
}

void wrap_registering(Domain &domain) {
    domain.real_registering = domain.object->mr;
    copy_table(domain.object->mr, &domain.registering);
    domain.registering.reg = fi_mr_reg;
    refuse<"regv">(&domain.registering.regv);
    refuse<"regattr">(&domain.registering.regattr);
    domain.object->mr = &domain.registering;
}

}  // namespace layer
