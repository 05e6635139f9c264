"""The parts of a report: question, commands, and the figures in their lines. Called by report.py, comparison.py, rendering.py and results.py.

A figure is a dict: part, group (the subject of its plot and table), series, job, ranks, x (bytes, or 0), median, low and high in
ns (5th and 95th percentile of batches; for applications, the least and the most of runs), raw (whether it is the raw limit of
the machine). Figures of the map and of applications have more keys, for their plots and claims.
"""
import dataclasses
import statistics

import claims


@dataclasses.dataclass
class Part:
    name: str
    title: str
    question: str
    quick: tuple       # commands: the words after `sennit`, or after python3 if the first one ends in .py
    full: tuple
    seconds: int       # time of quick on 2 processors
    paper: str = "No paper measures it."
    claim: object = None    # function of the figures: a sentence about this machine
    answers: object = None  # function of the figures: rows (claim, the paper, here); replaces paper and claim
    programs: tuple = ()    # of an application: if one is missing, the part is left out


QUICK, FULL = "--seconds 0.3", "--seconds 1"
SIZES, ALL_SIZES = "--bytes 8,1K,64K,1M", "--bytes 8,64,512,4K,8K,16K,32K,64K,256K,1M,4M"
FLOW = "apps/flow/compare.py --bin {bin} --lines {out}"


def bench(name, quick, full):
    return (f"bench {name} --mpi all {quick} {QUICK} --json",), (f"bench {name} --mpi all {full} {FULL} --json",)


def collective(name, title, question, seconds, **more):
    return Part(name, title, question, *bench(name, "-n 2 --bytes 8,64K", "-n 2,4 --bytes 8,1K,64K,1M"), seconds, **more)


PARTS = (
    Part("channel", "Channels", "How long does half a round trip over a channel take?",
         *bench("channel", "--bytes 0,8,64K", "--bytes 0,8,1K,64K,1M"), 2,
         "ZCom (Imhoff 2024), table 5.1: MPI's send and receive take 23.9 × as long as a channel.", claims.channel),
    Part("notify", "A message and its event", "How long until the target knows that a put has arrived?", *bench("notify", SIZES, ALL_SIZES), 5,
         "UNR (Feng et al. 2024), figure 4: less time than MPI's one-sided calls in most cases, between hosts.", claims.notify),
    Part("put", "Blocking put", "How much more than a copy by hand does a put cost?", *bench("put", SIZES, ALL_SIZES), 2,
         "DART-MPI (Zhou, Gracia 2017), figure 6: about 5 ns above the shared window, whatever the size.", claims.overhead),
    Part("get", "Blocking get", "How much more than a copy by hand does a get cost?", *bench("get", SIZES, ALL_SIZES), 2,
         "DART-MPI (Zhou, Gracia 2017), figure 6: about 5 ns above the shared window, whatever the size.", claims.overhead),
    Part("plan", "Plans", "How long does a plan of 64 puts take, for each put?", *bench("plan", "--bytes 8,1K", "--bytes 8,64,256,1K"), 2,
         claim=claims.others_to("sennit-plan")),
    Part("queue", "Queues", "How long does an item of a queue take, from all ranks but one to that one?",
         *bench("queue", "-n 2 --bytes 8,1K", "-n 2,4 --bytes 8,64,1K"), 2, claim=claims.others_to("sennit-queue")),
    Part("atomic", "Atomic operations and locks", "How much more than the bare instruction do they cost?", *bench("atomic", "--bytes 8", "--bytes 8,1K"), 2),
    Part("barrier", "Barrier", "How long does a barrier take?", *bench("barrier", "-n 2", "-n 2,4,8"), 1, claim=claims.others_to("sennit")),
    collective("broadcast", "Broadcast", "How long does a broadcast take?", 1, claim=claims.others_to("sennit")),
    collective("allreduce", "Sum of vectors", "How long does an allreduce of doubles take?", 1, claim=claims.others_to("sennit")),
    collective("alltoall", "All to all", "How long does an exchange of all with all take?", 1, claim=claims.others_to("sennit")),
    Part("map", "Map of the cores", "How fast does data move between cores, and by which way?",
         ("map --pairs 100 --bytes 1M --bytes-at-once 1M --seconds 12 --json",),
         ("map --pairs 2000 --bytes 1M --bytes-at-once 1M,200M --seconds 120 --json",), 7,
         "To Share or Not to Share (Adam et al. 2024)", answers=claims.map_answers),
    Part("kernels", "Kernels", "How long do the kernels take with each library?",
         ("apps/kernels/compare.py --bin {bin} --kernels daxpy,sort --ranks 2 --rounds 3 --lines {out} -- --warmup 1 --runs 3",),
         ("apps/kernels/compare.py --bin {bin} --ranks 1,2,4 --rounds 3 --limit 60 --lines {out} -- --warmup 2 --runs 10",), 16,
         "Johnson 2021", answers=claims.kernel_answers, programs=("kernels",)),
    Part("heat3d", "Heat conduction in 3-D", "How long does the exchange of halos take?",
         ("apps/heat3d/study/scaling.py blocking --bin {bin} --layers whole --ranks 2 --rounds 3 --run-seconds 0.1 --out {folder}",),
         ("apps/heat3d/study/scaling.py blocking --bin {bin} --ranks 2,4 --rounds 5 --out {folder}",), 4,
         "DART-MPI (Zhou, Gracia 2017), figure 8: on one node flat MPI RMA takes 2.43 × as long.", claims.heat, programs=("heat3d-blocking",)),
    Part("flow", "Turbulent flow in a channel", "How long does a step take, with MPI and with its calls made into plans?",
         (f"{FLOW} --rounds 3 --steps 20",), (f"{FLOW} --rounds 5 --steps 60",), 8,
         "UNR (Feng et al. 2024), figure 6: PowerLLEL is faster by 29 to 39 % on four systems, between nodes.", claims.flow, programs=("flow-openmpi", "flow-mpich")),
)
BY_NAME = {part.name: part for part in PARTS}


