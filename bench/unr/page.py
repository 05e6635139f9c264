#!/usr/bin/env python3
"""Writes the page of results from the measurements of measure.py: python3 bench/unr/page.py [--check] [--plots] [FOLDER]

Writes FOLDER/README.md (docs/results/unr) from the lines of JSON beside it. With --check it compares the page instead, exit status 1 if
it differs; with --plots it also draws the two figures, which needs matplotlib. Figures are computed; texts are written here.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "study"))
import charts  # noqa: E402  pylint: disable=wrong-import-position
import lines as bench_lines  # noqa: E402  pylint: disable=wrong-import-position
from lines import bench_of, is_raw, least, pick, sizes_of, way_of  # noqa: E402  pylint: disable=wrong-import-position
from pages import folder_of, table, text_of_bytes, three_digits, write_or_check  # noqa: E402  pylint: disable=wrong-import-position
from runs import MPI_NAMES, read_lines  # noqa: E402  pylint: disable=wrong-import-position

OURS = "sennit-put-notify"
ONLY_MEASURED = (64, 16 << 10, 256 << 10)  # sizes in the files that the tables of messages and plans leave out
OTHERS = {"sennit": "Sennit", "lci": "LCI 2", "gpi2": "GPI-2", "gpi2-tuned": "GPI-2, wait of ours", "sos": "SOS", "openshmem": "OpenSHMEM"}


def measured(head):
    on = f", {head['machine']['processor']}" if "machine" in head else ""
    return f"{head['date']}{on}, load {head['load']}."


def machines(heads):
    """The machines of all measurements. Each table names its own."""
    return "; ".join(dict.fromkeys(f"{one['processor']}, {one['cores']} processors, {one['system']}" for one in (head["machine"] for head in heads if "machine" in head)))


def us_text(nanoseconds):
    """Microseconds, three digits."""
    return three_digits(nanoseconds / 1e3)


def one_message(rows, job, size):
    return bench_lines.one_message(rows, job, size, OURS)


def shown_sizes(rows):
    return [size for size in sizes_of(rows) if size not in ONLY_MEASURED]


def message_table(rows):
    """A row for each size, a column for each job: Sennit, two-sided, one-sided."""
    jobs = [job for job in ("openmpi", "mpich", "openshmem") if pick(rows, job=job)]
    kinds = {job: ("sennit", "one") if job == "openshmem" else ("sennit", "two", "one") for job in jobs}
    heads = {"sennit": "Sennit", "two": "two-sided", "one": "one-sided"}
    lines = []
    for size in shown_sizes(rows):
        cells = []
        for job in jobs:
            found = one_message(rows, job, size)
            texts = []
            for kind in kinds[job]:
                if found[kind] is None:
                    texts.append("–")
                    continue
                time = found[kind]["median_ns"]
                ratio = f"{time / found['raw' if kind == 'sennit' else 'sennit']['median_ns']:.2f}"
                texts.append({"sennit": f"{us_text(time)} ({ratio})", "two": ratio, "one": f"{ratio} {way_of(found[kind])}"}[kind])
            cells.append("; ".join(texts))
        lines.append([text_of_bytes(size), *cells])
    return table(["", *(f"{MPI_NAMES.get(job, OTHERS.get(job))}: {'; '.join(heads[kind] for kind in kinds[job])}" for job in jobs)], lines)


def library_table(rows):
    names = sorted({row["job"] for row in rows} - {"bare"}, key=list(OTHERS).index)
    lines = []
    for hosts in (2, 1):
        for size in shown_sizes(pick(rows, hosts=hosts)):
            def middle(job, size=size, hosts=hosts):
                found = least(pick(rows, job=job, bytes=size, hosts=hosts))
                return None if found is None else found["median_ns"]
            bare = middle("bare")
            cells = [f"{middle(name) / bare:.2f}" if middle(name) else "–" for name in names]
            lines.append([f"{text_of_bytes(size)}, {'hosts' if hosts == 2 else 'node'}", us_text(bare), *cells])
    return table(["", "bare, µs", *(OTHERS[name] for name in names)], lines)


def is_behind(cell):
    """Whether two-sided messages are faster. False if they are also faster than the provider's own calls, and Sennit is near these."""
    if not cell.get("two") or not cell.get("raw"):
        return False
    two, ours, bare = (cell[key]["median_ns"] for key in ("two", "sennit", "raw"))
    return two < ours and not (two < bare and ours <= 1.15 * bare)


