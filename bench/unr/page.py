#!/usr/bin/env python3
"""Writes the page of results from what measure.py measured: python3 bench/unr/page.py [--check] [--plots] [FOLDER]

Writes FOLDER/README.md (docs/results/unr) from the lines of JSON beside it. With --check it compares instead, exit status 1 if they
differ; with --plots it draws the two figures, too, for which matplotlib is needed. Figures are computed; texts are written here.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps", "common", "study"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import figures  # noqa: E402  pylint: disable=wrong-import-position
import lines as bench_lines  # noqa: E402  pylint: disable=wrong-import-position
from lines import bench_of, is_raw, least, pick, sizes_of, time_text, way_of  # noqa: E402  pylint: disable=wrong-import-position
from pages import table, text_of_bytes, write_or_check  # noqa: E402  pylint: disable=wrong-import-position
from runs import MPI_NAMES, ROOT, read_lines  # noqa: E402  pylint: disable=wrong-import-position

OURS = "sennit-put-notify"
OTHERS = {"sennit": "Sennit", "lci": "LCI 2", "gpi2": "GPI-2", "gpi2-tuned": "GPI-2, wait of ours", "sos": "SOS", "openshmem": "Open MPI's OpenSHMEM"}


def measured(head):
    machine = head["machine"]
    commands = "\n".join(f"    {command}" for command in head["commands"])
    return f"{head['date']}: {machine['processor']}, {machine['cores']} processors, {machine['system']}, load {head['load']} at the start.\n\n{commands}"


def one_message(rows, job, size):
    return bench_lines.one_message(rows, job, size, OURS)


def message_table(rows):
    lines = []
    for size in sizes_of(rows):
        for job in [job for job in ("openmpi", "mpich", "openshmem") if pick(rows, job=job, bytes=size)]:
            found = one_message(rows, job, size)
            ours = found["sennit"]["median_ns"]

            def against(row, named, ours=ours):
                if row is None:
                    return "–"
                name = f", {way_of(row)}" if named else ""
                return f"{time_text(row['median_ns'])} ({row['median_ns'] / ours:.2f} ×{name})"
            lines.append([text_of_bytes(size), MPI_NAMES.get(job, OTHERS.get(job)), time_text(found["raw"]["median_ns"]),
                          f"{time_text(ours)} ({ours / found['raw']['median_ns']:.2f} ×)", against(found["two"], False), against(found["one"], True)])
    return table(["", "job of", "raw limit", "`sennit_put_notify` (of raw)", "two-sided (of Sennit's)", "best one-sided (of Sennit's)"], lines)


def library_table(rows):
    names = sorted({row["job"] for row in rows} - {"bare"}, key=list(OTHERS).index)
    lines = []
    for hosts in (2, 1):
        for size in sizes_of(pick(rows, hosts=hosts)):
            def middle(job, size=size, hosts=hosts):
                found = least(pick(rows, job=job, bytes=size, hosts=hosts))
                return None if found is None else found["median_ns"]
            bare = middle("bare")
            cells = [time_text(middle(name)) + (f" ({middle(name) / bare:.2f} ×)" if bare else "") if middle(name) else "–" for name in names]
            lines.append([text_of_bytes(size), "two hosts" if hosts == 2 else "a node", time_text(bare) if bare else "–", *cells])
    return table(["", "between", "bare `fi_writedata`", *(f"{OTHERS[name]} (of bare)" for name in names)], lines)


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
    behind = [text_of_bytes(size) for size in sizes_of(rows) if min(ratios("two", (size,), "two", "sennit")) < 1]

    def verdict(is_met):
        return "met" if is_met else "**missed**"
    return table(["between hosts", "target", "here"], [
        ["8 bytes, of the bare provider", "≤ 1.15 ×", f"{min(word):.2f} to {max(word):.2f} ×: {verdict(max(word) <= 1.15)}"],
        ["to 4 KiB, each MPI's best one-sided way", "≥ 2 × as long", f"{min(one):.2f} to {max(one):.2f} ×: {verdict(min(one) >= 2)}"],
        ["each MPI's best two-sided way, all sizes", "not faster", f"{min(two):.2f} to {max(two):.2f} ×: {verdict(not behind)}"
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
    names = ("two rails of 400 Mbit/s", "of 400 and 133 Mbit/s")
    lines = []
    for number, name in enumerate(names):
        for size, gain, part in rail_gains(bench_of(pick(rows, command=number), "rails")):
            lines.append([text_of_bytes(size), name, f"{gain:.2f} ×", f"{part:.2f}"])
    return table(["", "rails", "of the fastest rail alone", "of the sum of both alone"], lines)


def shared_gains(rows, bench, begin="sennit-"):
    """[(size, by how much throughput grows)]"""
    gains = []
    for size in sizes_of(bench_of(rows, bench)):
        found = pick(rows, bench=bench, bytes=size)
        ours = next(row for row in found if row["subject"].startswith(begin))
        gains.append((size, least([row for row in found if is_raw(row)])["median_ns"] / ours["median_ns"] - 1))
    return gains


def shared_table(rows):
    columns = [dict(shared_gains(rows, bench, begin)) for bench in ("rails-steady", "rails-unsteady") for begin in ("sennit-", "hand-")]
    lines = [[text_of_bytes(size), *(f"{100 * column[size]:+.0f} %" for column in columns)] for size in sorted(columns[0])]
    return table(["", "T: Sennit", "equal parts by hand", "N(T, 0.3 T): Sennit", "equal parts by hand"],
                 [*lines, ["the paper, large messages", "up to +33 % in theory", "", "about +10 %", ""]])


def plan_table(rows):
    lines = []
    for size in sizes_of(rows):
        for job in ("openmpi", "mpich"):
            here = pick(rows, job=job, bytes=size)
            plan = pick(here, subject="sennit-plan")[0]["median_ns"]

            def of_plan(row, plan=plan):
                return f"{time_text(row['median_ns'])} ({row['median_ns'] / plan:.2f} ×)"
            best = least([row for row in here if row["subject"].startswith(job)])
            lines.append([text_of_bytes(size), MPI_NAMES[job], time_text(plan), of_plan(pick(here, subject="sennit-put-nbi")[0]),
                          of_plan(least([row for row in here if is_raw(row)])), f"{of_plan(best)[:-1]}, {way_of(best)})"])
    return table(["64 pieces of", "job of", "`sennit_plan`", "64 `sennit_put_nbi` (of the plan's)", "64 puts of the provider", "the MPI's best way"], lines)


def progress_table(rows):
    lines = []
    for setting in dict.fromkeys(row["progress"] for row in rows if "progress" in row):
        first = next(i for i, row in enumerate(rows) if row.get("progress") == setting)
        # The lines of one job: raw ones have no setting, and come before Sennit's.
        job = rows[first - 1:first - 1 + len(rows) // len({row["progress"] for row in rows if "progress" in row})]

        def cell(bench, subject, job=job):
            return pick(job, bench=bench, subject=subject)[0]["median_ns"]
        work = cell("progress-work", "sennit-work")
        alone = cell("progress-work", "raw-work")
        raw = least([row for row in job if row["bench"] == "progress-asleep" and is_raw(row)])["median_ns"]
        lines.append([f"`{setting}`", time_text(raw), time_text(cell("progress-asleep", "sennit-put")), time_text(cell("progress-busy", "sennit-put")),
                      f"{100 * (work / alone - 1):+.1f} %", f"{100 * (cell('progress-work', 'sennit-work-put-to') / alone - 1):+.1f} %",
                      f"{100 * cell('progress-work', 'sennit-thread') / work:.2f} %",
                      f"{100 * cell('progress-work', 'sennit-thread-put-to') / cell('progress-work', 'sennit-work-put-to'):.1f} %"])
    return table(["`SENNIT_PROGRESS`", "bare put, target asleep", "put, target asleep", "put, target computes", "work, nobody puts", "work, put to",
                  "thread, nobody puts", "thread, put to"], lines)


def plot(folder, files):
    plt = figures.pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(figures.WIDTH_IN, figures.HEIGHT_IN))
    for axis, name, title in ((axes[0], "notify-hosts", "between two hosts"), (axes[1], "notify-node", "on a node")):
        rows = files[name][1]
        sizes = sizes_of(rows)
        curves = {"bare": ("openmpi", "raw", "k--"), "Sennit": ("openmpi", "sennit", "C0-"), "Open MPI, two-sided": ("openmpi", "two", "C1-"),
                  "Open MPI, one-sided": ("openmpi", "one", "C1:"), "MPICH, two-sided": ("mpich", "two", "C2-"), "MPICH, one-sided": ("mpich", "one", "C2:")}
        for label, (job, key, style) in curves.items():
            axis.plot(sizes, [one_message(rows, job, size)[key]["median_ns"] / 1e3 for size in sizes], style, label=label)
        if name == "notify-hosts" and "libraries" in files:
            for number, job in enumerate(sorted({row["job"] for row in files["libraries"][1]} - {"bare"})):
                found = sorted((row["bytes"], row["median_ns"] / 1e3) for row in pick(files["libraries"][1], job=job, hosts=2))
                axis.plot(*zip(*found), f"C{3 + number}-.", label=OTHERS[job])
        axis.set(xscale="log", yscale="log", xlabel="bytes", ylabel="half a round trip, µs", title=f"A message and its event, {title}")
        axis.legend(fontsize=7)
    figures.save(plt, figure, folder, "figure-4.png")
    figure, axis = plt.subplots(figsize=(figures.WIDTH_IN / 2, figures.HEIGHT_IN))
    for bench, label in (("rails-steady", "computations of T"), ("rails-unsteady", "computations of N(T, 0.3 T)")):
        gains = shared_gains(files["shared"][1], bench)
        axis.plot([size for size, _ in gains], [100 * gain for _, gain in gains], "o-", label=label)
    axis.axhline(100 / 3, color="grey", linestyle=":", label="the paper: ideal, T")
    axis.axhline(10, color="grey", linestyle="--", label="the paper: N(T, 0.3 T), large messages")
    axis.set(xscale="log", xlabel="bytes", ylabel="gain of throughput, %", title="Two pairs share two rails")
    axis.legend(fontsize=7)
    figures.save(plt, figure, folder, "figure-5.png")


INTRODUCTION = """# Notified RMA between hosts: the measurements of the paper on UNR

