#!/usr/bin/env python3
"""Compares the exports of libsennit_shmem.so with the functions of OpenSHMEM 1.6 and older versions:
symbols_test.py NM READELF LIBRARY PROGRAM...

The list is made here from the standard's own tables of types and its synopses, independently of the tables in the headers: each
name must exist, weak, and with the prefix `p` for profilers; nothing else may exist. The programs, which are the tests, must
call each of them. The library itself calls none by its plain name, since a profiler would count that.
"""
import subprocess
import sys

REAL = "float double longdouble".split()
SIGNED = "schar short int long longlong".split()
UNSIGNED = "uchar ushort uint ulong ulonglong".split()
EXACT = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
RMA = REAL + ["char"] + SIGNED + UNSIGNED + EXACT + ["size", "ptrdiff"]
AMO = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff".split()
EXTENDED = ["float", "double"] + AMO
BITWISE = "uint ulong ulonglong int32 int64 uint32 uint64".split()
SIZES = [8, 16, 32, 64, 128]
REDUCE_BITS = UNSIGNED + EXACT + ["size"]
COMPLEX = ["complexd", "complexf"]
ACTIVE = "short int long longlong".split()


def with_context(names):
    """Each name, and its form with a context."""
    return [form for name in names for form in ("shmem_" + name, "shmem_ctx_" + name)]


def transfers():
    for verb in ("put", "get"):
        plain = [f"{t}_{verb}{{}}" for t in RMA] + [f"{verb}{s}{{}}" for s in SIZES] + [f"{verb}mem{{}}"]
        yield from with_context(name.format(end) for name in plain for end in ("", "_nbi"))
        if verb == "put":
            yield from with_context(name.format(end) for name in plain for end in ("_signal", "_signal_nbi"))
        for kind in ("i", "ib"):
            yield from with_context([f"{t}_{kind}{verb}" for t in RMA] + [f"{kind}{verb}{s}" for s in SIZES])
    yield from with_context(f"{t}_{verb}" for t in RMA for verb in "pg")


def atomics():
    def of(types, verbs):
        return with_context(f"{t}_atomic_{verb}" for t in types for verb in verbs)
    yield from of(EXTENDED, ["fetch", "set", "swap", "fetch_nbi", "swap_nbi"])
    yield from of(AMO, "compare_swap fetch_inc inc fetch_add add compare_swap_nbi fetch_inc_nbi fetch_add_nbi".split())
    yield from of(BITWISE, [form for verb in ("and", "or", "xor")
                            for form in (verb, "fetch_" + verb, "fetch_" + verb + "_nbi")])
    yield from (f"shmem_{t}_{verb}" for t in ("float", "double", "int", "long", "longlong")
                for verb in ("fetch", "set", "swap"))
    yield from (f"shmem_{t}_{verb}" for t in ("int", "long", "longlong") for verb in ("cswap", "finc", "inc", "fadd", "add"))


def collectives():
    verbs = ("broadcast", "collect", "fcollect", "alltoall", "alltoalls")
    yield from (f"shmem_{t}_{verb}" for t in RMA for verb in verbs)
    yield from (f"shmem_{verb}{size}" for verb in verbs for size in ("mem", 32, 64))
    for types, operators in ((REDUCE_BITS, ("and", "or", "xor")), (RMA, ("max", "min")), (RMA + COMPLEX, ("sum", "prod"))):
        yield from (f"shmem_{t}_{op}_reduce" for t in types for op in operators)
    yield from (f"shmem_{t}_sum_{kind}" for t in RMA + COMPLEX for kind in ("inscan", "exscan"))
    for types, operators in ((ACTIVE, ("and", "or", "xor")), (ACTIVE + REAL, ("max", "min")),
                             (ACTIVE + REAL + COMPLEX, ("sum", "prod"))):
        yield from (f"shmem_{t}_{op}_to_all" for t in types for op in operators)


def waits():
    sets = [f"{many}{vector}" for many in ("all", "any", "some") for vector in ("", "_vector")]
    yield from (f"shmem_{t}_{verb}" for t in AMO + ["short", "ushort"] for verb in ("wait_until", "test"))
    yield from (f"shmem_{t}_{verb}_{many}" for t in AMO for verb in ("wait_until", "test") for many in sets)
    yield from (f"shmem_{t}_wait" for t in ACTIVE)


PLAIN = """
init init_thread finalize query_initialized query_thread global_exit my_pe n_pes pe_accessible addr_accessible ptr
info_get_version info_get_name malloc free realloc align malloc_with_hints calloc
team_my_pe team_n_pes team_get_config team_translate_pe team_split_strided team_split_2d team_destroy team_ptr team_sync
ctx_create team_create_ctx ctx_destroy ctx_get_team ctx_session_start ctx_session_stop
signal_fetch signal_wait_until signal_add ctx_signal_add signal_set ctx_signal_set
fence ctx_fence quiet ctx_quiet pe_quiet ctx_pe_quiet barrier_all sync_all barrier sync
set_lock clear_lock test_lock pcontrol wait wait_until""".split()
OLD = """start_pes _my_pe _num_pes shmalloc shfree shrealloc shmemalign
shmem_set_cache_inv shmem_clear_cache_inv shmem_set_cache_line_inv shmem_clear_cache_line_inv shmem_udcflush
shmem_udcflush_line""".split()
COUNT = 1794  # 1782 of the standard's groups, and 12 older names


def main():
    nm, readelf, library, *programs = sys.argv[1:]
    names = ["shmem_" + name for name in PLAIN] + OLD
    for group in (transfers, atomics, collectives, waits):
        names += group()
    wanted = set(names)
    failed = len(names) != COUNT or len(wanted) != COUNT
    print(f"{len(wanted)} names of the standard")
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    kinds = {words[-1].split("@")[0]: words[-2] for words in map(str.split, lines.splitlines()) if words[-2] != "A"}
    weak = {name for name, kind in kinds.items() if kind == "W"}
    strong = {name for name, kind in kinds.items() if kind == "T"}
    called = set()
    for program in programs:
        lines = subprocess.run([nm, "-u", program], capture_output=True, text=True, check=True).stdout
        called |= {words[-1].split("@")[0] for words in map(str.split, lines.splitlines())}
    lines = subprocess.run([readelf, "-rW", library], capture_output=True, text=True, check=True).stdout
    bound = {words[4].split("@")[0] for words in map(str.split, lines.splitlines()) if len(words) > 4}
    if not bound & strong:  # start_pes calls pshmem_init
        failed = True
        print("no call by the library itself was found, although start_pes calls pshmem_init")
    for title, left in (("missing", wanted - weak), ("called by no test", wanted - called), ("missing for profilers", {"p" + name for name in wanted} - strong),
                        ("called by the library itself", wanted & bound),
                        ("not of the standard", set(kinds) - wanted - {"p" + name for name in wanted})):
        if left:
            failed = True
            print(f"{title}: {len(left)}: {' '.join(sorted(left)[:20])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