def targets(rows):
    """The targets of a message between hosts."""
    def ratios(key, sizes, over="sennit", of="raw"):
        found = []
        for size in sizes:
            for job in ("openmpi", "mpich"):
                cell = one_message(rows, job, size)
                if cell.get(key) and cell.get(of):
                    found.append(cell[over]["median_ns"] / cell[of]["median_ns"])
        return found
    word = ratios("raw", (8,))
    short = [size for size in sizes_of(rows) if size <= 4096]
    one = ratios("one", short, "one", "sennit")
    two = ratios("two", sizes_of(rows), "two", "sennit")
    behind = [f"{text_of_bytes(size)} ({', '.join(names)})" for size in sizes_of(rows)
              if (names := [MPI_NAMES[job] for job in ("openmpi", "mpich") if is_behind(one_message(rows, job, size))])]

    def verdict(is_met):
        return "met" if is_met else "**missed**"
    return table(["ratio of times between hosts", "target", "here"], [
        ["Sennit / bare, 8 B", "≤ 1.15 ×", f"{min(word):.2f} to {max(word):.3f} ×: {verdict(max(word) <= 1.15)}"],
        ["MPI's best one-sided / Sennit, to 4 KiB", "≥ 2 ×", f"{min(one):.2f} to {max(one):.2f} ×: {verdict(min(one) >= 2)}"],
        ["MPI's best two-sided / Sennit", "≥ 1 ×; if two-sided is faster than bare: Sennit ≤ 1.15 × bare", f"{min(two):.2f} to {max(two):.2f} ×: {verdict(not behind)}"
         + (f", behind at {', '.join(behind)}" if behind else "")]])


def rail_gains(rows):
    """[(size, gain over the fastest rail, part of the sum)]"""
    gains = []
    for size in sizes_of(rows):
        alone = [row["median_ns"] for row in rows if row["bytes"] == size and is_raw(row)]
        ours = pick(rows, subject=OURS, bytes=size)[0]["median_ns"]
        gains.append((size, min(alone) / ours, 1 / (ours * sum(1 / one for one in alone))))
    return gains


def rail_table(rows):
    names = ("400+400", "400+133")
    lines = []
    for number, name in enumerate(names):
        for size, gain, part in rail_gains(bench_of(pick(rows, command=number), "rails")):
            lines.append([text_of_bytes(size), name, f"{gain:.2f}", f"{part:.2f}"])
    return table(["", "rails, Mbit/s", "of the faster rail", "of the sum"], lines)


def shared_gains(rows, bench, begin="sennit-", key="median_ns"):
    """[(size, gain in throughput)]; `key` names the time of Sennit that is used"""
    gains = []
    for size in sizes_of(bench_of(rows, bench)):
        found = pick(rows, bench=bench, bytes=size)
        ours = next(row for row in found if row["subject"].startswith(begin))
        gains.append((size, least([row for row in found if is_raw(row)])["median_ns"] / ours[key] - 1))
    return gains


def shared_table(rows):
    columns = [dict(shared_gains(rows, bench, begin)) for bench in ("rails-steady", "rails-unsteady") for begin in ("sennit-", "hand-")]
    lines = [[text_of_bytes(size), *(f"{100 * column[size]:+.0f}" for column in columns)] for size in sorted(columns[0])]
    return table(["%", "T: Sennit", "T: by hand", "N(T, 0.3 T): Sennit", "N(T, 0.3 T): by hand"],
                 [*lines, ["the paper, large messages", "≤ +33 (theory)", "–", "about +10", "–"]])


def plan_table(rows):
    lines = []
    for size in shown_sizes(rows):
        for job in ("openmpi", "mpich"):
            here = pick(rows, job=job, bytes=size)
            plan = pick(here, subject="sennit-plan")[0]["median_ns"]

            def of_plan(row, plan=plan):
                return f"{row['median_ns'] / plan:.2f}"
            best = least([row for row in here if row["subject"].startswith(job)])
            lines.append([text_of_bytes(size), MPI_NAMES[job], us_text(plan), of_plan(pick(here, subject="sennit-put-nbi")[0]),
                          of_plan(least([row for row in here if is_raw(row)])), f"{of_plan(best)} {way_of(best)}"])
    return table(["", "job of", "plan, µs", "`sennit_put_nbi`, ×", "provider, ×", "MPI's best, ×"], lines)


