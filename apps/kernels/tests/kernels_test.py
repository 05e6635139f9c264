"""Tests of whole runs of the kernels: python3 kernels_test.py TEST --bin FOLDER [--cluster TOOL]"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "common", "tests")]
import compare  # noqa: E402  pylint: disable=wrong-import-position
import harness  # noqa: E402  pylint: disable=wrong-import-position
from compare import SUBJECTS, runs  # noqa: E402  pylint: disable=wrong-import-position
from harness import need, test  # noqa: E402  pylint: disable=wrong-import-position

FEW = ["--warmup", "5", "--runs", "2"]  # the warm-up is checked after each run
SIZES = {"daxpy": ["--total", "2003", "--chunk", "100"], "cannon": ["--shape", "23,17,31"], "summa": ["--shape", "23,17,31"],
         "sort": ["--total", "3001", "--keys", "skewed", "--values", "100000"]}


def those_there(arguments, kernel):
    """(subject, version) of every program that is built and has a launcher."""
    harness.need_all(arguments, [subject.program.program for subject in SUBJECTS if subject.words(arguments, 1) is not None])
    for subject in SUBJECTS:
        if subject.words(arguments, 1) is not None:
            for version in subject.versions[kernel]:
                yield subject, version


def execute(arguments, subject, ranks, options):
    return harness.execute([*subject.words(arguments, ranks), *options, "--json"], subject.environment(ranks))


def result_of(arguments, key, ranks, kernel, options):
    subject, version = key
    what = f"{subject.key} {version} {kernel} on {ranks} {' '.join(options)}"
    run = execute(arguments, subject, ranks, ["--kernel", kernel, "--version", version, *FEW, *options])
    need(run.returncode == 0, f"{what}: {run.returncode}\n{run.stderr}")
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    need(len(lines) == 1, f"{what}: {len(lines)} lines instead of one:\n{run.stdout}")
    row = json.loads(lines[0])
    need(row["ranks"] == ranks and row["version"] == version and row["latency_us"] > 0, f"{what}: {row}")
    if kernel in ("cannon", "summa"):
        need(0 <= row["error_norm"] <= row["error_bound"] < 1e-9, f"{what}: {row}")
    return row


def run_all(arguments, counts, sizes):
    for kernel, options in sizes:
        for ranks in counts:
            if compare.fits(kernel, ranks):
                for key in those_there(arguments, kernel):
                    result_of(arguments, key, ranks, kernel, options)


@test
def every_version_is_right_on_one_two_and_four_ranks(arguments):
    """Breaks when data goes to a wrong place, arrives too late, or is left from an earlier run: each run has other data."""
    run_all(arguments, (1, 2, 4), SIZES.items())


@test
def every_version_is_right_on_odd_numbers_of_ranks(arguments):
    """Breaks for the same reasons; on a grid of nine ranks the neighbours on both sides differ, which tests the two buffers of
    cannon."""
    run_all(arguments, (3, 9), SIZES.items())


@test
def grids_and_sizes_of_any_kind_are_right(arguments):
    """Breaks when a grid that is not a square, a rank without data, or sizes that do not divide evenly are handled wrong."""
    cases = [("summa", 4, ["--shape", "5,7,9", "--rows", "1", "--columns", "4"]), ("summa", 4, ["--shape", "9,2,1", "--rows", "4"]),
             ("cannon", 4, ["--shape", "1,1,3"]), ("daxpy", 4, ["--total", "5"]), ("daxpy", 2, ["--size", "64", "--chunk", "64"]),
             ("sort", 4, ["--total", "3"]), ("sort", 4, ["--size", "500", "--keys", "uniform", "--values", "2"])]
    for kernel, ranks, options in cases:
        for subject, version in those_there(arguments, kernel):
            if subject.mpi != "mpich":  # takes seconds with more ranks than processors, and has the same source as openmpi
                result_of(arguments, (subject, version), ranks, kernel, options)
    for subject, version in those_there(arguments, "summa"):
        if subject.mpi is None:
            for rows in (2, 3):
                result_of(arguments, (subject, version), 6, "summa", ["--shape", "20,23,26", "--rows", str(rows)])


@test
def keys_of_nas_pass_its_partial_verification(arguments):
    """Breaks when keys are not those of NAS, or a key is lost: NAS publishes the ranks of five."""
    for key in those_there(arguments, "sort"):
        row = result_of(arguments, key, 2, "sort", ["--nas", "S"])
        need(row["total"] == 1 << 16 and row["values"] == 1 << 11, f"{row}")


@test
def a_wrong_result_ends_every_program_with_an_error(arguments):
    """Breaks when a check looks at too little, or does not become the exit status. The check is the same for all versions, and
    its way to the exit status for all kernels: Sennit's program runs every kernel, each other program one."""
    for number, (kernel, options) in enumerate(SIZES.items()):
        for subject, version in those_there(arguments, kernel):
            if version != subject.versions[kernel][0] or (subject.key != "sennit" and SUBJECTS.index(subject) != number + 1):
                continue
            run = execute(arguments, subject, 1, ["--kernel", kernel, "--version", version, *FEW, *options, "--spoil"])
            what = f"{subject.key} {version} {kernel}"
            need(run.returncode == 1, f"{what}: {run.returncode}\n{run.stdout}{run.stderr}")
            need(run.stderr.count("wrong result: ") == 1 and run.stdout.strip() == "", f"{what}:\n{run.stdout}{run.stderr}")


