"""Reads the files of heat3d, strictly and only with Python's standard library: a file that another program could
interpret differently is an error.

    python3 fields.py FOLDER     checks FOLDER/temperature.vti and .npy and that they hold the same cells
"""
import array
import ast
import os
import struct
import sys
import xml.etree.ElementTree


class Wrong(Exception):
    """A file is wrong; the text names the file and the reason."""


def need(condition, path, what):
    if not condition:
        raise Wrong(f"{path}: {what}")


def read_npy(path):
    """(cells in x, y, z; payload) of a NumPy file of format 1.0."""
    with open(path, "rb") as file:
        data = file.read()
    need(data[:8] == b"\x93NUMPY\x01\x00", path, "not a NumPy file of format 1.0")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    need(start % 64 == 0 and data[start - 1:start] == b"\n", path, "the head is not padded to 64 bytes")
    head = ast.literal_eval(data[10:start].decode("ascii"))
    need(set(head) == {"descr", "fortran_order", "shape"}, path, f"keys {sorted(head)}")
    need(head["descr"] == "<f8" and head["fortran_order"] is False, path, f"layout {head}")
    cells = tuple(reversed(head["shape"]))
    payload = data[start:]
    need(len(cells) == 3 and len(payload) == 8 * cells[0] * cells[1] * cells[2], path,
         f"{len(payload)} bytes for {cells} cells")
    return cells, payload


def read_vti(path):
    """(cells in x, y, z; payload) of VTK image data with one appended raw array of doubles on its points."""
    with open(path, "rb") as file:
        data = file.read()
    mark = data.find(b"_", data.find(b"<AppendedData"))
    need(mark > 0, path, "no appended data")
    size = struct.unpack("<Q", data[mark + 1:mark + 9])[0]
    payload = data[mark + 9:mark + 9 + size]
    need(len(payload) == size, path, f"the array of {size} bytes is cut short")
    # Without the raw bytes the rest must be well-formed.
    root = xml.etree.ElementTree.fromstring(data[:mark] + data[mark + 9 + size:])
    need(root.tag == "VTKFile" and root.get("type") == "ImageData", path, "not VTK image data")
    need(root.get("byte_order") == "LittleEndian" and root.get("header_type") == "UInt64", path, "wrong byte order")
    image = root.find("ImageData")
    piece = image.find("Piece")
    extent = list(map(int, image.get("WholeExtent").split()))
    need(piece.get("Extent") == image.get("WholeExtent") and extent[::2] == [0, 0, 0], path, f"extent {extent}")
    cells = tuple(last + 1 for last in extent[1::2])
    values = piece.find("PointData").find("DataArray")
    need(values.get("type") == "Float64" and values.get("format") == "appended" and values.get("offset") == "0",
         path, f"array {values.attrib}")
    spacing = list(map(float, image.get("Spacing").split()))
    need(len(spacing) == 3 and min(spacing) > 0, path, f"spacing {spacing}")
    need(root.find("AppendedData").get("encoding") == "raw", path, "the data is not raw")
    need(size == 8 * cells[0] * cells[1] * cells[2], path, f"{size} bytes for {cells} cells")
    return cells, payload


def read_both(folder):
    """(cells in x, y, z; values, x fastest) of a folder. Its two files must agree."""
    names = sorted(os.listdir(folder))
    need(names == ["temperature.npy", "temperature.vti"], folder, f"holds {names}")
    cells, payload = read_npy(os.path.join(folder, "temperature.npy"))
    need(read_vti(os.path.join(folder, "temperature.vti")) == (cells, payload), folder, "the two files differ")
    return cells, array.array("d", payload)


def main():
    try:
        cells, values = read_both(sys.argv[1])
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    print(f"{cells[0]} x {cells[1]} x {cells[2]} cells, {min(values):.6g} to {max(values):.6g} K")
    return 0


if __name__ == "__main__":
    sys.exit(main())
