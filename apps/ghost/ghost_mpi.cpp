// ghost with MPI send and receive. The receives are started first; then each slab is sent, packed
// into a buffer or described by a derived datatype (--faces). A received buffer is copied into the
// ghost cells as soon as it arrives, unless the step reads it (`packed` without diagonals).
// Requests are persistent, except with --faces isend, which starts every message anew as many codes
// do. A contiguous slab is never packed.
#include "halo.hpp"
#include "run.hpp"

#include "common/mpi_ranks.hpp"

#include <fmt/format.h>

#include <climits>
#include <vector>

namespace ghost {
namespace {

class Ranks final : public apps::MpiRanks {
  public:
    using apps::MpiRanks::world;
};

// The arguments of one call of MPI that sends or receives.
struct Message {
    double *place;
    int count;
    MPI_Datatype type;
};

class MpiHalo final : public Halo {
  public:
    explicit MpiHalo(MPI_Comm world) : world_(world) {}
    ~MpiHalo() override { MpiHalo::close(); }

    std::vector<std::string> modes() const override { return {"packed", "datatype", "isend"}; }
    void prepare(const Domain &domain, const std::string &mode) override;
    void open() override;
    std::array<std::string, 3> ways() const override;
    Ends ends(int field, std::size_t variable) override;
    Outer outer(int field, std::size_t variable) override;
    void release(Laps &) override {}
    void exchange_slabs(int field, std::size_t first, Laps &laps) override;
    void sum(std::vector<double> &values) override {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                      MPI_SUM, world_);
    }
    void close() override;

  private:
    // Packed by the step that computes it, packed in the exchange, described by a datatype, or
    // contiguous.
    enum class Way { by_step, buffer, datatype, whole };
    // This rank's end of a link.
    struct End {
        Link link;
        Way way;
        std::vector<double> out, in;  // buffers
        MPI_Datatype inner = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;

        // The address at which the step packs a variable.
        double *packed(int field, std::size_t variable, const Layout &layout) {
            return out.data() + (static_cast<std::size_t>(field) * layout.variables + variable) *
                                    link.inner.cells();
        }
    };
    // The requests of a phase for one field and one group of variables: receives, then sends.
    using Requests = std::vector<MPI_Request>;

    std::size_t groups() const { return domain_->layout.variables / domain_->together; }
    Requests &requests_of(int field, std::size_t first, std::size_t phase) {
        const std::size_t group = first / domain_->together;
        return requests_[(static_cast<std::size_t>(field) * groups() + group) * phases_.size() +
                         phase];
    }
    void check_count(const Link &link) const;
    Way way_of(const Link &link, const std::string &mode) const;
    // Whether the step reads the cells from the receive buffer.
    bool is_read_by_step(const End &end) const {
        return persistent_ && !end.in.empty() && !domain_->is_wide();
    }
    MPI_Datatype type_of(const Slab &slab) const;
    Message outgoing(End &end, int field, std::size_t first) const;
    Message incoming(End &end, int field, std::size_t first) const;
    void start_receives(std::size_t phase, int field, std::size_t first, Requests &requests);
    void start_send(End &end, int field, std::size_t first, MPI_Request &request);
    void put_in_place(const End &end, int field, std::size_t first) const;