@test
def wrong_arguments_are_refused_with_a_reason(arguments):
    """Breaks when a rank continues or waits for others, or when the message does not name the cause."""
    table = [(["--kernel", "cannon"], "cannon needs a square number of ranks, and 3 is none"),
             (["--kernel", "summa", "--rows", "2"], "a grid of 2 x 1 does not fit 3 ranks"),
             (["--kernel", "summa", "--rows", "3", "--columns", "2"], "a grid of 3 x 2 does not fit 3 ranks"),
             (["--kernel", "sort", "--version", "none"], "has no version 'none' of sort"), (["--kernel", "sort", "--values", "3"], "--values is odd"),
             (["--size", "0"], "--size"), (["--nas", "D"], "--nas"), (["--runs", "0"], "--runs"), (["left"], "left")]
    for number, subject in enumerate(subject for subject in SUBJECTS if subject.words(arguments, 1) is not None):
        # One function reads the options of all programs: each program gets a part of the table, the first all of it.
        for options, expected in table if number == 0 else table[number % 3::3]:
            run = execute(arguments, subject, 3, options)
            what = f"{subject.key} {' '.join(options)}"
            need(run.returncode != 0 and "latency" not in run.stdout, f"{what}: {run.returncode}\n{run.stdout}")
            said = [line for line in run.stderr.splitlines() if line.startswith("kernels: ")]
            need(len(said) == 1 and expected in said[0], f"{what}: no '{expected}' in\n{run.stderr}")


@test
def the_driver_measures_in_turns(arguments):
    """Breaks when the driver does not understand the output of a program, leaves out a command of the user's, or counts its own
    library among the others."""
    driver = [sys.executable, os.path.join(HERE, "..", "compare.py"), "--bin", arguments.bin]
    again = "again=" + " ".join(os.path.join(arguments.bin, word) for word in ("sennit run -n {ranks}", "kernels-shmem"))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "lines")
        run = subprocess.run([*driver, "--ranks", "1,2", "--rounds", "2", "--kernels", "daxpy,cannon", "--other", again, "--lines", file,
                              "--", "--size", "100", *FEW], capture_output=True, text=True, check=False, timeout=90)
        need(run.returncode == 0, f"{run.returncode}\n{run.stdout}{run.stderr}")
        _, rows = runs.read_lines(file)
    versions = {kernel: len(list(those_there(arguments, kernel))) + len(compare.SHMEM[kernel]) for kernel in ("daxpy", "cannon")}
    need({row["library"] for row in rows} >= {"sennit", "sennit-shmem", "again"}, f"{rows}")
    # cannon does not run on two ranks.
    need(len(rows) == 2 * (2 * versions["daxpy"] + versions["cannon"]), f"{len(rows)} results\n{run.stdout}")
    need(all(row["latency_range_us"][0] <= row["latency_us"] <= row["latency_range_us"][1] for row in rows), f"{rows}")
    made = {(library, "v"): [{"latency_us": value, "bytes": 8}] for library, value in
            (("sennit", 1), ("sennit-shmem", 2), ("openmpi", 4), ("mpich", 8))}
    need([row[-1] for row in compare.rows_of(made)] == [0.25, 0.5, 1, 2], f"{list(compare.rows_of(made))}")
    for words in (["again"], ["again=kernels"], ["again=kernels {ranks} {hosts}"], ["again=kernels {ranks}", "--cluster", "tools/cluster"]):
        run = subprocess.run([*driver, "--other", *words], capture_output=True, text=True, check=False)
        need(run.returncode == 2 and f"--other {words[0]}: NAME=command with " in run.stderr, f"{words}: {run.returncode} {run.stderr}")


@test
def sennit_and_openshmem_are_right_between_hosts(arguments):
    """Breaks when a version needs memory that others reach by load and store."""
    if subprocess.run([arguments.cluster, "check"], capture_output=True, check=False).returncode != 0:
        raise harness.Skipped("this system allows no hosts of namespaces")
    place = argparse.Namespace(bin=arguments.bin, cluster=arguments.cluster, rails=1, rate=None, realtime=False)
    for kernel, options in SIZES.items():
        for subject, version in those_there(arguments, kernel):
            words = subject.words_between_hosts(place, 2, 4)
            if subject.mpi is not None or words is None:
                continue
            run = harness.execute([*words, "--kernel", kernel, "--version", version, *FEW, *options, "--json"], subject.environment(4))
            need(run.returncode == 0 and '"latency_us"' in run.stdout, f"{kernel} {version}: {run.returncode}\n{run.stdout}{run.stderr}")


if __name__ == "__main__":
    sys.exit(harness.main())
