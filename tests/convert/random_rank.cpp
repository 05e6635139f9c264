// Random messages with random datatypes, different on both sides, sent by MPI and by a plan with
// the same arguments: afterwards all ranks have the same memory, byte by byte. Each rank makes its
// calls in its own order. One seed in three reverses the ranks, and one sends between even and odd
// ranks by an intercommunicator. Broken by a combiner that is read wrongly, runs of bytes in
// another order than in the type map, a message that goes to another receive, a rank of a
// communicator used as one of the world, and writes to the bytes between runs.
//
// Arguments: the number of seeds; before it "nodes" for ranks on two simulated nodes.
#include <mpi.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "end_mpi.hpp"
#include "nodes.h"
#include "which_mpi.hpp"

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random &random, std::uint64_t end) {
    return random() % end;
}

void need(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "%s: %s\n", what, sennit_last_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// A datatype that is freed with the object.
class Type {
  public:
    explicit Type(MPI_Datatype type, bool is_ours = true) : m_type(type), m_is_ours(is_ours) {}
    Type(Type &&other) noexcept
        : m_type(other.m_type), m_is_ours(std::exchange(other.m_is_ours, false)) {}
    Type(const Type &) = delete;
    Type &operator=(const Type &) = delete;
    ~Type() {
        if (m_is_ours) MPI_Type_free(&m_type);
    }
    MPI_Datatype get() const { return m_type; }
    MPI_Aint extent() const {
        MPI_Aint lower, bytes;
        MPI_Type_get_extent(m_type, &lower, &bytes);
        return bytes;
    }

  private:
    MPI_Datatype m_type;
    bool m_is_ours;
};

// Elements of one kind in a datatype of a random shape. Elements do not overlap, and the extent
// covers all touched bytes.
Type make(Random &random, MPI_Datatype kind, int elements, int depth);

// A random divisor of `elements`: the number of them in one element of the inner type.
int part_of(Random &random, int elements) {
    std::vector<int> parts;
    for (int part = 1; part <= elements; ++part)
        if (elements % part == 0) parts.push_back(part);
    return parts[below(random, parts.size())];
}

std::vector<int> cut(Random &random, int whole, int most) {
    std::vector<int> parts;
    while (whole > 0) {
        const int part =
            static_cast<int>(below(random, static_cast<std::uint64_t>(std::min(whole, most)))) + 1;
        parts.push_back(part);
        whole -= part;
    }
    if (below(random, 4) == 0)
        parts.insert(parts.begin() + static_cast<long>(below(random, parts.size() + 1)), 0);
    return parts;
}

// Places without overlap for parts of these lengths, in a random order; some below 0.
std::vector<int> places_for(Random &random, const std::vector<int> &parts) {
    std::vector<std::size_t> order(parts.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int> places(parts.size());
    int at = static_cast<int>(below(random, 3)) - (below(random, 4) == 0 ? 5 : 0);
    for (const std::size_t i : order) {
        places[i] = at;
        at += parts[i] + static_cast<int>(below(random, 3));
    }
    return places;
}

Type blocks(Random &random, const Type &inner, int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const std::vector<int> parts = cut(random, count, 3);
    const std::vector<int> places = places_for(random, parts);
    std::vector<MPI_Aint> bytes;
    for (const int place : places)
        bytes.push_back(place * inner.extent());
    const int size = static_cast<int>(parts.size());
    switch (below(random, 3)) {
        case 0:
            MPI_Type_indexed(size, parts.data(), places.data(), inner.get(), &type);
            break;
        case 1:
            MPI_Type_create_hindexed(size, parts.data(), bytes.data(), inner.get(), &type);
            break;
        default: {
            const std::vector<MPI_Datatype> types(parts.size(), inner.get());
            MPI_Type_create_struct(size, parts.data(), bytes.data(), types.data(), &type);
        }
    }
    return Type(type);
}

Type equal_blocks(Random &random, const Type &inner, int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = part_of(random, count);
    const std::vector<int> parts(static_cast<std::size_t>(count / length), length);
    const std::vector<int> places = places_for(random, parts);
    if (below(random, 2) == 0) {
        MPI_Type_create_indexed_block(count / length, length, places.data(), inner.get(), &type);
    } else {
        std::vector<MPI_Aint> bytes;
        for (const int place : places)
            bytes.push_back(place * inner.extent());
        MPI_Type_create_hindexed_block(count / length, length, bytes.data(), inner.get(), &type);
    }
    return Type(type);
}

Type subarray(Random &random, const Type &inner, int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::vector<int> parts;
    const std::size_t dimensions = below(random, 4) + 1;
    for (int left = count; parts.size() < dimensions; left /= parts.back())
        parts.push_back(parts.size() == dimensions - 1 ? left : part_of(random, left));
    std::vector<int> sizes, starts;
    for (const int part : parts) {
        starts.push_back(static_cast<int>(below(random, 3)));
        sizes.push_back(part + starts.back() + static_cast<int>(below(random, 2)));
    }
    MPI_Type_create_subarray(static_cast<int>(dimensions), sizes.data(), parts.data(),
                             starts.data(), below(random, 2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             inner.get(), &type);
    return Type(type);
}

// One rank's part of a distributed array, which has the right number of elements.
Type distributed(Random &random, const Type &inner, int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::vector<int> parts{part_of(random, count)};
    parts.push_back(count / parts[0]);
    std::vector<int> sizes, ways, arguments, ranks;
    for (const int part : parts) {
        const int block = part_of(random, part);
        ranks.push_back(static_cast<int>(below(random, 3)) + 1);
        switch (below(random, 4)) {
            case 0:
                ranks.back() = 1;
                ways.push_back(MPI_DISTRIBUTE_NONE);
                arguments.push_back(MPI_DISTRIBUTE_DFLT_DARG);
                break;
            case 1:
                ways.push_back(MPI_DISTRIBUTE_BLOCK);
                arguments.push_back(below(random, 2) == 0 ? MPI_DISTRIBUTE_DFLT_DARG : part);
                break;
            case 2:
                ways.push_back(MPI_DISTRIBUTE_CYCLIC);
                arguments.push_back(block);
                break;
            default:
                ways.push_back(MPI_DISTRIBUTE_CYCLIC);
                arguments.push_back(MPI_DISTRIBUTE_DFLT_DARG);
        }
        sizes.push_back(part * ranks.back());
    }
    const int all = ranks[0] * ranks[1];
    MPI_Type_create_darray(all, static_cast<int>(below(random, static_cast<std::uint64_t>(all))), 2,
                           sizes.data(), ways.data(), arguments.data(), ranks.data(),
                           below(random, 2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner.get(),
                           &type);
    return Type(type);
}

Type vector(Random &random, const Type &inner, int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = part_of(random, count);
    const int step = length + static_cast<int>(below(random, 3));
    int stride = below(random, 4) == 0 ? -step : step;
    // Open MPI 4.1 treats adjacent blocks with a negative stride as one run that goes forward.
    if (stride == -length && is_mpi("Open MPI")) --stride;
    if (below(random, 2) == 0)
        MPI_Type_vector(count / length, length, stride, inner.get(), &type);
    else
        MPI_Type_create_hvector(count / length, length, stride * inner.extent(), inner.get(),
                                &type);
    return Type(type);
}

Type padded(Random &random, const Type &inner) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint lower, bytes;
    MPI_Type_get_extent(inner.get(), &lower, &bytes);
    const MPI_Aint before = static_cast<MPI_Aint>(16 * below(random, 2));
    MPI_Type_create_resized(inner.get(), lower - before,
                            before + bytes + static_cast<MPI_Aint>(16 * below(random, 3)), &type);
    return Type(type);
}

// Makes the extent cover all touched bytes and start at 0 or below. Open MPI 4.1 ignores the place
// of a single block of hindexed and similar types in the lower bound.
Type covering(Type type) {
    MPI_Aint lower, extent, first, bytes;
    MPI_Type_get_extent(type.get(), &lower, &extent);
    MPI_Type_get_true_extent(type.get(), &first, &bytes);
    if (lower <= first && first + bytes <= lower + extent) return type;
    MPI_Datatype wide = MPI_DATATYPE_NULL;
    const MPI_Aint begin = std::min<MPI_Aint>(first, 0);
    MPI_Type_create_resized(type.get(), begin, first + bytes - begin, &wide);
    return Type(wide);
}

Type make_any(Random &random, MPI_Datatype kind, int elements, int depth);
Type make(Random &random, MPI_Datatype kind, int elements, int depth) {
    return covering(make_any(random, kind, elements, depth));
}

Type make_any(Random &random, MPI_Datatype kind, int elements, int depth) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (elements == 1 && depth > 0 && below(random, 2) == 0) return Type(kind, false);
    if (depth == 3) {
        MPI_Type_contiguous(elements, kind, &type);
        return Type(type);
    }
    const int part = part_of(random, elements);
    const Type inner = make(random, kind, part, depth + 1);
    const int count = elements / part;
    switch (below(random, 8)) {
        case 0:
            MPI_Type_contiguous(count, inner.get(), &type);
            return Type(type);
        case 1:
            return vector(random, inner, count);
        case 2:
            return blocks(random, inner, count);
        case 3:
            return equal_blocks(random, inner, count);
        case 4:
            return subarray(random, inner, count);
        case 5: {
            const Type flat = covering(vector(random, inner, count));
            return padded(random, flat);
        }
        case 6:
            return distributed(random, inner, count);
        default: {
            const Type flat = blocks(random, inner, count);
            MPI_Type_dup(flat.get(), &type);
            return Type(type);
        }
    }
}

// A part of a message: some elements of one kind.
struct Segment {
    MPI_Datatype kind;
    int elements;
};

// One datatype of all segments, in their order in memory or in another one.
Type make_all(Random &random, const std::vector<Segment> &segments) {
    std::vector<Type> inner;
    std::vector<int> ones;
    for (const Segment &segment : segments) {
        inner.push_back(make(random, segment.kind, segment.elements, 0));
        ones.push_back(1);
    }
    if (inner.size() == 1) return std::move(inner[0]);
    const std::vector<int> order = places_for(random, ones);
    std::vector<MPI_Aint> places(segments.size());
    std::vector<MPI_Datatype> types;
    std::vector<std::size_t> by_place(segments.size());
    for (std::size_t i = 0; i < by_place.size(); ++i)
        by_place[i] = i;
    std::sort(by_place.begin(), by_place.end(),
              [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
    MPI_Aint at = static_cast<MPI_Aint>(16 * below(random, 2)) - (below(random, 4) == 0 ? 48 : 0);
    for (const std::size_t i : by_place) {
        places[i] = at;
        at += (inner[i].extent() + 15) / 16 * 16 + static_cast<MPI_Aint>(16 * below(random, 2));
    }
    for (const Type &type : inner)
        types.push_back(type.get());
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(types.size()), ones.data(), places.data(), types.data(),
                           &type);
    return covering(Type(type));
}

// The side that has the message packed, as bytes of MPI_PACKED.
enum class Packed { nobody, sender, receiver };

struct Message {
    int from, to, tag;
    int sent, received;  // elements; a receive may be longer
    Packed packed;
    std::uint64_t send_shape, receive_shape;
    std::vector<Segment> segments;
};

// The memory that a message's type touches, with a margin.
struct Buffer {
    std::vector<unsigned char> bytes;
    std::size_t origin = 0;

    Buffer(MPI_Datatype type, int count, unsigned char fill) {
        MPI_Aint lower, extent, first, size;
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Type_get_true_extent(type, &first, &size);
        origin = 64 + static_cast<std::size_t>(first < 0 ? -first : 0);
        bytes.assign(origin + static_cast<std::size_t>(std::max<MPI_Aint>(0, first)) +
                         static_cast<std::size_t>(size) +
                         static_cast<std::size_t>(extent) * static_cast<std::size_t>(count) + 64,
                     fill);
    }
    unsigned char *at() { return bytes.data() + origin; }
};

// The communicator of a seed. Messages name ranks by `rank`; in an intercommunicator the even and
// the odd ranks are the two groups.
struct Ranks {
    MPI_Comm comm;
    int rank, size;
    bool is_inter = false;

    int partner(int other) const { return is_inter ? other / 2 : other; }
};

std::vector<Message> random_messages(Random &random, const Ranks &ranks) {
    const MPI_Datatype kinds[] = {MPI_CHAR,
                                  MPI_SHORT,
                                  MPI_INT,
                                  MPI_LONG,
                                  MPI_FLOAT,
                                  MPI_BYTE,
                                  MPI_DOUBLE,
                                  MPI_DOUBLE_INT,
                                  MPI_SHORT_INT,
                                  MPI_2INT,
                                  MPI_FLOAT_INT,
                                  MPI_LONG_INT,
                                  MPI_C_BOOL,
                                  MPI_INT64_T,
                                  MPI_2INTEGER,
                                  MPI_2DOUBLE_PRECISION,
                                  MPI_LONG_DOUBLE_INT,
                                  MPI_C_DOUBLE_COMPLEX,
                                  MPI_DOUBLE_COMPLEX};
    std::vector<Message> messages(below(random, 7) + 1);
    for (Message &message : messages) {
        const auto size = static_cast<std::uint64_t>(ranks.size);
        message.from = static_cast<int>(below(random, size));
        do
            message.to = static_cast<int>(below(random, size));
        while (ranks.is_inter && (message.from + message.to) % 2 == 0);
        message.tag = static_cast<int>(below(random, 2));
        message.sent = static_cast<int>(below(random, 4));
        message.received = message.sent + static_cast<int>(below(random, 2));
        for (std::uint64_t i = below(random, 3) + 1; i > 0; --i)
            message.segments.push_back(
                {kinds[below(random, std::size(kinds))], static_cast<int>(below(random, 24)) + 1});
        const Packed sides[] = {Packed::sender, Packed::receiver, Packed::nobody};
        message.packed = sides[std::min<std::uint64_t>(below(random, 16), 2)];
        message.send_shape = random();
        message.receive_shape = random();
    }
    return messages;
}

Type type_of(std::uint64_t shape, const std::vector<Segment> &segments) {
    Random random(shape);
    Type type = make_all(random, segments);
    MPI_Datatype committed = type.get();
    MPI_Type_commit(&committed);
    return type;
}

// One rank's sides of the messages, indexed by message.
struct Sides {
    explicit Sides(std::size_t messages) : sources(messages), by_mpi(messages), by_plan(messages) {}
    std::vector<Type> types;
    std::vector<std::unique_ptr<Buffer>> sources, by_mpi, by_plan;
    std::vector<MPI_Request> requests;
    sennit_message_plan *plan = nullptr;
};

// Open MPI 4.1 misplaces some bytes of a rank's message to itself, where it cuts a message of about
// 1 KiB within an element. Pack and unpack place them correctly.
bool is_by_pack(const Message &message) {
    return message.from == message.to && is_mpi("Open MPI");
}

void unpack(const Message &message, const void *source, void *target) {
    const Type sent = type_of(message.send_shape, message.segments);
    const Type received = type_of(message.receive_shape, message.segments);
    int bytes = 0, at = 0;
    MPI_Pack_size(message.sent, sent.get(), MPI_COMM_SELF, &bytes);
    std::vector<char> packed(static_cast<std::size_t>(bytes) + 1);
    int size = 0;
    MPI_Type_size(sent.get(), &size);
    const auto length = static_cast<std::size_t>(size) * static_cast<std::size_t>(message.sent);
    if (message.packed == Packed::sender)
        std::memcpy(packed.data(), source, length);
    else
        MPI_Pack(source, message.sent, sent.get(), packed.data(), bytes, &at, MPI_COMM_SELF);
    at = 0;
    if (message.packed == Packed::receiver)
        std::memcpy(target, packed.data(), length);
    else
        MPI_Unpack(packed.data(), bytes, &at, target, message.sent, received.get(), MPI_COMM_SELF);
}

// The count and datatype of one side of a message.
struct Side {
    int count;
    MPI_Datatype type;
};

Side side_of(Sides &all, const Message &message, bool is_sender) {
    const int count = is_sender ? message.sent : message.received;
    const std::uint64_t shape = is_sender ? message.send_shape : message.receive_shape;
    all.types.push_back(type_of(shape, message.segments));
    const MPI_Datatype type = all.types.back().get();
    if (message.packed != (is_sender ? Packed::sender : Packed::receiver)) return {count, type};
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    return {count * bytes, MPI_PACKED};
}

// A call of a rank.
struct Call {
    std::size_t message;
    bool is_send;
};

// The rank's calls in a random order, except calls that MPI matches by their order.
std::vector<Call> calls_of(Random &random, const std::vector<Message> &messages, int rank) {
    std::vector<Call> calls;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (messages[i].from == rank) calls.push_back({i, true});
        if (messages[i].to == rank) calls.push_back({i, false});
    }
    std::shuffle(calls.begin(), calls.end(), random);
    const auto is_matched_alike = [&](const Call &a, const Call &b) {
        const Message &one = messages[a.message], &other = messages[b.message];
        return a.is_send == b.is_send && one.from == other.from && one.to == other.to &&
               one.tag == other.tag;
    };
    for (std::size_t i = 0; i < calls.size(); ++i)
        for (std::size_t j = i + 1; j < calls.size(); ++j)
            if (is_matched_alike(calls[i], calls[j]) && calls[j].message < calls[i].message)
                std::swap(calls[i], calls[j]);
    return calls;
}

void send(Random &random, const Message &message, std::size_t at, const Ranks &ranks, Sides &all) {
    const Side side = side_of(all, message, true);
    all.sources[at] = std::make_unique<Buffer>(side.type, side.count, 0);
    for (unsigned char &byte : all.sources[at]->bytes)
        byte = static_cast<unsigned char>(random());
    if (!is_by_pack(message))
        MPI_Isend(all.sources[at]->at(), side.count, side.type, ranks.partner(message.to),
                  message.tag, ranks.comm, &all.requests.emplace_back());
    need(sennit_plan_isend(all.plan, all.sources[at]->at(), side.count, side.type,
                           ranks.partner(message.to), message.tag, ranks.comm, SENNIT_SIGNAL_NULL,
                           nullptr) == SENNIT_OK,
         "isend");
}

void receive(const Message &message, std::size_t at, const Ranks &ranks, Sides &all) {
    const Side side = side_of(all, message, false);
    all.by_mpi[at] = std::make_unique<Buffer>(side.type, side.count, 0xa5);
    all.by_plan[at] = std::make_unique<Buffer>(side.type, side.count, 0xa5);
    if (!is_by_pack(message))
        MPI_Irecv(all.by_mpi[at]->at(), side.count, side.type, ranks.partner(message.from),
                  message.tag, ranks.comm, &all.requests.emplace_back());
    need(sennit_plan_irecv(all.plan, all.by_plan[at]->at(), side.count, side.type,
                           ranks.partner(message.from), message.tag, ranks.comm, SENNIT_SIGNAL_NULL,
                           nullptr) == SENNIT_OK,
         "irecv");
}

// Runs the plan twice; returns the number of receives that differ from MPI's.
int differences_of(const Sides &all) {
    int differences = 0;
    for (int run = 0; run < 2; ++run) {
        need(sennit_message_plan_start(all.plan) == SENNIT_OK, "start");
        need(sennit_message_plan_wait(all.plan, INT64_C(20'000'000'000)) == SENNIT_OK, "wait");
        for (std::size_t i = 0; i < all.by_mpi.size(); ++i) {
            if (all.by_mpi[i] == nullptr) continue;
            differences += all.by_mpi[i]->bytes != all.by_plan[i]->bytes;
            std::fill(all.by_plan[i]->bytes.begin(), all.by_plan[i]->bytes.end(), 0xa5);
        }
    }
    return differences;
}

int run_seed(std::uint64_t seed, const Ranks &ranks) {
    Random random(seed);
    const std::vector<Message> messages = random_messages(random, ranks);
    // Gives each rank a different order.
    random.discard(static_cast<unsigned long long>(ranks.rank));
    Sides all(messages.size());
    need(sennit_message_plan_create(ranks.comm, &all.plan) == SENNIT_OK, "create");
    for (const Call &call : calls_of(random, messages, ranks.rank)) {
        const Message &message = messages[call.message];
        if (call.is_send)
            send(random, message, call.message, ranks, all);
        else
            receive(message, call.message, ranks, all);
    }
    for (std::size_t i = 0; i < messages.size(); ++i)
        if (messages[i].to == ranks.rank && is_by_pack(messages[i]))
            unpack(messages[i], all.sources[i]->at(), all.by_mpi[i]->at());
    all.types.clear();
    MPI_Waitall(static_cast<int>(all.requests.size()), all.requests.data(), MPI_STATUSES_IGNORE);
    need(sennit_message_plan_commit(all.plan, INT64_C(20'000'000'000)) == SENNIT_OK, "commit");
    const int differences = differences_of(all);
    MPI_Barrier(MPI_COMM_WORLD);
    need(sennit_message_plan_destroy(all.plan) == SENNIT_OK, "destroy");
    return differences;
}

}  // namespace

int main(int argc, char **argv) {
    int rank = 0, size = 0, failures = 0;
    MPI_Init(&argc, &argv);
    use_nodes(argc, argv);
    need(sennit_init_mpi(MPI_COMM_WORLD, nullptr) == SENNIT_OK, "init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *const word = argc > 1 && std::strcmp(argv[1], "nodes") == 0 ? argv[2] : argv[1];
    const std::uint64_t seeds = std::strtoull(word, nullptr, 10);
    MPI_Comm turned = MPI_COMM_NULL, half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
    const Ranks all[] = {
        {inter, rank, size, true}, {MPI_COMM_WORLD, rank, size}, {turned, size - 1 - rank, size}};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const int differences = run_seed(seed, all[seed % 3]);
        if (differences != 0)
            std::printf("seed %llu: rank %d has other bytes than with MPI\n",
                        static_cast<unsigned long long>(seed), rank);
        failures += differences != 0;
    }
    for (MPI_Comm *const comm : {&turned, &half, &inter})
        MPI_Comm_free(comm);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%llu seeds, %d failures\n", static_cast<unsigned long long>(seeds), failures);
    need(sennit_finalize() == SENNIT_OK, "finalize");
    if (failures != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    end_mpi();
    return 0;
}
