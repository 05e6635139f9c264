#include "files.hpp"

#include "common/failure.hpp"
#include "common/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <type_traits>

namespace flow {
namespace {

using apps::File;

static_assert(std::endian::native == std::endian::little, "the heads say little-endian");

constexpr char kMagic[8] = {'S', 'N', 'T', 'F', 'L', 'O', 'W', '2'};

struct Head {
    char magic[8];
    std::int64_t cells[3];
    std::int64_t step;
    double time, time_step, gradient;
};
static_assert(sizeof(Head) == 64 && std::is_trivially_copyable_v<Head>);

constexpr Count kArrays = Velocity::kComponents + 1;

std::uint64_t bytes_of(Count numbers) {
    return static_cast<std::uint64_t>(numbers) * sizeof(double);
}

Count cells_of(const Layout &layout) {
    return layout.cells()[0] * layout.cells()[1] * layout.cells()[2];
}

// The index of this rank's first number of plane k in an array of all cells, x fastest.
Count place_of(const Layout &layout, Count k) {
    const Triple &cells = layout.cells();
    return cells[0] * (layout.y_share().begin + cells[1] * (layout.z_share().begin + k));
}

// Array `which` of the solver's four: its cell (0, 0, 0), and its layout in memory.
double *array_of(Solver &solver, const Layout &layout, Count which, const Extent **extent) {
    const bool is_pressure = which == Velocity::kComponents;
    *extent = is_pressure ? &layout.pressure() : &layout.velocity();
    return is_pressure ? solver.pressure() : solver.velocity().at(which);
}

}  // namespace

std::string part_of(const std::string &path) {
    return path + ".part";
}

void give_name(const char *use, const std::string &path) {
    if (std::rename(part_of(path).c_str(), path.c_str()) == 0) return;
    throw apps::Failure(
        fmt::format("{}: {} cannot be renamed: {}", use, path, std::strerror(errno)));
}

void make_folder_of(const std::string &path) {
    std::error_code error;
    const std::string folder = std::filesystem::path(path).parent_path().string();
    std::filesystem::create_directories(folder, error);
    if (error)
        throw apps::Failure(fmt::format("output: {} cannot be made: {}", folder, error.message()));
}

void RestartFile::begin(const Clocks &clocks, const std::vector<double> &sums) const {
    const Triple &cells = layout_.cells();
    Head head{{},
              {cells[0], cells[1], cells[2]},
              clocks.step,
              clocks.time,
              clocks.time_step,
              clocks.gradient};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    File out("save", part_of(path_), O_WRONLY | O_CREAT | O_TRUNC);
    const std::uint64_t fields = bytes_of(kArrays * cells_of(layout_));
    out.resize(sizeof head + fields + bytes_of(static_cast<Count>(sums.size())));
    out.write(&head, sizeof head, 0);
    out.write(sums.data(), bytes_of(static_cast<Count>(sums.size())), sizeof head + fields);
    out.shut();
}

void RestartFile::write(Solver &solver) const {
    File out("save", part_of(path_), O_WRONLY);
    std::vector<double> plane;
    for (Count which = 0; which < kArrays; ++which) {
        const Extent *e = nullptr;
        const double *const from = array_of(solver, layout_, which, &e);
        for (Count k = 0; k < e->nz; ++k) {
            plane.clear();
            for (Count j = 0; j < e->ny; ++j) {
                const double *const row = from + j * e->row() + k * e->plane();
                plane.insert(plane.end(), row, row + e->nx);
            }
            out.write(plane.data(), bytes_of(e->nx * e->ny),
                      sizeof(Head) + bytes_of(which * cells_of(layout_) + place_of(layout_, k)));
        }
    }
    out.shut();
}

void RestartFile::finish() const {
    give_name("save", path_);
}

Clocks RestartFile::read(Solver &solver, std::vector<double> &sums) const {
    const File in("restart", path_, O_RDONLY);
    Head head{};
    in.read(&head, sizeof head, 0);
    const Triple &cells = layout_.cells();
    if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0)
        throw apps::Failure(fmt::format("restart: {} is no file of this program", path_));
    if (head.cells[0] != cells[0] || head.cells[1] != cells[1] || head.cells[2] != cells[2]) {
        throw apps::Failure(fmt::format("restart: {} has {} x {} x {} cells, and not {}", path_,
                                        head.cells[0], head.cells[1], head.cells[2],
                                        apps::text_of(cells)));
    }
    const std::uint64_t fields = bytes_of(kArrays * cells_of(layout_));
    const std::uint64_t of_sums = bytes_of(static_cast<Count>(sums.size()));
    if (in.size() != sizeof head + fields + of_sums)
        throw apps::Failure(fmt::format("restart: {} has not the size that its cells need", path_));
    std::vector<double> plane;
    for (Count which = 0; which < kArrays; ++which) {
        const Extent *e = nullptr;
        double *const to = array_of(solver, layout_, which, &e);
        plane.resize(static_cast<std::size_t>(e->nx * e->ny));
        for (Count k = 0; k < e->nz; ++k) {
            in.read(plane.data(), bytes_of(e->nx * e->ny),
                    sizeof(Head) + bytes_of(which * cells_of(layout_) + place_of(layout_, k)));
            for (Count j = 0; j < e->ny; ++j)
                std::copy_n(plane.data() + j * e->nx, e->nx, to + j * e->row() + k * e->plane());
        }
    }
    in.read(sums.data(), of_sums, sizeof head + fields);
    return {head.step, head.time, head.time_step, head.gradient};
}

