"""One rank: the next rank writes into an existing NumPy array, through the library's C interface.

Broken by an array whose memory is not adopted, or a peer's write that misses it.
"""
import ctypes
import sys

try:
    import numpy
except ImportError:
    print("left out: no numpy here", file=sys.stderr)
    sys.exit(77)


class Gptr(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int32), ("segment", ctypes.c_uint32), ("offset", ctypes.c_uint64)]


class Region(ctypes.Structure):
    _fields_ = [("gptr", Gptr), ("bytes", ctypes.c_uint64)]


class Team(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint32)]


lib = ctypes.CDLL(sys.argv[1])
lib.sennit_register.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint, ctypes.POINTER(Region)]
lib.sennit_region_attach.argtypes = [Team, Region, ctypes.POINTER(Region)]
lib.sennit_region_mechanism.argtypes = [Region, ctypes.POINTER(ctypes.c_int)]
lib.sennit_deregister.argtypes = [Region]
lib.sennit_ptr.argtypes = [Gptr]
lib.sennit_ptr.restype = ctypes.c_void_p
lib.sennit_barrier.argtypes = [Team, ctypes.c_int64]
WORLD, FOREVER, ADOPT = Team(int(sys.argv[2])), int(sys.argv[3]), 4


def must(status):
    assert status == 0, f"status {status}"


must(lib.sennit_init(None))
rank, size = lib.sennit_rank(), lib.sennit_size()
for shape in ((3,), (100, 50), (1000, 700)):
    around = numpy.full((shape[0] + 2,) + shape[1:], -1.0)
    array = around[1:-1]
    array[...] = rank
    region, found = Region(), ctypes.c_int()
    must(lib.sennit_register(array.ctypes.data, array.nbytes, 0, ctypes.byref(region)))
    must(lib.sennit_region_mechanism(region, ctypes.byref(found)))
    assert found.value == ADOPT, f"mechanism {found.value} for {array.nbytes} bytes"
    regions = (Region * size)()
    must(lib.sennit_region_attach(WORLD, region, regions))
    there = lib.sennit_ptr(regions[(rank + 1) % size].gptr)
    view = numpy.ctypeslib.as_array((ctypes.c_double * array.size).from_address(there)).reshape(shape)
    assert (view == (rank + 1) % size).all()
    must(lib.sennit_barrier(WORLD, FOREVER))
    view += 10 * (rank + 1)
    must(lib.sennit_barrier(WORLD, FOREVER))
    del view
    must(lib.sennit_deregister(region))
    previous = (rank + size - 1) % size
    assert (array == rank + 10 * (previous + 1)).all()
    assert (around[0] == -1.0).all() and (around[-1] == -1.0).all()
must(lib.sennit_finalize())
