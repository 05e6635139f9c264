// The messages of ranks in terms of MPI: communicators, peers, tags, derived datatypes and counts.
// The base of both back ends, since Sennit's plans take the same arguments. Header-only, because
// each MPI's programs compile it with that MPI.
#pragma once

#include "exchange.hpp"
#include "pencils.hpp"

#include "common/mpi_ranks.hpp"
#include "common/pages.hpp"

#include <climits>
#include <string>
#include <vector>

namespace flow {

class MpiShapes : public apps::MpiRanksOf<Exchange> {
  public:
    ~MpiShapes() override {
        for (MPI_Datatype &type : types_)
            MPI_Type_free(&type);
        for (MPI_Comm *comm : {&along_y_, &along_z_})
            if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    }

    void open(const Layout &layout, Count pieces, Count threads) override {
        layout_ = &layout;
        pieces_ = pieces;
        threads_ = static_cast<Count>(max(static_cast<double>(threads)));  // may differ
        const int y = static_cast<int>(layout.place_y()), z = static_cast<int>(layout.place_z());
        MPI_Comm_split(world(), z, y, &along_y_);
        MPI_Comm_split(world(), y, z, &along_z_);
        below_ = layout.at_floor() ? MPI_PROC_NULL : z - 1;
        above_ = layout.at_ceiling() ? MPI_PROC_NULL : z + 1;
    }

    double max(double mine) override {
        std::vector<double> all{mine};
        reduce(all, false);
        return all[0];
    }

  protected:
    // One side's part of a halo: one element of a datatype, sent from and received into the same
    // array.
    struct HaloMessage {
        double *memory = nullptr;
        MPI_Datatype sent = MPI_DATATYPE_NULL, received = MPI_DATATYPE_NULL;
        int peer = 0, sent_tag = 0, received_tag = 0;
    };
    std::vector<HaloMessage> halo_messages(const HaloArray &array) {
        std::vector<HaloMessage> messages;
        for (const Neighbour &neighbour : layout_->neighbours()) {
            const Direction to = neighbour.to;
            messages.push_back({array.memory, type_of(array, layout_->sent(array.extent, to)),
                                type_of(array, layout_->received(array.extent, to)), neighbour.rank,
                                to.number(), to.opposite().number()});
        }
        return messages;
    }

    // A transpose from one set of blocks to another, by place in y. The rank's own block is copied
    // directly and is not part of the packed data.
    struct Transpose {
        int own = 0;
        std::vector<Block> from, to;
        std::vector<MPI_Datatype> sent, received;  // a type for each block
        // For packed data, one block after another.
        std::vector<int> sent_counts, sent_places, received_counts, received_places;
        double *out = nullptr, *in = nullptr;
        apps::Pages out_pages, in_pages;

        void pack_others() {
            for (std::size_t place = 0; place < from.size(); ++place)
                if (static_cast<int>(place) != own) pack(from[place], out + sent_places[place]);
        }
        void unpack_others() {
            for (std::size_t place = 0; place < to.size(); ++place)
                if (static_cast<int>(place) != own) unpack(in + received_places[place], to[place]);
        }
        void copy_own_block() {
            copy_own(from[static_cast<std::size_t>(own)], to[static_cast<std::size_t>(own)]);
        }
    };
    void shape(Transpose &transpose, std::vector<Block> from, std::vector<Block> to) {
        transpose.own = place_y();
        transpose.from = std::move(from);
        transpose.to = std::move(to);
        transpose.out = count(transpose.from, transpose.sent_counts, transpose.sent_places,
                              transpose.out_pages);
        transpose.in = count(transpose.to, transpose.received_counts, transpose.received_places,
                             transpose.in_pages);
        for (const Block &block : transpose.from)
            transpose.sent.push_back(type_of(block));
        for (const Block &block : transpose.to)
            transpose.received.push_back(type_of(block));
    }

    // The datatype of a block, from its begin.
    MPI_Datatype type_of(const Block &block) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_vector(checked(block.rows), checked(block.width), checked(block.distance),
                        MPI_DOUBLE, &type);
        return kept(type);
    }

    // The number of pieces of an exchange of so many numbers, at most `parts`, since a part stays
    // whole. Without --pieces each thread gets one or more. Small pieces cost more than they hide.
    Count pieces_of(Count numbers, Count parts) const {
        constexpr Count kMost = 8, kLeastNumbers = 2048;
        const Count wanted = std::max(std::min(kMost, numbers / kLeastNumbers), threads_);
        return std::min(parts, pieces_ > 0 ? pieces_ : wanted);
    }
    int place_y() const { return static_cast<int>(layout_->place_y()); }
    int ranks_y() const { return static_cast<int>(layout_->ranks_y()); }
    const Layout &layout() const { return *layout_; }
    MPI_Comm along_y() const { return along_y_; }
    MPI_Comm along_z() const { return along_z_; }
    // Ranks in along_z, or MPI_PROC_NULL.
    int below() const { return below_; }
    int above() const { return above_; }

  private:
    static int checked(Count count) {
        if (count > INT_MAX) throw apps::Lost("more numbers than one MPI message carries");
        return static_cast<int>(count);
    }
    double *count(const std::vector<Block> &blocks, std::vector<int> &counts,
                  std::vector<int> &places, apps::Pages &pages) const {
        Count all = 0;
        for (std::size_t place = 0; place < blocks.size(); ++place) {
            const bool is_own = static_cast<int>(place) == place_y();
            counts.push_back(is_own ? 0 : checked(blocks[place].size()));
            places.push_back(checked(all));
            all += counts.back();
        }
        double *const memory = pages.take(static_cast<std::size_t>(all));
        std::fill_n(memory, all, 0.0);
        return memory;
    }
    MPI_Datatype kept(MPI_Datatype type) {
        MPI_Type_commit(&type);
        types_.push_back(type);
        return type;
    }
    // Rows are contiguous; planes and fields have a stride.
    MPI_Datatype type_of(const HaloArray &array, const Region &region) {
        const Extent &extent = array.extent;
        MPI_Datatype planes = MPI_DATATYPE_NULL, field = MPI_DATATYPE_NULL;
        MPI_Datatype fields = MPI_DATATYPE_NULL;
        MPI_Type_vector(checked(region.planes), checked(region.rows * extent.row()),
                        checked(extent.plane()), MPI_DOUBLE, &planes);
        const int one = 1;
        const auto place = static_cast<MPI_Aint>(region.begin * sizeof(double));
        MPI_Type_create_hindexed(1, &one, &place, planes, &field);
        MPI_Type_create_hvector(checked(array.fields), 1,
                                static_cast<MPI_Aint>(extent.size() * sizeof(double)), field,
                                &fields);
        MPI_Type_free(&planes);
        MPI_Type_free(&field);
        return kept(fields);
    }

    const Layout *layout_ = nullptr;
    Count pieces_ = 0, threads_ = 1;
    MPI_Comm along_y_ = MPI_COMM_NULL, along_z_ = MPI_COMM_NULL;
    int below_ = MPI_PROC_NULL, above_ = MPI_PROC_NULL;
    std::vector<MPI_Datatype> types_;
};

}  // namespace flow
