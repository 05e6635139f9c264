"""The study of a kernel of the Parallel Research Kernels: its rate by size and by ranks, for every program that exists.

A kernel's own folder defines its name and its measurements (a Kernel). run() is the driver, draw() makes the plots, page() the
page. The programs of a figure run in turn, A B C A B C. Each checks its own answer, and a wrong answer ends the driver.
"""
import dataclasses
import json
import os
import statistics
import sys

import charts
import pages
import runs
from programs import Program

# By the suffix after the kernel's name: label, and the MPI that starts it or None.
PROGRAMS = {
    "": ("Sennit, C", None),
    "-fortran": ("Sennit, Fortran", None),
    "-openmpi": ("Open MPI, send and receive", "openmpi"),
    "-shared-openmpi": ("Open MPI, shared window", "openmpi"),
    "-mpich": ("MPICH, send and receive", "mpich"),
    "-shared-mpich": ("MPICH, shared window", "mpich"),
    "-openmp": ("OpenMP", None),
    "-serial": ("serial", None),
}
WITHOUT_RANKS = ("-openmp", "-serial")
BASE, SERIAL = "", "-serial"
SIZES_FILE, RANKS_FILE = "sizes.jsonl", "ranks.jsonl"
SIZES_PLOT, RANKS_PLOT = "sizes.png", "ranks.png"


@dataclasses.dataclass
class Kernel:
    """The subject of a kernel's study."""
    name: str         # of the program with Sennit
    title: str
    about: str        # description of the kernel and of how the programs share it, for the page
    size_option: str
    size_word: str    # the meaning of a size, for axes and tables
    rate_key: str     # in the result of a run
    rate_unit: str
    sizes: tuple      # of the figure by size
    sizes_by_ranks: tuple
    ranks: tuple
    files: dict       # program: its own files in apps/, for counting lines

    @property
    def folder(self):
        return os.path.join(runs.ROOT, "apps", self.name)


def words_of(kernel, suffix, ranks, arguments):
    """(words, environment) that start a program on so many ranks or threads (the serial program on one); None if it is missing."""
    program = Program(suffix[1:], PROGRAMS[suffix][0], kernel.name + suffix, PROGRAMS[suffix][1], suffix in WITHOUT_RANKS)
    ranks = 1 if suffix == SERIAL else ranks
    words = program.words(arguments, ranks)
    return None if words is None else (words, program.environment(ranks))


def measure(start, options, iterations, limit_s):
    """The result of one run, or None if it took too long."""
    words, environment = start
    lines = runs.run_words([*words, *options, "--iterations", str(iterations), "--json"], limit_s, environment)
    return None if lines is None else json.loads(lines[-1])


def choose_iterations(start, options, arguments):
    """The number of iterations that take about --run-seconds, from a short run and a longer one; None if that takes too long."""
    iterations = arguments.iterations
    if iterations:
        return iterations
    iterations = 2
    for _ in range(2):
        pilot = measure(start, options, iterations, arguments.limit)
        if pilot is None:
            return None
        wanted = arguments.run_seconds / max(pilot["median_iteration_us"] * 1e-6, 1e-9)
        iterations = int(min(1_000_000, max(2, wanted), max(100 * iterations, 10)))
    return iterations


def compare(kernel, size, ranks, arguments, programs=tuple(PROGRAMS)):
    """Runs the programs in turn and yields a record for each, with the median of the rates over the rounds. A program that has
    run for --budget seconds takes no more turns."""
    options = [kernel.size_option, str(size)]
    found = {}
    for suffix in programs:
        start = words_of(kernel, suffix, ranks, arguments)
        if start is not None:
            found[suffix] = (start, choose_iterations(start, options, arguments), [])
    for _ in range(arguments.rounds):
        for start, iterations, results in found.values():
            spent_s = sum(row["loop_s"] for row in results if row)
            if iterations is not None and None not in results and spent_s < arguments.budget:
                results.append(measure(start, options, iterations, arguments.limit))
    for suffix, (_, iterations, results) in found.items():
        record = {"program": kernel.name + suffix, "size": size, "ranks": ranks, "iterations": iterations,
                  "rounds": len(results)}
        if iterations is None or None in results:
            yield {**record, "more_than_s": arguments.limit}
            continue
        rates = [row[kernel.rate_key] for row in results]
        yield {**record, "backend": results[0]["backend"], "subject": results[0]["subject"],
               "rate": statistics.median(rates), "rate_range": [min(rates), max(rates)],
               "iteration_us": statistics.median(row["median_iteration_us"] for row in results)}


