// SPDX-License-Identifier: BSD-3-Clause
// Tries the mechanisms in this order: inproc, xpmem, adopt, cma (docs/manual/registered-memory.md).
#include "memory/registration.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/words.hpp"
#include "memory/adopt/adopt.hpp"
#include "memory/xpmem.hpp"

namespace sennit::memory {

using adopt::Adoption;
using adopt::Extent;

namespace {

constexpr Mechanism kOrder[] = {Mechanism::same_process, Mechanism::xpmem, Mechanism::adopted,
                                Mechanism::copied};
constexpr std::size_t kMechanisms = sizeof kOrder / sizeof kOrder[0];

// Reads the mechanisms of SENNIT_REGISTER as a set of indices into kOrder. False: a word is
// invalid.
bool read_list(const char *list, unsigned *set) {
    if (*list == '\0') {
        *set = (1u << kMechanisms) - 1;
        return true;
    }
    *set = 0;
    const auto take = [&](std::string_view word) {
        for (std::size_t i = 0; i < kMechanisms; ++i) {
            if (word != mechanism_name(kOrder[i])) continue;
            *set |= 1u << i;
            return true;
        }
        return false;
    };
    return first_refused(list, ',', take).data() == nullptr;
}

struct Peers {
    bool all_in_process = true;  // all peers with a path are threads of this process
    bool some_map = false;       // a peer maps this rank's memory
};

Peers look_at_peers(const Rank &rank) {
    Peers found;
    for (int peer = 0; peer < world_size(rank); ++peer) {
        const sennit_path path = rank.peers[peer].path;
        found.some_map |= path == SENNIT_PATH_MAPPED;
        if (peer != rank.world_rank && path != SENNIT_PATH_NONE)
            found.all_in_process &= path == SENNIT_PATH_INPROC;
    }
    return found;
}

// A registration in progress, with the reason of each mechanism that was refused.
struct Attempt {
    Rank &rank;
    const RegistrationArgs &args;
    unsigned allowed;  // set of indices into kOrder
    Peers peers;
    Refused refused[kMechanisms] = {};
    Mechanism taken = Mechanism::none;
    Adoption adoption{};
    XpmemPart part{};
};

Refused try_one(Attempt &attempt, Mechanism mechanism) {
    const auto address = reinterpret_cast<std::uintptr_t>(attempt.args.memory);
    const bool is_forced = (attempt.allowed & (attempt.allowed - 1)) == 0;
    switch (mechanism) {
        case Mechanism::same_process:
            if (attempt.peers.all_in_process) return {};
            return {Refusal::other_processes, 0};
        case Mechanism::xpmem:
            if (attempt.args.bytes == 0) return {Refusal::no_bytes, 0};
            return xpmem_offer(address, attempt.args.bytes, &attempt.part);
        case Mechanism::adopted:
            if (attempt.args.bytes == 0) return {Refusal::no_bytes, 0};
            if (!attempt.peers.some_map && !is_forced) return {Refusal::none_maps, 0};
            return adopt::adopt(
                attempt.rank,
                {address, attempt.args.bytes, attempt.args.consents, attempt.args.stack_frames},
                &attempt.adoption);
        default:
            return {};
    }
}

void choose(Attempt &attempt) {
    for (std::size_t i = 0; i < kMechanisms && attempt.taken == Mechanism::none; ++i) {
        attempt.refused[i] = {Refusal::not_allowed, 0};
        if ((attempt.allowed >> i & 1) == 0) continue;
        attempt.refused[i] = try_one(attempt, kOrder[i]);
        if (attempt.refused[i].is_none()) attempt.taken = kOrder[i];
    }
    // An empty region needs no mechanism.
    if (attempt.args.bytes == 0 && attempt.taken == Mechanism::none)
        attempt.taken = Mechanism::copied;
}

sennit_status none_takes_it(const Attempt &attempt) {
    char text[400] = "";
    std::size_t length = 0;
    for (std::size_t i = 0; i < kMechanisms && length < sizeof text; ++i) {
        if ((attempt.allowed >> i & 1) == 0) continue;
        char sentence[200];
        refusal_text(attempt.refused[i], sentence, sizeof sentence);
        const int added =
            std::snprintf(text + length, sizeof text - length, "%s%s: %s", length == 0 ? "" : "; ",
                          mechanism_name(kOrder[i]), sentence);
        length += static_cast<std::size_t>(added);
    }
    return fail(SENNIT_ERR_UNSUPPORTED, "nothing in SENNIT_REGISTER=%s takes %llu byte%s at %p: %s",
                runtime::knobs().register_by.text,
                static_cast<unsigned long long>(attempt.args.bytes), plural(attempt.args.bytes),
                attempt.args.memory, text);
}

// For each record of adopted memory, by its slot: the row of its run in the table of adopted pages
// (adopt/table.hpp). The first call makes the array. Null: no memory.
std::uint32_t *runs_of(Rank &rank) {
    LocalSegments &own = *rank.segments;
    if (own.runs == nullptr)
        own.runs =
            static_cast<std::uint32_t *>(std::calloc(kSegmentsPerTeam, sizeof(std::uint32_t)));
    return own.runs;
}

void describe(const Attempt &attempt, SegmentRecord &draft) {
    draft.kind = SegmentKind::registered;
    draft.mechanism = attempt.taken;
    draft.bytes = attempt.args.bytes;
    draft.owner_address = reinterpret_cast<std::uintptr_t>(attempt.args.memory);
    draft.alignment = 1;
    draft.page_bytes = static_cast<std::uint32_t>(page_bytes());
    for (std::size_t i = 0; i < kMechanisms; ++i)
        draft.refusals[i] = static_cast<std::uint8_t>(attempt.refused[i].code);
    draft.refusal_details[0] = attempt.refused[1].detail;
    draft.refusal_details[1] = attempt.refused[2].detail;
}

void place_extent(SegmentRecord &draft, const Extent &extent) {
    draft.file_offset = extent.file_offset;
    draft.mapped_bytes = extent.bytes;
    draft.slot_bytes = extent.slot_bytes;
    draft.alignment = extent.bytes >= kHugePageBytes ? kHugePageBytes : page_bytes();
}

void unregister_all(const Adoption &adoption) {
    std::uint32_t runs[adopt::kMostExtents];
    for (std::uint32_t i = 0; i < adoption.count; ++i)
        runs[i] = adoption.extents[i].run;
    adopt::unregister(runs, adoption.count);
}

// Publishes a record for each extent of an adopted region. Begins with the last one, because each
// record has the slot of the next.
sennit_status publish_chain(Attempt &attempt, SegmentRecord **out) {
    const Adoption &adoption = attempt.adoption;
    std::uint32_t *const runs = runs_of(attempt.rank);
    sennit_status status =
        runs != nullptr ? SENNIT_OK : fail(SENNIT_ERR_NOMEM, "no memory for the table of runs");
    SegmentRecord *made = nullptr;
    for (std::uint32_t i = adoption.count; i-- > 0 && status == SENNIT_OK;) {
        SegmentRecord draft{};
        describe(attempt, draft);
        const Extent &extent = adoption.extents[i];
        place_extent(draft, extent);
        draft.next_extent = made != nullptr ? made->owner_slot + 1 : 0;
        if (i == 0) {
            draft.head_bytes = static_cast<std::uint32_t>(draft.owner_address - extent.address);
        } else {
            draft.view_offset = extent.address - adoption.extents[0].address;
            draft.owner_address = extent.address;
            draft.bytes = 0;
        }
        SegmentRecord *next = nullptr;
        status = segment_publish(attempt.rank, draft, &next);
        if (status != SENNIT_OK) break;
        runs[next->owner_slot] = extent.run;
        made = next;
    }
    if (status == SENNIT_OK) {
        *out = made;
        return status;
    }
    while (made != nullptr) {
        const std::uint32_t next = made->next_extent;
        segment_withdraw(attempt.rank, *made);
        made = next != 0 ? &attempt.rank.control->records[next - 1] : nullptr;
    }
    unregister_all(adoption);
    return status;
}

sennit_status publish_one(Attempt &attempt, SegmentRecord **out) {
    SegmentRecord draft{};
    describe(attempt, draft);
    if (attempt.taken == Mechanism::xpmem) {
        draft.mapped_bytes = attempt.part.bytes;
        draft.head_bytes = attempt.part.head_bytes;
        draft.mapping_inode = static_cast<std::uint64_t>(attempt.part.segment);
    }
    const sennit_status status = segment_publish(attempt.rank, draft, out);
    if (status != SENNIT_OK) {
        if (attempt.taken == Mechanism::xpmem) xpmem_withdraw(attempt.part.segment);
        return status;
    }
    adopt::hold(draft.owner_address, draft.bytes);
    return SENNIT_OK;
}

}  // namespace

sennit_status segment_register(Rank &rank, const RegistrationArgs &args, SegmentRecord **out) {
    Attempt attempt{rank, args, 0, look_at_peers(rank)};
    (void)read_list(runtime::knobs().register_by.text, &attempt.allowed);
    // If a later mechanism takes the memory, the thread's last error stays as it was.
    const sennit_error before = *thread_error();
    choose(attempt);
    if (attempt.taken == Mechanism::none) return none_takes_it(attempt);
    *thread_error() = before;
    return attempt.taken == Mechanism::adopted ? publish_chain(attempt, out)
                                               : publish_one(attempt, out);
}

sennit_status segment_lend(Rank &rank, void *memory, std::uint64_t bytes, SegmentRecord **out) {
    const RegistrationArgs args{memory, bytes};
    Attempt attempt{rank, args, 0, {}};
    attempt.taken = Mechanism::copied;
    return publish_one(attempt, out);
}

void registration_end(Rank &rank, const SegmentRecord &record) {
    if (record.mechanism != Mechanism::adopted) {
        if (record.mechanism == Mechanism::xpmem)
            xpmem_withdraw(static_cast<std::int64_t>(record.mapping_inode));
        adopt::let_go(record.owner_address, record.bytes);
        return;
    }
    std::uint32_t runs[adopt::kMostExtents];
    std::uint32_t count = 0;
    runs[count++] = rank.segments->runs[record.owner_slot];
    for (std::uint32_t next = record.next_extent; next != 0;) {
        SegmentRecord &part = rank.control->records[next - 1];
        next = part.next_extent;
        runs[count++] = rank.segments->runs[part.owner_slot];
        segment_withdraw(rank, part);
    }
    adopt::unregister(runs, count);
}

sennit_status registration_check_knob() {
    unsigned set = 0;
    if (read_list(runtime::knobs().register_by.text, &set)) return SENNIT_OK;
    return fail(SENNIT_ERR_ARG,
                "SENNIT_REGISTER=%s has a word that is none of inproc, xpmem, adopt, cma",
                runtime::knobs().register_by.text);
}

const char *mechanism_name(Mechanism mechanism) {
    constexpr const char *kNames[] = {"none", "allocated", "inproc", "xpmem", "adopt", "cma"};
    return kNames[static_cast<std::size_t>(mechanism)];
}

Refused registration_refusal(const SegmentRecord &record, Mechanism mechanism) {
    for (std::size_t i = 0; i < kMechanisms; ++i) {
        if (kOrder[i] != mechanism) continue;
        const auto code = static_cast<Refusal>(record.refusals[i]);
        if (i == 1) return {code, record.refusal_details[0]};
        if (i == 2) return {code, record.refusal_details[1]};
        return {code, 0};
    }
    return {};
}

}  // namespace sennit::memory