namespace {

std::string coordinates(Count count, const std::function<double(Count)> &at) {
    std::string text;
    for (Count n = 0; n <= count; ++n)
        text += fmt::format("{} ", at(n));
    return text;
}

bool is_uniform(const Grid &grid) {
    for (Count k = 0; k < grid.cells()[2]; ++k)
        if (std::fabs(grid.height(k) - grid.height(0)) > 1e-12 * grid.height(0)) return false;
    return true;
}

}  // namespace

FieldFile::FieldFile(const std::string &folder, const Grid &grid, const Layout &layout)
    : path_(folder + (is_uniform(grid) ? "/field.vti" : "/field.vtr")), layout_(layout) {
    const Triple &cells = grid.cells();
    const std::string extent = fmt::format("0 {} 0 {} 0 {}", cells[0], cells[1], cells[2]);
    const bool uniform = is_uniform(grid);
    const char *const kind = uniform ? "ImageData" : "RectilinearGrid";
    head_ = fmt::format(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <{} WholeExtent=\"{}\"",
        kind, kind, extent);
    if (uniform) {
        head_ += fmt::format(" Origin=\"0 0 0\" Spacing=\"{} {} {}\"", grid.dx(), grid.dy(),
                             grid.height(0));
    }
    head_ += fmt::format(">\n    <Piece Extent=\"{}\">\n", extent);
    if (!uniform) {
        const auto axis = [&](const char *name, Count count,
                              const std::function<double(Count)> &at) {
            head_ += fmt::format(
                "        <DataArray type=\"Float64\" Name=\"{}\" "
                "format=\"ascii\">{}</DataArray>\n",
                name, coordinates(count, at));
        };
        head_ += "      <Coordinates>\n";
        axis("x", cells[0], [&](Count n) { return grid.dx() * static_cast<double>(n); });
        axis("y", cells[1], [&](Count n) { return grid.dy() * static_cast<double>(n); });
        axis("z", cells[2], [&](Count n) { return grid.face(n); });
        head_ += "      </Coordinates>\n";
    }
    const std::uint64_t length = sizeof(std::uint64_t);
    const std::uint64_t velocity = bytes_of(Velocity::kComponents * cells_of(layout));
    head_ += fmt::format(
        "      <CellData Vectors=\"velocity\" Scalars=\"pressure\">\n"
        "        <DataArray type=\"Float64\" Name=\"velocity\" NumberOfComponents=\"3\" "
        "format=\"appended\" offset=\"0\"/>\n"
        "        <DataArray type=\"Float64\" Name=\"pressure\" format=\"appended\" "
        "offset=\"{}\"/>\n      </CellData>\n    </Piece>\n  </{}>\n"
        "  <AppendedData encoding=\"raw\">\n_",
        length + velocity, kind);
    tail_ = "\n  </AppendedData>\n</VTKFile>\n";
    places_.velocity = head_.size() + length;
    places_.pressure = places_.velocity + velocity + length;
    tail_at_ = places_.pressure + bytes_of(cells_of(layout));
}

void FieldFile::begin() const {
    make_folder_of(path_);
    File out("output", part_of(path_), O_WRONLY | O_CREAT | O_TRUNC);
    out.resize(tail_at_ + tail_.size());
    out.write(head_.data(), head_.size(), 0);
    const std::uint64_t velocity = bytes_of(Velocity::kComponents * cells_of(layout_));
    const std::uint64_t pressure = bytes_of(cells_of(layout_));
    out.write(&velocity, sizeof velocity, places_.velocity - sizeof velocity);
    out.write(&pressure, sizeof pressure, places_.pressure - sizeof pressure);
    out.write(tail_.data(), tail_.size(), tail_at_);
    out.shut();
}

void FieldFile::write(Solver &solver) const {
    write_cells(path_, layout_, solver, places_);
}

void write_cells(const std::string &path, const Layout &layout, Solver &solver,
                 const CellPlaces &places) {
    File out("output", part_of(path), O_WRONLY);
    const Extent &e = layout.velocity(), &ep = layout.pressure();
    std::vector<double> velocity, pressure;
    for (Count k = 0; k < e.nz; ++k) {
        velocity.clear();
        pressure.clear();
        for (Count j = 0; j < e.ny; ++j) {
            const Count place = j * e.row() + k * e.plane();
            const double *const u = solver.velocity().at(0) + place;
            const double *const v = solver.velocity().at(1) + place;
            const double *const w = solver.velocity().at(2) + place;
            for (Count i = 0; i < e.nx; ++i) {
                velocity.push_back(0.5 * (u[i - 1] + u[i]));
                velocity.push_back(0.5 * (v[i - e.row()] + v[i]));
                velocity.push_back(0.5 * (w[i - e.plane()] + w[i]));
            }
            const double *const p = solver.pressure() + j * ep.row() + k * ep.plane();
            pressure.insert(pressure.end(), p, p + e.nx);
        }
        const Count first = place_of(layout, k);
        out.write(velocity.data(), bytes_of(static_cast<Count>(velocity.size())),
                  places.velocity + bytes_of(Velocity::kComponents * first));
        out.write(pressure.data(), bytes_of(static_cast<Count>(pressure.size())),
                  places.pressure + bytes_of(first));
    }
    out.shut();
}

void FieldFile::finish() const {
    give_name("output", path_);
}

void write_text(const std::string &path, const std::string &text) {
    File out("output", part_of(path), O_WRONLY | O_CREAT | O_TRUNC);
    out.write(text.data(), text.size(), 0);
    out.shut();
    give_name("output", path);
}

}  // namespace flow