def lines_of_code(kernel):
    """{program: lines of its own files}, counted by tools/count-lines."""
    return runs.lines_of_code({name: [os.path.join(runs.ROOT, "apps", file) for file in files]
                               for name, files in kernel.files.items()})


def rows_by_size(kernel, arguments, command):
    yield runs.head_of("rate by size", command, arguments.realtime)
    yield {"lines": lines_of_code(kernel)}
    for size in map(int, arguments.sizes.split(",")):
        yield from compare(kernel, size, arguments.pair, arguments)


def rows_by_ranks(kernel, arguments, command):
    yield runs.head_of("rate by ranks", command, arguments.realtime)
    for size in map(int, arguments.sizes_by_ranks.split(",")):
        for ranks in map(int, arguments.ranks.split(",")):
            yield from compare(kernel, size, ranks, arguments, [suffix for suffix in PROGRAMS if suffix != SERIAL])


def run(kernel, text):
    """The command of a kernel's study: measures, draws and writes the page."""
    def joined(values):
        return ",".join(map(str, values))
    parser = runs.parser_of(text, f"zcom/{kernel.name}", None)
    parser.add_argument("--sizes", default=joined(kernel.sizes), help="sizes of the figure by size (%(default)s)")
    parser.add_argument("--pair", type=int, default=2, help="ranks of the figure by size (%(default)s)")
    parser.add_argument("--sizes-by-ranks", default=joined(kernel.sizes_by_ranks),
                        help="sizes of the figure by ranks (%(default)s)")
    parser.add_argument("--ranks", default=joined(kernel.ranks), help="numbers of ranks (%(default)s)")
    parser.add_argument("--iterations", type=int, default=0, help="of a run (0: as many as take --run-seconds)")
    parser.add_argument("--run-seconds", type=float, default=0.2, help="seconds of a run, without its start (%(default)s)")
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run is given up (%(default)s)")
    parser.add_argument("--budget", type=float, default=2, help="seconds of running for one program and setting (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="few small runs: shows that everything works")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 7)
    if arguments.quick:
        arguments.sizes, arguments.sizes_by_ranks, arguments.ranks, arguments.iterations = "40,61", "50", "1,2", 3
    command = runs.command_line(arguments)
    for file, rows in ((SIZES_FILE, rows_by_size), (RANKS_FILE, rows_by_ranks)):
        path = os.path.join(arguments.out, file)
        runs.write_lines(path, rows(kernel, arguments, command))
        print(path)
    script = os.path.join(kernel.folder, "study")
    runs.draw(os.path.join(script, "plots.py"), arguments.out)
    runs.run_script(os.path.join(script, "page.py"), arguments.out)


def folder_of(kernel):
    return pages.folder_of("zcom", kernel.name)


def series_of(kernel, rows, across):
    """The rates of all programs over `across`, with their ranges."""
    found = {label: [(row[across], row["rate"], *row["rate_range"]) for row in rows if row["program"] == kernel.name + suffix and "rate" in row]
             for suffix, (label, _) in PROGRAMS.items()}
    return {label: points for label, points in found.items() if points}


def draw(kernel):
    """The plots, from the files in the folder that the command names."""
    folder = folder_of(kernel)
    _, rows = runs.read_lines(os.path.join(folder, SIZES_FILE))
    rows = [row for row in rows if "ranks" in row]
    ranks = rows[0]["ranks"]
    figure, (axis,) = charts.new()
    series = series_of(kernel, rows, "size")
    series["serial × ranks"] = [(size, rate * ranks) for size, rate, *_ in series.get(PROGRAMS[SERIAL][0], [])]
    charts.curves(axis, series, xlabel=f"{kernel.size_word} ({ranks} ranks or threads)", ylabel=kernel.rate_unit, ylim=(0, None))
    charts.ticks(axis, [row["size"] for row in rows])
    charts.save(figure, folder, SIZES_PLOT, "range of the rounds")

    head, rows = runs.read_lines(os.path.join(folder, RANKS_FILE))
    sizes = sorted({row["size"] for row in rows})
    figure, axes = charts.new(len(sizes))
    for axis, size in zip(axes, sizes):
        charts.curves(axis, series_of(kernel, [row for row in rows if row["size"] == size], "ranks"), xlabel="ranks or threads", ylabel=kernel.rate_unit,
                      title=f"{kernel.size_word} {size}", ylim=(0, None))
        charts.ticks(axis, [row["ranks"] for row in rows])
        axis.axvline(head["machine"]["cores"], color="grey", linestyle=":")
    charts.save(figure, folder, RANKS_PLOT, "range of the rounds")


def rate_of(kernel, rows, suffix, **where):
    """The rate of a program in the rows with these values, or None."""
    for row in rows:
        if row["program"] == kernel.name + suffix and all(row[key] == value for key, value in where.items()):
            return row.get("rate")
    return None


def cell(rate, base):
    """A rate, or with a base the ratio of the base to it."""
    if rate is None:
        return "not done"
    return f"{rate:.0f}" if base is None else f"{base / rate:.2f}"


def table_of(kernel, rows, keys):
    """A row for each setting, a column for each program: Sennit's rate in C, and that rate divided by the others'."""
    present = [suffix for suffix in PROGRAMS if any(row["program"] == kernel.name + suffix for row in rows)]
    settings = list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))
    lines = []
    for setting in settings:
        where = dict(zip(keys, setting))
        base = rate_of(kernel, rows, BASE, **where)
        found = [cell(rate_of(kernel, rows, suffix, **where), None if suffix == BASE else base) for suffix in present]
        lines.append([*map(str, setting), *found])
    names = [{"size": kernel.size_word, "ranks": "ranks"}[key] for key in keys]
    return pages.table([*names, *(PROGRAMS[suffix][0] for suffix in present)], lines)