Figures 4 and 5 of Feng, Xie, Cao, Xie, Cui, Qi, Zheng, "UNR: Unified Notifiable RMA Library for HPC", and what belongs to them. The paper measured on four machines
with cards; here two hosts are made of namespaces of one machine with two processors (`tools/cluster`), joined by a bridge, libfabric 1.17 with
the provider `net`, which is TCP. So only ratios can be compared with the paper, and each is of one job whose subjects take turns.
`bench/unr/measure.py` measures; this page is written by `bench/unr/page.py` from the lines of JSON beside it.
[benchmarks.md](../../benchmarks.md) says what each subject does."""

FIGURE_4 = """## Figure 4: a message and its event

The paper puts UNR beside the synchronisation schemes of MPI's one-sided calls: on its four systems UNR takes less time "in most cases", and post and start come near or
win on two of them. Here all of these schemes, two-sided messages and the bare provider's `fi_writedata` take turns in one job with each MPI."""

LIBRARIES = """### Beside other libraries with notified puts

Built outside of this repository, each with a ping-pong program of ours that writes and reads a word of each line of a message, as `sennit bench` does: two ranks, each
with a processor of its own, jobs in turns, the median of two rounds; where a library has several ways, the fastest of each size. Bare is `fi_writedata` by `net` between
hosts, and by `shm` or `net` on a node. The processors of this virtual machine are near to each other in some jobs and apart in others, which
is a factor of 2 for all of them: differences below that say nothing."""

