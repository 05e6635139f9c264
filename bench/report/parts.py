"""The parts of a report: question, commands, and what each of their lines says. Called by report.py, comparison.py and rendering.py.

A figure is a dict: part, group (what its plot and table are about), series, job, ranks, x (bytes, or 0), median, low and high in ns (5th and
95th percentile of batches; of applications, the least and the most of runs), raw (whether it is the bare machine).
"""
import dataclasses
import statistics

import lines as bench_lines


@dataclasses.dataclass
class Part:
    name: str
    title: str
    question: str
    quick: tuple       # commands, as words behind `sennit`, or behind python3 where the first one ends in .py
    full: tuple
    paper: str = "No paper measures it."
    claim: object = None  # figures: the same about this machine
    program: str = ""     # of an application, without which it is left out


QUICK, FULL = "--seconds 0.3", "--seconds 1"
SIZES, ALL_SIZES = "--bytes 8,1K,64K,1M", "--bytes 8,64,512,4K,8K,16K,32K,64K,256K,1M,4M"


def bench(name, quick, full):
    return (f"bench {name} --mpi all {quick} {QUICK} --json",), (f"bench {name} --mpi all {full} {FULL} --json",)


def ratios(figures, over, under, x=None):
    """Of medians of the series that begin so, to the fastest that begin with `under`, in each job and of each size."""
    found = []
    for job, size in sorted({(one["job"], one["x"]) for one in figures if x is None or one["x"] == x}):
        here = [one for one in figures if (one["job"], one["x"]) == (job, size)]
        top = [one["median"] for one in here if over(one)]
        bottom = [one["median"] for one in here if one["series"].startswith(under)]
        if top and bottom:
            found.append(min(top) / min(bottom))
    return found


def span(values, form):
    return "not measured" if not values else form(min(values)) if len(values) == 1 else f"{form(min(values))} to {form(max(values))}"


def times(value):
    return f"{value:.2f} ×"


def is_message(one):
    return one["series"].split("-", 1)[-1] in bench_lines.TWO_SIDED and is_of_mpi(one)


def is_of_mpi(one):
    return not one["raw"] and not one["series"].startswith("sennit")


def channel_claim(figures):
    return f"MPI's send and receive of 8 bytes take {span(ratios(figures, is_message, 'sennit-channel', 8), times)} as long as a channel."


def notify_claim(figures):
    found = ratios(figures, lambda one: is_of_mpi(one) and not is_message(one), "sennit-put-notify")
    return (f"Sennit takes less time than the best one-sided way in {sum(ratio > 1 for ratio in found)} of {len(found)} cases "
            f"({span(found, times)} of Sennit's time).")


def overhead_claim(figures):
    over = [one["median"] - min(raw["median"] for raw in figures if raw["raw"] and (raw["job"], raw["x"]) == (one["job"], one["x"]))
            for one in figures if one["series"].startswith("sennit") and one["x"] == 8]
    return f"8 bytes: {span(over, lambda ns: f'{ns:.1f} ns')} more than a store or load by hand."


def map_claim(figures):
    found = ratios([one for one in figures if one["group"].startswith("at once")], lambda one: one["series"].startswith("cma"), "mapped")
    return f"Mapped memory has {span(found, times)} the bandwidth of CMA."


def sort_claim(figures):
    at = [one for one in figures if one["group"].startswith("daxpy")]
    return f"daxpy: the other libraries take {span(ratios(at, lambda one: not one['series'].startswith('sennit'), 'sennit'), times)} as long as Sennit's best."


def heat_claim(figures):
    return f"Flat MPI RMA takes {span(ratios(figures, lambda one: one['series'].startswith('flat'), 'Sennit'), times)} as long as Sennit."


