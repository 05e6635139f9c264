#include "field_files.hpp"

#include "failure.hpp"

#include "common/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace heat3d {
namespace {

static_assert(std::endian::native == std::endian::little, "both heads say little-endian");

using apps::File;

constexpr std::size_t kCellBytes = sizeof(double);

[[noreturn]] void fail(const std::string &path, const char *what, int error) {
    throw Failure(fmt::format("output: {} cannot be {}: {}", path, what, std::strerror(error)));
}

std::uint64_t payload_bytes(const Triple &cells) {
    return static_cast<std::uint64_t>(cells[0] * cells[1] * cells[2]) * kCellBytes;
}

// Writes the box of one rank to one file. Rows that are contiguous in the file are written at once.
void write_box(File &file, std::uint64_t start, const Triple &all, const Box &box,
               const double *cells) {
    const bool whole_rows = box.cells[0] == all[0];
    const bool whole_planes = whole_rows && box.cells[1] == all[1];
    const std::int64_t rows = whole_planes ? box.cells[1] * box.cells[2] : box.cells[1];
    const std::int64_t rows_at_once = whole_rows ? rows : 1;
    const std::int64_t all_rows = box.cells[1] * box.cells[2];
    const std::int64_t run = box.cells[0] * rows_at_once;
    for (std::int64_t row = 0; row < all_rows; row += rows_at_once) {
        const std::int64_t j = box.begin[1] + row % box.cells[1];
        const std::int64_t k = box.begin[2] + row / box.cells[1];
        const auto cell = static_cast<std::uint64_t>(box.begin[0] + all[0] * (j + all[1] * k));
        file.write(cells + row * box.cells[0], static_cast<std::size_t>(run) * kCellBytes,
                   start + cell * kCellBytes);
    }
}

}  // namespace

std::string npy_head(const Triple &cells) {
    // Format 1.0: magic, version, length of the description, which is padded to make the head a
    // multiple of 64 bytes.
    std::string description =
        fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}, {}), }}", cells[2],
                    cells[1], cells[0]);
    constexpr std::size_t kBefore = 10, kAlignment = 64;
    const std::size_t total =
        (kBefore + description.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
    description.append(total - kBefore - description.size() - 1, ' ');
    description.push_back('\n');
    std::string head("\x93NUMPY\x01", 7);
    head.push_back('\0');
    head.push_back(static_cast<char>(description.size() & 0xff));
    head.push_back(static_cast<char>(description.size() >> 8));
    return head + description;
}

std::string vti_head(const Triple &cells, const std::array<double, 3> &spacing) {
    const std::string extent =
        fmt::format("0 {} 0 {} 0 {}", cells[0] - 1, cells[1] - 1, cells[2] - 1);
    const std::string step = fmt::format("{} {} {}", spacing[0], spacing[1], spacing[2]);
    std::string head = fmt::format(
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n"
        "  <ImageData WholeExtent=\"{0}\" Origin=\"{1}\" Spacing=\"{1}\">\n"
        "    <Piece Extent=\"{0}\">\n"
        "      <PointData Scalars=\"temperature\">\n"
        "        <DataArray type=\"Float64\" Name=\"temperature\" format=\"appended\" "
        "offset=\"0\"/>\n"
        "      </PointData>\n"
        "    </Piece>\n"
        "  </ImageData>\n"
        "  <AppendedData encoding=\"raw\">\n_",
        extent, step);
    const std::uint64_t bytes = payload_bytes(cells);
    head.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
    return head;
}

FieldFiles::FieldFiles(const std::string &folder, const Triple &cells,
                       const std::array<double, 3> &spacing)
    : folder_(folder), cells_(cells) {
    const std::string stem = folder + "/temperature";
    files_[0] = {stem + ".vti", stem + ".vti.part", vti_head(cells, spacing),
                 "\n  </AppendedData>\n</VTKFile>\n"};
    files_[1] = {stem + ".npy", stem + ".npy.part", npy_head(cells), ""};
}

void FieldFiles::create() {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) fail(folder_, "made", error.value());
    created_ = true;
    for (const FieldFile &file : files_) {
        File out("output", file.part, O_WRONLY | O_CREAT | O_TRUNC);
        const std::uint64_t tail_at = file.head.size() + payload_bytes(cells_);
        out.resize(tail_at + file.tail.size());
        out.write(file.head.data(), file.head.size(), 0);
        out.write(file.tail.data(), file.tail.size(), tail_at);
        out.shut();
    }
}

void FieldFiles::write(const Box &box, const double *cells) const {
    for (const FieldFile &file : files_) {
        File out("output", file.part, O_WRONLY);
        write_box(out, file.head.size(), cells_, box, cells);
        out.shut();
    }
}

void FieldFiles::finish() {
    for (const FieldFile &file : files_) {
        if (std::rename(file.part.c_str(), file.path.c_str()) != 0) {
            fail(file.path, "renamed", errno);
        }
    }
    created_ = false;
}

void FieldFiles::discard() noexcept {
    if (!created_) return;
    for (const FieldFile &file : files_)
        unlink(file.part.c_str());
    created_ = false;
}

}  // namespace heat3d
