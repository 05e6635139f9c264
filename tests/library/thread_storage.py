#!/usr/bin/env python3
"""Checks the size of the initial-exec thread-local storage of libsennit.so: at most 32 bytes.

    tests/library/thread_storage.py LIBRARY

The space for it is shared with every other library that a process opens late (docs/design/decisions/0001). Broken by
one more large thread_local variable anywhere in the core.
"""
import struct
import sys

MOST_BYTES = 32
PT_TLS, DT_FLAGS, PT_DYNAMIC, DF_STATIC_TLS = 7, 30, 2, 0x10


def main():
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    if image[:6] != b"\x7fELF\x02\x01":
        print("skipped: no 64-bit little-endian ELF file")
        return 77
    offset, = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<HH", image, 0x36)
    headers = [struct.unpack_from("<IIQQQQQQ", image, offset + i * size) for i in range(count)]
    tls_bytes = sum(header[6] for header in headers if header[0] == PT_TLS)
    dynamic = next(header for header in headers if header[0] == PT_DYNAMIC)
    entries = dict(struct.unpack_from("<QQ", image, dynamic[2] + at) for at in range(0, dynamic[5], 16))
    is_static = bool(entries.get(DT_FLAGS, 0) & DF_STATIC_TLS)
    print(f"{tls_bytes} bytes, {'initial-exec' if is_static else 'another model'}")
    return 0 if 0 < tls_bytes <= MOST_BYTES and is_static else 1


if __name__ == "__main__":
    sys.exit(main())
