"""The claims of the papers, and the corresponding figures of a report. Called by parts.py.

A function of a claim gets the figures of a part (parts.py defines a figure) and returns a sentence. A function of answers returns
rows of (claim, the paper, here), one for each claim of the paper and each place where it was measured.
"""
import lines as bench_lines
import pages
from pages import text_of_bytes

OURS = ("sennit", "sennit-shmem")
NOT_MEASURED = "not measured"


def ratios(figures, over, under, x=None):
    """For each job and size: the fastest series that `over` accepts, divided by the fastest series with the prefix `under`."""
    found = []
    for job, size in sorted({(one["job"], one["x"]) for one in figures if x is None or one["x"] == x}):
        here = [one for one in figures if (one["job"], one["x"]) == (job, size)]
        top = [one["median"] for one in here if over(one)]
        bottom = [one["median"] for one in here if one["series"].startswith(under)]
        if top and bottom:
            found.append(min(top) / min(bottom))
    return found


def span(values, form):
    return pages.span(values, form) if values else NOT_MEASURED


def times(value):
    return f"{value:.2f} ×"


def percent(value, base):
    """The difference to the base in percent."""
    return f"{100 * (value / base - 1):+.0f} %".replace("-", "−")


def is_of_mpi(one):
    return not one["raw"] and not one["series"].startswith("sennit")


def is_message(one):
    return one["series"].split("-", 1)[-1] in bench_lines.TWO_SIDED and is_of_mpi(one)


def channel(figures):
    return f"MPI's send and receive of 8 bytes take {span(ratios(figures, is_message, 'sennit-channel', 8), times)} as long as a channel."


def notify(figures):
    found = ratios(figures, lambda one: is_of_mpi(one) and not is_message(one), "sennit-put-notify")
    return (f"Sennit takes less time than the best one-sided way in {sum(ratio > 1 for ratio in found)} of {len(found)} cases "
            f"({span(found, times)} of Sennit's time).")


def overhead(figures):
    over = [one["median"] - min(raw["median"] for raw in figures if raw["raw"] and (raw["job"], raw["x"]) == (one["job"], one["x"]))
            for one in figures if one["series"].startswith("sennit") and one["x"] == 8]
    return f"8 bytes: {span(over, lambda ns: f'{ns:.1f} ns')} more than a store or load by hand."


def others_to(name):
    """The ratio of the fastest series of each MPI to the fastest one of Sennit with this prefix."""
    def claim(figures):
        found = ratios(figures, is_of_mpi, name)
        return (f"Sennit takes less time than the MPI's best way in {sum(ratio > 1 for ratio in found)} of {len(found)} cases "
                f"({span(found, times)} of Sennit's time).")
    return claim


def heat(figures):
    return f"Flat MPI RMA takes {span(ratios(figures, lambda one: one['series'].startswith('flat'), 'Sennit'), times)} as long as Sennit."


def flow(figures):
    steps = [one for one in figures if one["group"].startswith("step")]
    found = {mpi: ratios([one for one in steps if mpi in one["group"]], lambda one: one["series"] == "MPI", "Sennit")
             for mpi in dict.fromkeys(one["mpi"] for one in steps)}
    return "A step with MPI takes " + "; ".join(f"{span(values, times)} as long as the faster one with Sennit ({mpi})"
                                                for mpi, values in found.items()) + "."


# Table 1: ratio of mapped memory to CMA, with the same buffers again, within a socket or across
# two: (GRACE, SAPPHIRE).
TABLE_1 = {(1 << 20, True): ("2.64", "1.77"), (1 << 20, False): ("4.81", "1.94"),
           (200 << 20, True): ("1.41", "4.28"), (200 << 20, False): ("0.76", "3.43")}


def at_most_transfers(figures, way):
    """The figure of a way with the most transfers at once, or None."""
    return max((one for one in figures if one["series"] == way), key=lambda one: one["transfers"], default=None)


def of_table_1(figures):
    """Table 1: bandwidths of mapped memory over those of CMA at the most transfers."""
    rows, at_once = [], [one for one in figures if "transfers" in one]
    for size, where, fresh in dict.fromkeys((one["x"], one["where"], one["fresh"]) for one in at_once):
        here = [one for one in at_once if (one["x"], one["where"], one["fresh"]) == (size, where, fresh)]
        mapped, cma = at_most_transfers(here, "mapped"), at_most_transfers(here, "cma")
        if mapped is None or cma is None or mapped["transfers"] != cma["transfers"]:
            continue
        paper = None if fresh else TABLE_1.get((size, where.startswith("within")))
        count = mapped["transfers"]
        rows.append((f"mapped memory over CMA, {text_of_bytes(size)}, {count} transfer{'s' if count > 1 else ''} {where}, "
                     f"{'fresh buffers' if fresh else 'the same buffers again'}",
                     f"Grace {paper[0]}, Sapphire Rapids {paper[1]}" if paper else NOT_MEASURED,
                     f"{mapped['gb_per_s'] / cma['gb_per_s']:.2f} ({mapped['gb_per_s']:.1f} and {cma['gb_per_s']:.1f} GB/s)"))
    return rows


def near_and_far(figures):
    """Figure 1: bandwidth depends on the distance of the cores."""
    found = [one for one in figures if "cores" in one and one["series"] == "mapped" and one["cores"][0] != one["cores"][1]]
    return [(f"mapped memory, one pair of cores at a time, {text_of_bytes(size)}", "NUMA domains differ visibly (figure 1, no numbers)",
             span([one["gb_per_s"] for one in found if one["x"] == size], lambda rate: f"{rate:.1f}") + " GB/s over the pairs")
            for size in dict.fromkeys(one["x"] for one in found)]