READING = """Short messages of Sennit go as one message to the owner's thread or waiting call, with its answer behind the owner's next message. What they take more than the
bare provider's is Sennit's own work between the read that brings a message and the write of the next: the task and its answer, the end of the wait, the record of the next put. Each put can go again when a rail fails, which neither the
bare provider's nor a message of these MPIs can. MPI's two-sided messages do less, and are ahead of it to 4 KiB, by up to 1.3 µs.
From 8 KiB on they are behind: their connections come to let the reader acknowledge what is longer than a segment, which takes 4 µs, and Sennit's do not ([Who acknowledges](../../design/fabric-providers.md#who-acknowledges)).
Up to 32 KiB a put is one task, whose data the sender's and the owner's processor copy once each. Longer ones are a write with completion data and a task that ends it. The write asks for an acknowledgement of its delivery, since a rail may fail: with
that the bare provider takes 23.7 µs in place of 18.0 for 65000 bytes, with a connection for each direction or one for both; and Sennit 25.5. The target that is
missed is that of two-sided messages to 4 KiB."""

FIGURE_5 = """## Figure 5: two cards, shared or not

One pair, a message at a time: by each rail alone the bare provider, by both together Sennit. **The targets are 1.9 × one of two equal rails, and 0.9 of the sum of
unequal ones, for 16 MiB.**"""

