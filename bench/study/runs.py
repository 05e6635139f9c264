"""The code that the drivers of all measurements share: starting programs, and files of JSON lines.

Every driver writes one file: a first line with figure, command, machine and date, then a line for each measurement. Plots and pages
are made only from these files.
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
LAUNCHERS = {"openmpi": ("mpirun.openmpi", "mpirun"), "mpich": ("mpiexec.hydra", "mpiexec.mpich")}
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
NO_MATPLOTLIB = 77  # exit status of a script that draws


def launcher_of(mpi):
    return next(filter(None, map(shutil.which, LAUNCHERS[mpi])), None)


def launch_words(arguments, mpi, ranks, program):
    """The words that start a program with Sennit (`mpi` None) or an MPI from the folder of programs, or None if it or its
    launcher is missing."""
    path = os.path.join(arguments.bin, program)
    launch = [os.path.join(arguments.bin, "sennit"), "run"] if mpi is None else [launcher_of(mpi)]
    if launch[0] is None or not os.path.exists(launch[0]) or not os.path.exists(path):
        return None
    return [*quiet_words(arguments, ranks), *launch, "-n", str(ranks), path]


def cores():
    return len(os.sched_getaffinity(0))


def yielding(ranks):
    """With more ranks than processors: the settings that make each MPI yield processors."""
    return {"OMPI_MCA_mpi_yield_when_idle": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"} if ranks > cores() else {}


def cluster_words(arguments, hosts, mpi, ranks, command):
    """The words that start a command on hosts that tools/cluster makes of namespaces, each with its own processors."""
    rate = ["--rate", arguments.rate] if arguments.rate else []
    return [arguments.cluster, "run", "--hosts", str(hosts), "--rails", str(arguments.rails), *rate, "--split-processors", "--launcher",
            {"openmpi": "mpirun", "mpich": "hydra"}[mpi], "-n", str(ranks), "--", *command]


def quiet_words(arguments, ranks):
    """The words that run a job in the real-time class. Round robin, because two ranks may begin on one processor: a rank that
    polls without yielding would keep the other rank, or their launcher, from it forever. A turn is long, so there are no words
    if ranks share processors."""
    return ["chrt", "-r", "10"] if arguments.realtime and ranks <= cores() else []


def run_words(words, limit_s, environment=None):
    """The output lines of a command, or None if it took too long. Any other error ends the driver."""
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                             timeout=limit_s, env={**ENVIRONMENT, **(environment or {})})
    except subprocess.TimeoutExpired:
        return None
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {run.returncode}\n{run.stderr}")
    return run.stdout.splitlines()


def lines_of_code(files):
    """{name: lines} for {name: files}, by tools/count-lines. If it cannot count, the program ends like a skipped test."""
    words = [f"{name}={','.join(paths)}" for name, paths in files.items()]
    run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "count-lines"), "--json", *words],
                         stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return json.loads(run.stdout)


def in_turns(subjects, rounds, run, enough=lambda results: False):
    """{subject: results}. Each round runs every subject once, A B C A B C, so that changes over time affect all of them. A
    subject that has returned None, or has enough results, takes no more turns."""
    found = {subject: [] for subject in subjects}
    for _ in range(rounds):
        for subject, results in found.items():
            if None not in results and not enough(results):
                results.append(run(subject))
    return found


def middle_of(results, name, key):
    """{name: median, name_range: [least, most]} of results[...][key]."""
    values = [row[key] for row in results]
    return {name: statistics.median(values), name + "_range": [min(values), max(values)]}


def quartiles_of(values):
    """[lower, upper]: the limits of the middle half, which one disturbed run does not move."""
    if len(values) < 2:
        return [values[0], values[0]]
    lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
    return [lower, upper]


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    except OSError:
        return "unknown"


def head_of(figure, command, realtime):
    """The first line of a file."""
    return {"figure": figure, "command": command, "date": datetime.date.today().isoformat(),
            "realtime": realtime, "load": round(os.getloadavg()[0], 1),
            "machine": {"processor": processor(), "cores": os.cpu_count(),
                        "system": f"{platform.system()} {platform.release().split('-')[0]}"}}


def write_lines(path, rows):
    """Writes row by row, under another name until all rows are written."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            file.flush()
    os.replace(path + ".part", path)


def read_lines(path):
    """(head, rows)"""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return rows[0], rows[1:]


def command_line(arguments):
    """The command that repeats this in the root of the repository; without folders, which differ."""
    words = [word for word in sys.argv[1:] if word not in ("--out", arguments.out, "--bin", arguments.bin)]
    return " ".join(["python3", os.path.relpath(os.path.abspath(sys.argv[0]), ROOT), *words])


def parser_of(text, out, rounds):
    """The options that all drivers have; `out` is a folder below docs/results."""
    parser = argparse.ArgumentParser(description=text.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of the programs")
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "results", out), help="folder of the results")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"runs of each program ({rounds})")
    parser.add_argument("--realtime", action="store_true",
                        help="if there is a processor for each rank, run in the real-time class (chrt), which keeps "
                             "other load away")
    return parser


def run_script(script, *words, python=sys.executable):
    """Returns the exit status of a script; ends this program if it is neither 0 nor NO_MATPLOTLIB."""
    code = subprocess.run([python, script, *words], check=False).returncode
    if code not in (0, NO_MATPLOTLIB):
        sys.exit(code)
    return code


def draw(script, *words):
    """Runs a script that draws, by this Python or by the system's Python, for which distributions package matplotlib."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and run_script(script, *words, python=python) == 0:
            return
    print("the plots are left out; the rest is done", file=sys.stderr)