def map_answers(figures):
    return near_and_far(figures) + of_table_1(figures)


RMA, MPI = ("rma", "rma-put"), ("mpi",)
SYNC, ASYNC = ("shmem", "sennit"), ("shmem-async", "sennit-pipelined")
SHMEM = ("shmem", "shmem-async", "shmem-teams", "sennit", "sennit-pipelined", "sennit-notified")
LIBRARIES = {"sennit": "Sennit", "sennit-shmem": "Sennit's OpenSHMEM", "openmpi-shmem": "Open MPI's OpenSHMEM"}


def best(times_of, versions, libraries=None):
    return min((time for (library, version), time in times_of.items() if version in versions and (libraries is None or library in libraries)),
               default=None)


def against(ours, theirs, is_rate=False):
    """Latency or throughput of each library's version, relative to the fastest version of the MPIs."""
    def here(times_of):
        base = best(times_of, theirs)
        found = [(name, best(times_of, ours, (library,))) for library, name in LIBRARIES.items()]
        texts = [f"{name} {percent(*((base, time) if is_rate else (time, base)))}" for name, time in found if time and base]
        return ", ".join(texts) or NOT_MEASURED
    return here


def sync_to_async(times_of):
    found = [(name, best(times_of, SYNC, (library,)), best(times_of, ASYNC, (library,))) for library, name in LIBRARIES.items()]
    return ", ".join(f"{name} {percent(sync, other)}" for name, sync, other in found if sync and other) or NOT_MEASURED


def rma_to_mpi(times_of):
    found = [(name, best(times_of, RMA, (library,)), best(times_of, MPI, (library,))) for library, name in (("openmpi", "Open MPI"), ("mpich", "MPICH"))]
    return ", ".join(f"{name} {percent(rma, mpi)}" for name, rma, mpi in found if rma and mpi) or NOT_MEASURED


def slowest_to_fastest(times_of):
    """Each interface relative to the fastest one, by its fastest version; MPI by the faster of the two MPIs."""
    found = {"MPI": best(times_of, MPI), "MPI RMA": best(times_of, RMA), **{name: best(times_of, SHMEM, (library,)) for library, name in LIBRARIES.items()}}
    found = {name: time for name, time in found.items() if time}
    return ", ".join(f"{name} {percent(time, min(found.values()))}" for name, time in found.items())


# (kernel, claim, the paper, here)
KERNEL_CLAIMS = (
    ("daxpy", "latency of the pipelined version to MPI RMA", "OpenSHMEM below −15 %, 1 to 64 nodes", against(ASYNC, RMA)),
    ("daxpy", "latency of the pipelined version to MPI", "OpenSHMEM below −30 %, 1 to 64 nodes", against(ASYNC, MPI)),
    ("daxpy", "latency of the plain version to the pipelined one", "OpenSHMEM −1 %, 320 nodes", sync_to_async),
    ("daxpy", "latency of the plain version to MPI RMA", "OpenSHMEM −13 %, 320 nodes", against(SYNC, RMA)),
    ("daxpy", "latency of the plain version to MPI", "OpenSHMEM −21 %, 320 nodes", against(SYNC, MPI)),
    ("daxpy", "throughput of the faster version to MPI", "OpenSHMEM up to +46 % (Cori), +105 % (Bridges-2)", against(SHMEM, MPI, True)),
    ("cannon", "latency to MPI RMA", "OpenSHMEM −8 % (Cori), +16 % (Bridges-2), 289 nodes", against(SHMEM, RMA)),
    ("cannon", "latency to MPI", "OpenSHMEM −13 % (Cori), 289 nodes", against(SHMEM, MPI)),
    ("cannon", "latency of MPI RMA to MPI", "−38 % (Bridges-2), 289 nodes", rma_to_mpi),
    ("cannon", "latency of each interface over the fastest one", "all within 25 %", slowest_to_fastest),
    ("summa", "latency of each interface over the fastest one", "OpenSHMEM slowest of all on Cori, fastest on Bridges-2", slowest_to_fastest),
    ("sort", "latency of each interface over the fastest one", "all within 5 %", slowest_to_fastest),
)


def place_text(hosts, ranks):
    return f"{ranks} rank{'s' if ranks > 1 else ''}" + (f" on {hosts} hosts" if hosts else "")


def times_at(figures, kernel):
    """{(hosts, ranks): {(library, version): median}} for more than one rank."""
    found = {}
    for one in figures:
        if one["kernel"] == kernel and one["ranks"] > 1:
            found.setdefault((one["hosts"], one["ranks"]), {})[one["library"], one["version"]] = one["median"]
    return found


def kernel_answers(figures):
    return [(f"{kernel}: {what}; {place_text(*place)}", paper, here(times_of)) for kernel, what, paper, here in KERNEL_CLAIMS
            for place, times_of in sorted(times_at(figures, kernel).items())]


def losses(figures):
    """Rows (kernel and place, the faster version of another library, Sennit's best, whether the difference is noise) for places
    where Sennit's best is not the fastest."""
    rows = []
    for group in dict.fromkeys(one["group"] for one in figures):
        here = [one for one in figures if one["group"] == group]
        ours = min((one for one in here if one["library"] in OURS), key=lambda one: one["median"], default=None)
        theirs = min((one for one in here if one["library"] not in OURS), key=lambda one: one["median"], default=None)
        if ours and theirs and theirs["median"] < ours["median"]:
            is_clear = theirs["high"] < ours["low"]
            rows.append((group, theirs["series"], f"{ours['series']} {percent(ours['median'], theirs['median'])}",
                         "beyond the spread of both" if is_clear else "within the spread"))
    return rows