    MPI_Comm world_;
    const Domain *domain_ = nullptr;
    bool persistent_ = true;
    std::vector<std::vector<End>> phases_;
    std::vector<Requests> requests_;
};

void MpiHalo::check_count(const Link &link) const {
    const std::size_t cells = domain_->together * link.inner.cells();
    if (cells > INT_MAX) {
        throw apps::Failure(fmt::format(
            "a message of {} cells is more than one MPI message carries; --method svaf has "
            "smaller ones",
            cells));
    }
}

// The datatype of this slab in each variable of a group.
MPI_Datatype MpiHalo::type_of(const Slab &slab) const {
    const bool single = slab.cell_stride != 1;
    MPI_Datatype row = MPI_DATATYPE_NULL, one = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
    const auto bytes = [](std::size_t cells) {
        return static_cast<MPI_Aint>(cells * sizeof(double));
    };
    if (single) {
        MPI_Type_create_hvector(static_cast<int>(slab.row_cells), 1, bytes(slab.cell_stride),
                                MPI_DOUBLE, &row);
    } else {
        MPI_Type_contiguous(static_cast<int>(slab.row_cells), MPI_DOUBLE, &row);
    }
    MPI_Type_create_hvector(static_cast<int>(slab.rows), 1, bytes(slab.row_stride), row, &one);
    MPI_Type_create_hvector(static_cast<int>(domain_->together), 1, bytes(domain_->layout.distance),
                            one, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&row);
    MPI_Type_free(&one);
    return all;
}

MpiHalo::Way MpiHalo::way_of(const Link &link, const std::string &mode) const {
    if (domain_->together == 1 && link.inner.is_one_run()) return Way::whole;
    if (mode == "datatype") return Way::datatype;
    return mode == "packed" && apps::axis_of(link.side) == 0 ? Way::by_step : Way::buffer;
}

void MpiHalo::prepare(const Domain &domain, const std::string &mode) {
    domain_ = &domain;
    persistent_ = mode != "isend";
    for (const std::vector<Link> &links : domain.phases) {
        std::vector<End> &ends = phases_.emplace_back();
        for (const Link &link : links) {
            check_count(link);
            const Way way = way_of(link, mode);
            End &end = ends.emplace_back(End{link, way, {}, {}});
            if (way == Way::datatype) {
                end.inner = type_of(link.inner);
                end.outer = type_of(link.outer);
            } else if (way != Way::whole) {
                const std::size_t cells = link.inner.cells();
                end.in.resize(domain.together * cells);
                end.out.resize(way == Way::buffer ? end.in.size()
                                                  : 2 * domain.layout.variables * cells);
            }
        }
    }
}

std::array<std::string, 3> MpiHalo::ways() const {
    constexpr std::array<const char *, 4> names{"packed", "packed", "datatype", "whole"};
    std::array<std::string, 3> found;
    for (const std::vector<End> &ends : phases_) {
        for (const End &end : ends) {
            found[static_cast<std::size_t>(apps::axis_of(end.link.side))] =
                names[static_cast<std::size_t>(end.way)];
        }
    }
    return found;
}

Ends MpiHalo::ends(int field, std::size_t variable) {
    Ends found;
    for (End &end : phases_.front()) {
        if (end.way != Way::by_step) continue;
        double *place = end.packed(field, variable, domain_->layout);
        (end.link.side == apps::west ? found.west : found.east) = place;
    }
    return found;
}

Outer MpiHalo::outer(int, std::size_t variable) {
    Outer found;
    for (const End &end : phases_.front()) {
        if (!is_read_by_step(end)) continue;
        const double *first = end.in.data() + variable % domain_->together * end.link.outer.cells();
        set_outer(found, end.link.side, {first, end.link.outer.row_cells});
    }
    return found;
}

Message MpiHalo::outgoing(End &end, int field, std::size_t first) const {
    double *cells = domain_->variable(field, first) + end.link.inner.first;
    if (end.way == Way::datatype) return {cells, 1, end.inner};
    if (end.way == Way::buffer) cells = end.out.data();
    if (end.way == Way::by_step) cells = end.packed(field, first, domain_->layout);
    return {cells, static_cast<int>(domain_->together * end.link.inner.cells()), MPI_DOUBLE};
}

Message MpiHalo::incoming(End &end, int field, std::size_t first) const {
    double *cells = domain_->variable(field, first) + end.link.outer.first;
    if (end.way == Way::datatype) return {cells, 1, end.outer};
    return {end.way == Way::whole ? cells : end.in.data(),
            static_cast<int>(domain_->together * end.link.outer.cells()), MPI_DOUBLE};
}

// The tag of a message is the side of the sender at which it leaves.
void MpiHalo::open() {
    requests_.resize(2 * groups() * phases_.size());
    for (int field = 0; field < 2; ++field) {
        for (std::size_t first = 0; first < domain_->layout.variables; first += domain_->together) {
            for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
                std::vector<End> &ends = phases_[phase];
                Requests &requests = requests_of(field, first, phase);
                requests.assign(2 * ends.size(), MPI_REQUEST_NULL);
                for (std::size_t i = 0; i < ends.size() && persistent_; ++i) {
                    const Link &link = ends[i].link;
                    const Message in = incoming(ends[i], field, first);
                    MPI_Recv_init(in.place, in.count, in.type, link.peer, opposite(link.side),
                                  world_, &requests[i]);
                    const Message out = outgoing(ends[i], field, first);
                    MPI_Send_init(out.place, out.count, out.type, link.peer, link.side, world_,
                                  &requests[ends.size() + i]);
                }
            }
        }
    }
}