SHARED = """1 MiB and less gain from what a rail that had nothing to do has saved up: the shape of a rail lets 256 KiB pass at once.

Two pairs of ranks on two hosts, as in the paper: each rank computes between a message and its answer, for as long as a message takes by one rail (T; two ping-pongs
a pair), or for N(T, 0.3 T) (four). The bare provider gives each pair a rail of its own; Sennit's pairs share both; *equal parts by hand* are two puts of the provider, one by each rail, that are
both waited for, which is the most that sharing can give here. How much more messages go in the same time:"""

PLAN = """## Plans

64 pieces from one rank to another, 64 bytes apart there, with the wait until all are there. Short ones are packed into tasks ([strided.md](../../design/strided.md)).
The target is 1.5 × as fast as one by one."""

ON_A_NODE = """Load and store by hand is the raw limit here. MPI's windows of shared memory, and those that an MPI maps by itself, are load and store too, so the target of 2 × is one
between hosts."""

PROGRESS = """## The thread for progress

The paper's polling thread slows its program down where it has no core of its own, and its interval has to be chosen with care. Sennit's sleeps until something
comes. A put of 8 bytes to a rank that sleeps 2 ms at a time, or computes and makes a call each millisecond or so, and what such computing takes while nobody puts to the
rank, and while another rank does all the time. *thread*: processor time of the other threads of that process, those of the MPI among them, in percent of the work's.
With two processors none is left for the thread alone: `processor=1` is that of the rank that computes, `processor=0` that of the rank which waits, and spins, for its put.

The thread leaves a rank alone whose calls look as often as it would itself, so that it does not take the processor from a rank that waits. Calls each millisecond or two do not, with intervals of up to 50 µs;
with 500 µs they do, and a put waits for the next call, as without the thread. Where the thread has the processor of a rank that spins it may have to wait for its turn there. The work of a rank that is put to all
the time takes longer by what the thread serves: a put each 160 µs. A rank that makes no call at all is served in 15 to 20 µs by any setting but `off` ([benchmarks.md](../../benchmarks.md), *put to a rank that computes*)."""


def page(folder):
    files = files_of(folder)
    heads = {name: head for name, (head, _) in files.items()}
    rows = {name: lines for name, (_, lines) in files.items()}
    parts = [INTRODUCTION, FIGURE_4, "![A message and its event by size](figure-4.png)", targets(rows["notify-hosts"]), READING, measured(heads["notify-hosts"]),
             message_table(rows["notify-hosts"]), "### On a node", ON_A_NODE, measured(heads["notify-node"]), message_table(rows["notify-node"])]
    if "libraries" in files:
        about = heads["libraries"]
        parts += [LIBRARIES, "\n".join(f"- {OTHERS[name]}: {text}" for name, text in about["about"].items()), f"{about['date']}, load {about['load']} at the start.",
                  library_table(rows["libraries"])]
    parts += [FIGURE_5, measured(heads["rails"]), rail_table(rows["rails"]), SHARED, shared_table(rows["shared"]),
              "![Two pairs share two rails](figure-5.png)", measured(heads["shared"]), PLAN, measured(heads["plan"]), plan_table(rows["plan"]),
              PROGRESS, measured(heads["progress"]), progress_table(rows["progress"])]
    return "\n\n".join(parts) + "\n"


def files_of(folder):
    names = ("notify-hosts", "notify-node", "rails", "shared", "plan", "progress", "libraries")
    paths = {name: os.path.join(folder, f"{name}.jsonl") for name in names}
    return {name: read_lines(path) for name, path in paths.items() if name != "libraries" or os.path.exists(path)}


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    folder = words[0] if words else os.path.join(ROOT, "docs", "results", "unr")
    if "--plots" in sys.argv[1:]:
        plot(folder, files_of(folder))
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