def answers_of(name, figures):
    """Rows (claim, the paper, here) of a part."""
    part = BY_NAME[name]
    if not figures:
        return [("", part.paper, claims.NOT_MEASURED)]
    return part.answers(figures) if part.answers else [("", part.paper, part.claim(figures) if part.claim else "see the table")]


def figure(row, series, low, high, **more):
    return {"group": row["bench"], "series": series, "job": row["job"], "ranks": row["ranks"], "x": row["bytes"], "median": row["median_ns"],
            "low": low, "high": high, "raw": series.startswith("raw-"), **more}


def figure_of_runs(group, series, ranks, values, **more):
    """A figure of an application from the nanoseconds of each run."""
    return {"group": group, "series": series, "job": "", "ranks": ranks, "x": 0, "median": statistics.median(values), "low": min(values),
            "high": max(values), "raw": False, **more}


def of_bench(rows):
    return [figure(row, row["subject"], row["p5_ns"], row["p95_ns"]) for row in rows if row.get("median_ns") and "subject" in row]


def of_map(rows):
    """A figure for each pair of cores, and for each number of simultaneous transfers."""
    places = {core["processor"]: core for row in rows if row.get("map") == "machine" for core in row["cores"]}
    for row in rows:
        if row.get("map") not in ("pair", "flag", "at-once"):
            continue
        pair = f"core {row['from']} to {row['to']}"
        if row["map"] == "at-once":
            group = f"at once, {row['transfers']} transfer{'s' if row['transfers'] > 1 else ''} {row['group']}{', fresh' if row['fresh'] else ''}"
            more = {"transfers": row["transfers"], "where": row["group"], "fresh": row["fresh"]}
        else:
            group = f"{'flag' if row['map'] == 'flag' else 'one copy'}, {pair}"
            more = {"cores": (row["from"], row["to"]), "places": places}
        yield {"group": group, "series": row["way"], "job": "sennit", "ranks": 0, "x": row["bytes"], "median": row["median_ns"],
               "low": row["p5_ns"], "high": row["p95_ns"], "raw": False, "gb_per_s": row.get("gb_per_s"), **more}


def of_kernels(rows):
    """A figure for each version, from the mean time of the runs of each job."""
    jobs = {}
    for row in rows:
        if "latency_us" in row:
            jobs.setdefault(tuple(row[key] for key in ("kernel", "library", "version", "hosts", "ranks")), []).append(row["latency_us"] * 1e3)
    for (kernel, library, version, hosts, ranks), values in jobs.items():
        yield figure_of_runs(f"{kernel}, {claims.place_text(hosts, ranks)}", f"{library} {version}", ranks, values, kernel=kernel, library=library,
                             version=version, hosts=hosts)


def of_heat(rows):
    for row in rows:
        if "halo_us" in row:
            name = "Sennit" if row["mpi"] is None else f"flat RMA, {row['mpi']}, {row['window']}"
            yield {**figure_of_runs(f"halo, {row['layers'].split('-')[0]}, {row['ranks']} ranks", name, row["ranks"],
                                    [value * 1e3 for value in row["halo_us_range"]]), "median": row["halo_us"] * 1e3}


FLOW_SERIES = {"mpi": "MPI", "sennit": "Sennit", "sennit-pipelined": "Sennit, pipelined"}
FLOW_TIMES = {"step": "step_step_us_mean", "communication": "communicate_step_us_mean"}


def of_flow(rows):
    """Figures from the median step of each run, and its communication."""
    found = {}
    for row in rows:
        if row.get("backend") in FLOW_SERIES:
            for what, key in FLOW_TIMES.items():
                found.setdefault((what, row["mpi"], row["ranks"], FLOW_SERIES[row["backend"]]), []).append(row[key] * 1e3)
    for (what, mpi, ranks, series), values in found.items():
        yield figure_of_runs(f"{what}, {mpi}, {ranks} ranks", series, ranks, values, mpi=mpi)


READERS = {"map": of_map, "kernels": of_kernels, "heat3d": of_heat, "flow": of_flow}


def figures_of(part):
    """The figures of a part of a report, as read from its JSON."""
    return [{"part": part["name"], **one} for one in READERS.get(part["name"], of_bench)(part["lines"])]