PARTS = (
    Part("channel", "Channels", "How long does half a round trip over a channel take?",
         *bench("channel", "--bytes 0,8,64K", "--bytes 0,8,1K,64K,1M"),
         "ZCom (Imhoff 2024), table 5.1: MPI's send and receive take 23.9 × as long as a channel.", channel_claim),
    Part("notify", "A message and its event", "How long until the target knows that a put has arrived?", *bench("notify", SIZES, ALL_SIZES),
         "UNR (Feng et al. 2024), figure 4: less time than MPI's one-sided calls in most cases, between hosts.", notify_claim),
    Part("put", "Blocking put", "What does a put cost above a copy by hand?", *bench("put", SIZES, ALL_SIZES),
         "DART-MPI (Zhou, Gracia 2017), figure 6: about 5 ns above the shared window, whatever the size.", overhead_claim),
    Part("get", "Blocking get", "What does a get cost above a copy by hand?", *bench("get", SIZES, ALL_SIZES),
         "DART-MPI (Zhou, Gracia 2017), figure 6: about 5 ns above the shared window, whatever the size.", overhead_claim),
    Part("atomic", "Atomic operations and locks", "What do they cost above the bare instruction?", *bench("atomic", "--bytes 8", "--bytes 8,1K")),
    Part("barrier", "Barrier", "How long does a barrier take?", *bench("barrier", "-n 2", "-n 2,4,8")),
    Part("allreduce", "Sum of vectors", "How long does an allreduce of doubles take?", *bench("allreduce", "-n 2 --bytes 8,64K", "-n 2,4 --bytes 8,1K,64K,1M")),
    Part("map", "Map of the cores", "How fast does data move between cores, and by which way?",
         ("map --pairs 100 --bytes 1M --bytes-at-once 1M --seconds 12 --json",),
         ("map --pairs 2000 --bytes 1M --bytes-at-once 1M,200M --seconds 120 --json",),
         "To Share or Not to Share (Adam et al. 2024), table 1, 1 MB, the most transfers: mapped over CMA 1.77 to 4.81 ×.", map_claim),
    Part("kernels", "Kernels", "How long do daxpy and Integer Sort take with each library?",
         ("apps/kernels/compare.py --bin {bin} --kernels daxpy,sort --ranks 2 --rounds 3 --lines {out} -- --warmup 1 --runs 3",),
         ("apps/kernels/compare.py --bin {bin} --ranks 1,2,4 --rounds 3 --lines {out}",),
         "Johnson 2021: daxpy with OpenSHMEM 15 % faster than MPI RMA and 30 % than MPI to 64 nodes; Integer Sort within 5 %.", sort_claim, "kernels"),
    Part("heat3d", "Heat conduction in 3-D", "How long does the exchange of halos take?",
         ("apps/heat3d/study/scaling.py blocking --bin {bin} --layers whole --ranks 2 --rounds 3 --run-seconds 0.1 --out {folder}",),
         ("apps/heat3d/study/scaling.py blocking --bin {bin} --ranks 2,4 --rounds 5 --out {folder}",),
         "DART-MPI (Zhou, Gracia 2017), figure 8: on one node flat MPI RMA takes 2.43 × as long.", heat_claim, "heat3d-blocking"),
)
BY_NAME = {part.name: part for part in PARTS}


def figure(row, series, low, high, **more):
    return {"group": row["bench"], "series": series, "job": row["job"], "ranks": row["ranks"], "x": row["bytes"], "median": row["median_ns"],
            "low": low, "high": high, "raw": series.startswith("raw-"), **more}


def of_bench(rows):
    return [figure(row, row["subject"], row["p5_ns"], row["p95_ns"]) for row in rows if row.get("median_ns") and "subject" in row]


def of_map(rows):
    """Each pair of cores by itself, each number of transfers at once."""
    for row in rows:
        if row.get("map") not in ("pair", "flag", "at-once"):
            continue
        group = {"pair": f"one copy, core {row['from']} to {row['to']}", "flag": f"flag, core {row['from']} to {row['to']}",
                 "at-once": f"at once, {row.get('transfers')} transfers {row.get('group')}{', fresh' if row.get('fresh') else ''}"}[row["map"]]
        yield {"group": group, "series": row["way"], "job": "sennit", "ranks": 0, "x": row["bytes"], "median": row["median_ns"],
               "low": row["p5_ns"], "high": row["p95_ns"], "raw": False}


def of_kernels(rows):
    """Runs of one version together: the median, the least and the most."""
    runs = {}
    for row in rows:
        if "latency_us" in row:
            runs.setdefault((row["kernel"], row["library"], row["version"], row["ranks"]), []).append(row["latency_us"] * 1e3)
    for (kernel, library, version, ranks), values in runs.items():
        yield {"group": f"{kernel}, {ranks} ranks", "series": f"{library} {version}", "job": "", "ranks": ranks, "x": 0,
               "median": statistics.median(values), "low": min(values), "high": max(values), "raw": False}


def of_heat(rows):
    for row in rows:
        if "halo_us" not in row:
            continue
        name = "Sennit" if row["mpi"] is None else f"flat RMA, {row['mpi']}, {row['window']}"
        yield {"group": f"halo, {row['layers'].split('-')[0]}, {row['ranks']} ranks", "series": name, "job": "", "ranks": row["ranks"], "x": 0,
               "median": row["halo_us"] * 1e3, "low": row["halo_us_range"][0] * 1e3, "high": row["halo_us_range"][1] * 1e3, "raw": False}


READERS = {"map": of_map, "kernels": of_kernels, "heat3d": of_heat}


def figures_of(part):
    """The figures of a part of a report, as read from its JSON."""
    return [{"part": part["name"], **one} for one in READERS.get(part["name"], of_bench)(part["lines"])]