void MpiHalo::start_receives(std::size_t phase, int field, std::size_t first, Requests &requests) {
    std::vector<End> &ends = phases_[phase];
    if (persistent_) {
        MPI_Startall(static_cast<int>(ends.size()), requests.data());
        return;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const Message in = incoming(ends[i], field, first);
        MPI_Irecv(in.place, in.count, in.type, ends[i].link.peer, opposite(ends[i].link.side),
                  world_, &requests[i]);
    }
}

void MpiHalo::start_send(End &end, int field, std::size_t first, MPI_Request &request) {
    if (persistent_) {
        MPI_Start(&request);
        return;
    }
    const Message out = outgoing(end, field, first);
    MPI_Isend(out.place, out.count, out.type, end.link.peer, end.link.side, world_, &request);
}

void MpiHalo::put_in_place(const End &end, int field, std::size_t first) const {
    for (std::size_t i = 0; i < domain_->together; ++i) {
        unpack(end.link.outer, end.in.data() + i * end.link.outer.cells(),
               domain_->variable(field, first + i));
    }
}

void MpiHalo::exchange_slabs(int field, std::size_t first, Laps &laps) {
    laps.start();
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        std::vector<End> &ends = phases_[phase];
        if (ends.empty()) continue;
        Requests &requests = requests_of(field, first, phase);
        start_receives(phase, field, first, requests);
        laps.end(receiving);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            End &end = ends[i];
            if (end.way == Way::buffer) {
                for (std::size_t v = 0; v < domain_->together; ++v) {
                    pack(end.link.inner, domain_->variable(field, first + v),
                         end.out.data() + v * end.link.inner.cells());
                }
                laps.end(packing);
            }
            start_send(end, field, first, requests[ends.size() + i]);
            laps.end(sending);
        }
        for (std::size_t left = ends.size(); left > 0; --left) {
            int index = 0;
            MPI_Waitany(static_cast<int>(ends.size()), requests.data(), &index, MPI_STATUS_IGNORE);
            laps.end(waiting);
            const End &end = ends[static_cast<std::size_t>(index)];
            if (end.in.empty() || is_read_by_step(end)) continue;
            put_in_place(end, field, first);
            laps.end(unpacking);
        }
        MPI_Waitall(static_cast<int>(ends.size()), requests.data() + ends.size(),
                    MPI_STATUSES_IGNORE);
        laps.end(waiting);
    }
}

void MpiHalo::close() {
    for (Requests &requests : requests_) {
        for (MPI_Request &request : requests) {
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
        }
    }
    requests_.clear();
    for (std::vector<End> &ends : phases_) {
        for (End &end : ends) {
            if (end.inner != MPI_DATATYPE_NULL) MPI_Type_free(&end.inner);
            if (end.outer != MPI_DATATYPE_NULL) MPI_Type_free(&end.outer);
        }
    }
    phases_.clear();
}

}  // namespace
}  // namespace ghost

int main(int argc, char **argv) {
    return apps::run_with_mpi("ghost", &argc, &argv, [&] {
        ghost::Ranks ranks;
        ghost::MpiHalo halo(ranks.world());
        return ghost::run(ranks, halo, argc, argv);
    });
}