def ratios(kernel, rows, suffixes):
    """The ratios of Sennit's rate in C to the rates of these programs, with the same setting."""
    found = []
    for row in rows:
        base = rate_of(kernel, rows, BASE, size=row["size"], ranks=row["ranks"])
        if row["program"] in {kernel.name + suffix for suffix in suffixes} and row.get("rate") and base:
            found.append(base / row["rate"])
    return found


def claims_of(kernel, rows):
    """The results by size, compared with the targets."""
    def times(value):
        return f"{value:.2f}"
    lines = []
    for word, suffixes in (("both MPIs, send and receive", ("-openmpi", "-mpich")),
                           ("both MPIs, shared window by hand", ("-shared-openmpi", "-shared-mpich")),
                           ("OpenMP", ("-openmp",)), ("Sennit in Fortran", ("-fortran",))):
        values = ratios(kernel, rows, suffixes)
        if values:
            lines.append([word, pages.span(values, times), times(statistics.geometric_mean(values))])
    bound = [ratio / rows[0]["ranks"] for ratio in ratios(kernel, rows, (SERIAL,))]
    if bound:
        lines.append(["serial rate × ranks", pages.span(bound, times), times(statistics.geometric_mean(bound))])
    return pages.table(["Sennit's rate divided by that of", "range over all sizes", "geometric mean"], lines)


def text_of(kernel, folder):
    """The page."""
    head, rows = runs.read_lines(os.path.join(folder, SIZES_FILE))
    lines = next(row["lines"] for row in rows if "lines" in row)
    rows = [row for row in rows if "ranks" in row]
    sizes = sorted({row["size"] for row in rows})
    ranks_head, ranks_rows = runs.read_lines(os.path.join(folder, RANKS_FILE))
    counted = ", ".join(f"`{name}` {count}" for name, count in lines.items())
    return f"""# {kernel.title}

{kernel.about}

`apps/{kernel.name}/study/page.py` writes this page; this measures everything:

    {head["command"]}

*Sennit, C*: {kernel.rate_unit} of rank 0's median iteration by the formula of the Parallel Research Kernels; median of the rounds. Other columns: this rate
divided by the program's. `{SIZES_FILE}` and `{RANKS_FILE}` have more rows.

## By size

![rate by size]({SIZES_PLOT})

{claims_of(kernel, rows)}

{table_of(kernel, [row for row in rows if row["size"] in (sizes[2::4] or sizes)], ("size",))}

{rows[0]["ranks"]} ranks or threads; serial: one. {pages.machine_of(head, commands=False)}

## By ranks

![rate by ranks]({RANKS_PLOT})

{table_of(kernel, [row for row in ranks_rows if row["ranks"] > 1] or ranks_rows, ("size", "ranks"))}

If ranks share processors, both MPIs yield, but MPICH's messages are still slow. {pages.machine_of(ranks_head, commands=False)}

Lines of code (`tools/count-lines`): {counted}.
"""


def page(kernel):
    folder = folder_of(kernel)
    if "--check" in sys.argv[1:] and not os.path.exists(os.path.join(folder, SIZES_FILE)):
        print(f"nothing was measured yet: {folder} is not there")
        return 0
    return pages.write_or_check(os.path.join(folder, "README.md"), text_of(kernel, folder), "page.py")
