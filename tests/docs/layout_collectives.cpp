// Structs that members of a team write for each other in collective calls.
#include "layout.hpp"

#include "coll/area.hpp"
#include "team/nodes.hpp"

void print_collective_layouts() {
    using namespace sennit::coll;
    using sennit::coll::Slot;  // not a rank's
    using sennit::team::PostWords;
    STRUCT(Area);
    FIELD(Area, latest);
    FIELD(Area, tiny_slots);
    FIELD(Area, small_slots);
    FIELD(Area, slots);
    STRUCT(LatestPost);
    FIELD(LatestPost, number);
    FIELD(LatestPost, team);
    FIELD(LatestPost, lost);
    FIELD(LatestPost, status);
    STRUCT(SmallSlot);
    FIELD(SmallSlot, header);
    FIELD(SmallSlot, payload);
    STRUCT(Slot);
    FIELD(Slot, header);
    FIELD(Slot, payload);
    STRUCT(SlotHeader);
    FIELD(SlotHeader, number);
    FIELD(SlotHeader, call);
    FIELD(SlotHeader, bytes);
    FIELD(SlotHeader, rounds);
    FIELD(SlotHeader, status);
    STRUCT(BufferDescription);
    FIELD(BufferDescription, most_bytes);
    FIELD(BufferDescription, flags);
    FIELD(BufferDescription, wide_segment);
    FIELD(BufferDescription, source);
    FIELD(BufferDescription, destination);
    STRUCT(PostWords);
    FIELD(PostWords, words);
    FIELD(PostWords, released);
    FIELD(PostWords, beside);
    STRUCT(BufferPlace);
    FIELD(BufferPlace, segment);
    FIELD(BufferPlace, live);
    FIELD(BufferPlace, offset);
    FIELD(BufferPlace, extent);
    STRUCT(BufferExtent);
    FIELD(BufferExtent, offset);
    FIELD(BufferExtent, bytes);
}