def progress_table(rows):
    lines = []
    for setting in dict.fromkeys(row["progress"] for row in rows if "progress" in row):
        first = next(i for i, row in enumerate(rows) if row.get("progress") == setting)
        # The lines of one job: raw ones have no setting, and precede Sennit's.
        job = rows[first - 1:first - 1 + len(rows) // len({row["progress"] for row in rows if "progress" in row})]

        def cell(bench, subject, job=job):
            return pick(job, bench=bench, subject=subject)[0]["median_ns"]
        work = cell("progress-work", "sennit-work")
        alone = cell("progress-work", "raw-work")
        raw = least([row for row in job if row["bench"] == "progress-asleep" and is_raw(row)])["median_ns"]
        lines.append([f"`{setting}`", us_text(raw), us_text(cell("progress-asleep", "sennit-put")), us_text(cell("progress-busy", "sennit-put")),
                      f"{100 * (work / alone - 1):+.1f}", f"{100 * (cell('progress-work', 'sennit-work-put-to') / alone - 1):+.1f}",
                      f"{100 * cell('progress-work', 'sennit-thread') / work:.2f}",
                      f"{100 * cell('progress-work', 'sennit-thread-put-to') / cell('progress-work', 'sennit-work-put-to'):.1f}"])
    return table(["`SENNIT_PROGRESS`", "bare put, target asleep", "put, target asleep", "put, target computes", "work alone, %", "work under puts, %",
                  "threads alone, %", "threads under puts, %"], lines)


def points_of(rows):
    """The points of a curve: µs by size, with the 5th and 95th percentile."""
    return sorted((row["bytes"], *(row[key] / 1e3 for key in ("median_ns", "p5_ns", "p95_ns"))) for row in rows if row)


def message_curves(rows):
    kinds = {"bare": ("openmpi", "raw"), "Sennit": ("openmpi", "sennit"), **{f"{MPI_NAMES[mpi]}, {text}": (mpi, key) for mpi in MPI_NAMES
                                                                             for key, text in (("two", "two-sided"), ("one", "one-sided"))}}
    return {name: points_of(one_message(rows, job, size)[key] for size in sizes_of(rows)) for name, (job, key) in kinds.items()}


def library_curves(rows):
    rows = pick(rows, hosts=2)
    return {OTHERS.get(job, job): points_of(least(pick(rows, job=job, bytes=size)) for size in sizes_of(rows)) for job in dict.fromkeys(row["job"] for row in rows)}


def plot(folder, files):
    found = {"between two hosts": message_curves(files["notify-hosts"][1]), "on a node": message_curves(files["notify-node"][1])}
    if "libraries" in files:
        found["between two hosts, other libraries"] = library_curves(files["libraries"][1])
    figure, axes = charts.new(len(found))
    for axis, (title, series) in zip(axes, found.items()):
        charts.curves(axis, series, title=title, xlabel="size", ylabel="half a round trip, µs", yscale="log")
        charts.size_ticks(axis, [size for points in series.values() for size, *_ in points], most=5)
    charts.save(figure, folder, "figure-4.png", "5th to 95th percentile")
    figure, (axis,) = charts.new(width=charts.WIDTH_IN / 2)
    series = {}
    for bench, label in (("rails-steady", "computations of T"), ("rails-unsteady", "computations of N(T, 0.3 T)")):
        found = [dict(shared_gains(files["shared"][1], bench, key=key)) for key in ("median_ns", "p95_ns", "p5_ns")]
        series[label] = [(size, *(100 * gains[size] for gains in found)) for size in found[0]]
    charts.curves(axis, series, xlabel="size", ylabel="gain of throughput, %", title="Two pairs share two rails")
    charts.size_ticks(axis, found[0])
    axis.axhline(100 / 3, color="grey", linestyle=":", label="the paper: ideal, T")
    axis.axhline(10, color="grey", linestyle="--", label="the paper: N(T, 0.3 T), large messages")
    charts.save(figure, folder, "figure-5.png", "Sennit's 5th to 95th percentile")


INTRODUCTION = """# Notified RMA between hosts: the measurements of the paper on UNR

This page repeats figures 4 and 5 of Feng et al., "UNR: Unified Notifiable RMA Library for HPC". The paper uses four machines with network
cards. Here the two hosts are namespaces of one machine (`tools/cluster`), joined by libfabric 1.17 and its provider `net` (TCP). So compare only
ratios. `bench/unr/measure.py` measures, `bench/unr/page.py` writes this page. The `.jsonl` files have the commands and more sizes
([names of the ways](../../benchmarks.md#subjects)). *Bare* is the raw limit: the provider's own `fi_writedata`."""

FIGURE_4 = """## Figure 4: a message and its event

The paper: UNR is faster than MPI's one-sided synchronisation "in most cases". On two of four systems MPI's post and start are as fast or faster."""

MESSAGES = """Half a round trip of `sennit_put_notify` in µs (divided by that of bare), then the times of MPI's best ways, divided by Sennit's."""

ON_A_NODE = """Here the raw limit is load and store. MPI's shared windows use load and store too, so the target of 2 × does not apply. OpenSHMEM is Open MPI's."""

LIBRARIES = """### Other libraries with notified puts

The times of half a round trip, divided by that of bare (`net` between hosts; on a node the faster of `shm` and `net`). Two ranks have a processor each. The jobs
run in turn. Each cell has the fastest way of the library, median of two rounds. Ignore differences below 2 ×, because the distance of the processors varies
between jobs."""

READING = """Reasons for the differences:

- Up to 48 KiB a put is one task: a message that the target executes. Sender and target copy the data once each.
- A longer put is a write and a task. The write is acknowledged, a bare write is not.
- Sennit repeats a put when a rail fails; the provider and these MPIs do not.
- From 8 KiB on, MPI's receiving rank sends TCP's acknowledgements itself. Sennit's rank does not ([Acknowledgements](../../design/fabric-providers.md#acknowledgements))."""

FIGURE_5 = """## Figure 5: two cards, shared or not

One pair of ranks sends one message at a time. The table has Sennit's bandwidth by both rails relative to that of bare by the faster
rail, and to the sum of both. **Targets at 16 MiB: 1.9 × one of two equal rails; 0.9 of the sum of unequal rails.** From 1 MiB on the bandwidth exceeds the
sum, because a rail that was idle may first send 256 KiB faster than its rate."""

SHARED = """Two pairs of ranks run on two hosts. Each rank computes between a message and its answer, either for the time T of a message by one rail, or for a random time from the
normal distribution N(T, 0.3 T). The table has the gain in throughput relative to bare with one rail for each pair. Sennit's pairs share
both rails. *By hand*: each message is two bare puts, one by each rail."""

PLAN = """## Plans

*Plan* is the time until 64 pieces with gaps of 64 bytes have arrived. The other columns are relative to the plan, which packs short pieces
([strided.md](../../design/strided.md)). Target: MPI's best takes at least 1.5 × as long. It is met with Open MPI, and missed with MPICH."""

PROGRESS = """## The progress thread

The columns *put* have the time of an 8-byte put in µs. Its target sleeps 2 ms at a time, or computes and calls Sennit about once a millisecond. *Work* is the increase
of the time of the computation. *Threads* is the processor time of all other threads, including those of the MPI, relative to this time. `processor=1` puts the progress
thread on the processor of the computing rank, `processor=0` on that of the rank that waits for its put. There is no third processor, so the thread has one of its own
only while the target sleeps.

- From `interval=500` on a put waits for the target's next call.
- On the processor of a rank that polls, the thread may have to wait until the kernel runs it.
- With shorter intervals the thread serves a sleeping rank in 36 to 52 µs."""


def page(folder):
    files = files_of(folder)
    heads = {name: head for name, (head, _) in files.items()}
    rows = {name: lines for name, (_, lines) in files.items()}
    parts = [INTRODUCTION, f"Machines: {machines(heads.values())}.", FIGURE_4, "![A message and its event by size](figure-4.png)", targets(rows["notify-hosts"]),
             f"{MESSAGES}\n{measured(heads['notify-hosts'])}", message_table(rows["notify-hosts"]), READING,
             "### On a node", f"{ON_A_NODE}\n{measured(heads['notify-node'])}", message_table(rows["notify-node"])]
    if "libraries" in files:
        about = heads["libraries"]
        parts += [f"{LIBRARIES}\n{measured(about)}", "\n".join(f"- {OTHERS[name]}: {text}" for name, text in about["about"].items()), library_table(rows["libraries"])]
    parts += [FIGURE_5, measured(heads["rails"]), rail_table(rows["rails"]), SHARED, measured(heads["shared"]), shared_table(rows["shared"]),
              "![Two pairs share two rails](figure-5.png)", f"{PLAN}\n{measured(heads['plan'])}", plan_table(rows["plan"]),
              PROGRESS, measured(heads["progress"]), progress_table(rows["progress"])]
    return "\n\n".join(parts) + "\n"


def files_of(folder):
    names = ("notify-hosts", "notify-node", "rails", "shared", "plan", "progress", "libraries")
    paths = {name: os.path.join(folder, f"{name}.jsonl") for name in names}
    return {name: read_lines(path) for name, path in paths.items() if name != "libraries" or os.path.exists(path)}


def main():
    folder = folder_of("unr")
    if "--plots" in sys.argv[1:]:
        plot(folder, files_of(folder))
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
