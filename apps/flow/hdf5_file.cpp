#include "hdf5_file.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <functional>
#include <utility>

namespace flow {
namespace {

// An object of the library, which is closed at the end.
class Handle {
  public:
    Handle(const std::string &path, hid_t id, herr_t (*closes)(hid_t)) : id_(id), close_(closes) {
        if (id < 0)
            throw apps::Failure(fmt::format("output: HDF5 cannot make {}, or a part of it", path));
    }
    ~Handle() {
        if (id_ >= 0) (void)close_(id_);
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    operator hid_t() const { return id_; }
    bool close() { return close_(std::exchange(id_, -1)) >= 0; }

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

class Maker {
  public:
    explicit Maker(const std::string &path)
        : path_(path),
          file_(path, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {}

    // Reserves space in the file at once. Returns its place in the file.
    std::uint64_t room(const char *name, const std::vector<hsize_t> &sizes) {
        const Handle set = dataset(name, sizes);
        const haddr_t place = H5Dget_offset(set);
        if (place == HADDR_UNDEF) fail();
        return place;
    }
    void numbers(const char *name, const std::vector<double> &values) {
        const Handle set = dataset(name, {values.size()});
        need(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    }
    void attribute(const char *name, hid_t stored, hid_t native, const void *value) {
        const Handle space(path_, H5Screate(H5S_SCALAR), H5Sclose);
        const Handle made(path_, H5Acreate2(file_, name, stored, space, H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose);
        need(H5Awrite(made, native, value));
    }
    void close() {
        if (!file_.close()) fail();
    }

  private:
    [[noreturn]] void fail() const {
        throw apps::Failure(fmt::format("output: HDF5 cannot write {}", path_));
    }
    void need(herr_t status) const {
        if (status < 0) fail();
    }
    Handle dataset(const char *name, const std::vector<hsize_t> &sizes) {
        const Handle space(path_,
                           H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                           H5Sclose);
        const Handle how(path_, H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        need(H5Pset_layout(how, H5D_CONTIGUOUS));
        need(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY));
        need(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER));
        return {path_,
                H5Dcreate2(file_, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT),
                H5Dclose};
    }

    std::string path_;
    Handle file_;
};

std::vector<double> faces(Count cells, const std::function<double(Count)> &at) {
    std::vector<double> places;
    for (Count n = 0; n <= cells; ++n)
        places.push_back(at(n));
    return places;
}

}  // namespace

bool Hdf5File::is_there() {
    return true;
}

CellPlaces Hdf5File::begin(const Clocks &clocks) const {
    make_folder_of(path_);
    (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the program reports failures itself
    const Triple &cells = grid_.cells();
    const auto x = static_cast<hsize_t>(cells[0]), y = static_cast<hsize_t>(cells[1]);
    const auto z = static_cast<hsize_t>(cells[2]);
    Maker file(part_of(path_));
    file.numbers("x", faces(cells[0], [&](Count n) { return grid_.dx() * double(n); }));
    file.numbers("y", faces(cells[1], [&](Count n) { return grid_.dy() * double(n); }));
    file.numbers("z", faces(cells[2], [&](Count n) { return grid_.face(n); }));
    file.attribute("time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &clocks.time);
    file.attribute("step", H5T_STD_I64LE, H5T_NATIVE_INT64, &clocks.step);
    const CellPlaces places{file.room("velocity", {z, y, x, Velocity::kComponents}),
                            file.room("pressure", {z, y, x})};
    file.close();
    return places;
}

void Hdf5File::finish(const Clocks &clocks) const {
    give_name("output", path_);
    const Triple &cells = grid_.cells();
    const auto item = [](const std::string &sizes, const char *name) {
        return fmt::format(
            "<DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" "
            "Format=\"HDF\">field.h5:/{}</DataItem>",
            sizes, name);
    };
    const std::string sizes = fmt::format("{} {} {}", cells[2], cells[1], cells[0]);
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\"><Domain><Grid Name=\"flow\" "
        "GridType=\"Uniform\">\n<Time Value=\"{}\"/>\n"
        "<Topology TopologyType=\"3DRectMesh\" Dimensions=\"{} {} {}\"/>\n"
        "<Geometry GeometryType=\"VXVYVZ\">\n",
        clocks.time, cells[2] + 1, cells[1] + 1, cells[0] + 1);
    const char *const axes[] = {"x", "y", "z"};
    for (std::size_t n = 0; n < 3; ++n)
        text += item(std::to_string(cells[n] + 1), axes[n]) + '\n';
    text += fmt::format(
        "</Geometry>\n<Attribute Name=\"velocity\" AttributeType=\"Vector\" Center=\"Cell\">\n{}\n"
        "</Attribute>\n<Attribute Name=\"pressure\" AttributeType=\"Scalar\" Center=\"Cell\">\n{}\n"
        "</Attribute>\n</Grid></Domain></Xdmf>\n",
        item(sizes + " 3", "velocity"), item(sizes, "pressure"));
    write_text(xdmf_path_, text);
}

}  // namespace flow
