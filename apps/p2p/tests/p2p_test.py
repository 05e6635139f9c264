"""Tests of whole runs of p2p and of its study: python3 p2p_test.py TEST --bin FOLDER

TEST is the name of one of the functions below that is marked with @test; ctest calls one at a time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STUDY = os.path.join(HERE, "..", "study")
sys.path[:0] = [STUDY, os.path.join(HERE, "..", "..", "common", "tests")]
import harness  # noqa: E402  pylint: disable=wrong-import-position
import subjects  # noqa: E402  pylint: disable=wrong-import-position
import suite  # noqa: E402  pylint: disable=wrong-import-position
import targets  # noqa: E402  pylint: disable=wrong-import-position
from harness import Failed, Skipped, need, test  # noqa: E402  pylint: disable=wrong-import-position
from subjects import SUBJECTS, runs  # noqa: E402  pylint: disable=wrong-import-position

WAYS = {"openmpi": ("plain", "ahead"), "mpich": ("plain", "ahead"), "shared-openmpi": ("counters", "messages"),
        "shared-mpich": ("counters", "messages")}
SMALL = ["--columns", "23", "--lines", "17", "--iterations", "4"]


def those_there(arguments, ranks):
    """(key, words, environment) of each program that is built and has a launcher."""
    harness.need_all(arguments, [subject.program for subject in SUBJECTS.values() if subject.words(arguments, 1) is not None])
    for key, subject in SUBJECTS.items():
        if key.endswith(subjects.AHEAD):
            continue
        words = subject.words(arguments, ranks)
        if words is not None:
            yield key, words, subject.environment(ranks)


def value_of(words, environment, options):
    run = harness.execute([*words, *options, "--json"], environment)
    need(run.returncode == 0, f"{words} {options}: {run.returncode}\n{run.stderr}")
    lines = run.stdout.splitlines()
    need(len(lines) == 1, f"{words}: {len(lines)} lines instead of one:\n{run.stdout}")
    return json.loads(lines[0])


def sweep_everywhere(arguments, counts, shapes):
    for ranks in counts:
        for key, words, environment in those_there(arguments, ranks):
            for way in WAYS.get(key, ("plain",)):
                # With an MPI and more ranks than processors a run takes a second, so only one shape for each number of ranks.
                few = ranks > 2 and "mpi" in key
                for columns, lines, group in shapes[ranks % len(shapes):][:1] if few else shapes:
                    row = value_of(words, environment, ["--columns", str(columns), "--lines", str(lines), "--group",
                                                        str(group), "--iterations", "6", "--way", way, "--behind",
                                                        str(9 * (ranks % 2))])
                    need(row["verification_value"] == 7 * (columns + lines - 2), f"{key}: {row}")
                    need(row["ranks"] == (1 if key == "serial" else ranks) and row["way"] == way, f"{key}: {row}")
                    need(row["rate_mflops"] > 0 and row["median_rate_mflops"] > 0, f"{key}: {row}")


@test
def every_program_finds_the_verification_value(arguments):
    """Breaks when a line is handed over too early, to the wrong place, or not at all; every cell is compared."""
    sweep_everywhere(arguments, (1, 2), ((23, 17, 1), (9, 40, 3)))


@test
def any_number_of_ranks_and_lines_in_a_group_gives_the_same(arguments):
    """Breaks for the same reasons, with more ranks than processors, strips of one column, grids of one line, groups beyond the
    grid."""
    sweep_everywhere(arguments, (1, 3, 4, 8), ((9, 2, 1), (31, 13, 5), (9, 30, 1000)))


@test
def wrong_data_ends_every_program_with_an_error(arguments):
    """Breaks when a wrong result is accepted: the last line's left end is off by one."""
    for ranks in (1, 2):
        for key, words, environment in those_there(arguments, ranks):
            run = harness.execute([*words, *SMALL, "--spoil", "--json"], environment)
            need(run.returncode != 0, f"{key} on {ranks}: exit status 0\n{run.stdout}")
            need("p2p: " in run.stderr and "wrong result: column " in run.stderr, f"{key}: {run.stderr}")
            need(run.stdout.strip() == "", f"{key}: a result is printed\n{run.stdout}")


@test
def bad_options_end_every_rank_with_a_reason(arguments):
    """Breaks when a rank continues, waits for others, or ends with 0; or when the message does not name the cause."""
    table = [(["--columns", "1"], "--columns"), (["--group", "0"], "--group"), (["--nonsense"], "--nonsense"),
             (["--iterations", "-1"], "--iterations"), (["--way", "none"], "--way"), (["left"], "left"), (["--behind", "128"], "--behind")]
    for turn, (key, words, environment) in enumerate(those_there(arguments, 2)):
        # The same code reads the options of all programs: each program gets a third of the table.
        for options, expected in [*table[turn % 3::3], (["--columns", "2"], "2 ranks cannot share 2 columns")]:
            run = harness.execute([*words, *SMALL, *options], environment)
            need(run.returncode != 0, f"{key} {options}: exit status 0\n{run.stdout}")
            said = [line for line in run.stderr.splitlines() if line.startswith("p2p: ")]
            need(len(said) == 1 and expected in said[0], f"{key} {options}: no '{expected}' in\n{run.stderr}")
    for key, words, environment in those_there(arguments, 1):
        run = harness.execute([*words, "--help"], environment)
        need(run.returncode == 0 and "--columns" in run.stdout, f"{key} --help: {run.stdout}{run.stderr}")


@test
def the_bound_follows_from_the_pipeline(arguments):
    """Breaks when the page divides by another bound: with one rank it is 1, with many lines nearly 1."""
    del arguments
    need(subjects.fill_of(1, 10, 3) == 1, "one rank never waits")
    need(subjects.fill_of(2, 5, 1) == 4 / 5, "four lines and two ranks take five steps")
    need(subjects.fill_of(3, 8, 4) == 2 / 4, "two groups and three ranks take four steps")


@test
def the_whole_study_runs_and_draws_its_figures(arguments):
    """Breaks when a driver, a plot or the page does not understand what a program writes."""
    if not any(os.path.exists(os.path.join(arguments.bin, f"p2p-{mpi}")) for mpi in runs.LAUNCHERS):
        raise Skipped("the study compares with an MPI, and none is there")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, os.path.join(STUDY, "all.py"), "--quick", "--bin", arguments.bin, "--out",
                              folder], capture_output=True, text=True, check=False, timeout=180)
        need(run.returncode == 0, f"all.py: {run.returncode}\n{run.stdout}{run.stderr}")
        expected = {"sizes": "5.3", "ranks": "5.2, 5.4", "groups": "5.3, grouped", "pingpong": "5.1"}
        for kind, figure in expected.items():
            head, rows = runs.read_lines(os.path.join(folder, f"{kind}.jsonl"))
            need(head["figure"] == figure and folder not in head["command"], f"{kind}: {head}")
            need(rows and all(row.get("rate", row.get("round_trip_ns", 0)) > 0 for row in rows), f"{kind}: {rows}")
            if kind != "pingpong":
                there = {key for key, subject in SUBJECTS.items() if subject.words(arguments, 1) is not None}
                need({row["key"] for row in rows} == there, f"{kind}: {rows}")
                need(all(row["way"] == ("ahead" if row["key"].endswith(subjects.AHEAD) else WAYS.get(row["key"], ("plain",))[0])
                         for row in rows), f"{kind}: {rows}")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for text in ("Table 5.1", "(figure-5.2.png)", "(figure-5.3.png)", "(figure-5.4.png)", "in groups"):
            need(text in page, f"{text} is not on the page")
        if "the plots are left out" in run.stderr:
            raise Skipped("everything but the plots was run: matplotlib is not there (Debian: python3-matplotlib)")
        for figure in ("5.2", "5.3", "5.4"):
            with open(os.path.join(folder, f"figure-{figure}.png"), "rb") as file:
                head = file.read(24)
            need(head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20], "big") >= 800, f"figure {figure}")


@test
def the_page_lists_missed_targets(arguments):
    """Breaks when a missed target is called met, when a faster way of an MPI does not count, or when a size is left out."""
    del arguments
    serial, good = 100.0, {"sennit-c": 199, "sennit-fortran": 199, "openmp": 150, "openmpi": 110, "mpich": 120,
                           "openmpi-ahead": 120, "mpich-ahead": 100, "shared-openmpi": 300}

    def verdicts(**other):
        """The last two columns of each line; `other`: {program_size: rate} for rates that differ from the ones above."""
        rows = [{"key": key, "size": size, "ranks": 1 if key == "serial" else 2, "group": 1,
                 "rate": other.get(f"{key.replace('-', '_')}_{size}", rate)}
                for size in (200, 1000) for key, rate in {"serial": serial, **good}.items()]
        with tempfile.TemporaryDirectory() as folder:
            runs.write_lines(os.path.join(folder, "sizes.jsonl"), [{}, *rows])
            lines = [line.strip("| ").split(" | ") for line in targets.section(folder).splitlines() if line.startswith("| ")]
        need([len(line) for line in lines[:5]] == [3] * 5 and lines[0] == ["target", "here", "met or missed"], f"{lines}")
        return [line[2].split(" by ")[0] for line in lines[1:5]]
    met, missed = "met", "**missed**"
    need(verdicts() == [met] * 4, f"{verdicts()}")
    for other, expected in (({"sennit_c_1000": 188}, [missed, met, met, met]), ({"sennit_c_1000": 191}, [met] * 4),
                            ({"mpich_ahead_200": 130}, [met, missed, met, met]), ({"openmpi_200": 125}, [met, missed, met, met]),
                            ({"openmpi_ahead_1000": 199}, [met, met, f"{missed} at 1000² (1.000 ×)", met]),
                            ({"openmp_200": 398, "openmp_1000": 398}, [met, met, met, f"{missed} at 200² (0.500 ×), 1000² (0.500 ×)"])):
        need(verdicts(**other) == expected, f"{other}: {verdicts(**other)}")


def make_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


SUITE_PRINTS = "echo 'Parallel Research Kernels'\necho 'Solution validates; verification value = 1.0'\n" \
               "echo \"Rate (MFlops/s): $#00.5 Avg time (s): 0.25\"\n"


@test
def rates_of_the_suites_programs_are_read_from_their_output(arguments):
    """Breaks when a number is taken from another line, when the words of a program are in another order, or when a run that was
    not verified is measured."""
    del arguments
    with tempfile.TemporaryDirectory() as tree:
        for folder in ("SERIAL", "OPENMP"):
            make_program(os.path.join(tree, folder, "Synch_p2p", "p2p"), SUITE_PRINTS)
        programs = {program.key: program for program in suite.programs_of({"openmpi": tree, "mpich": None})}
        need(set(programs) == {"suite-serial", "suite-openmp"}, f"{programs}")
        options = argparse.Namespace(bin="", realtime=False, limit=5)
        # The program prints the number of its words: the OpenMP program also gets the threads.
        need(programs["suite-serial"].rate(options, 10, 3) == 300.5, f"{programs['suite-serial'].rate(options, 10, 3)}")
        need(programs["suite-openmp"].rate(options, 10, 3) == 400.5, f"{programs['suite-openmp'].rate(options, 10, 3)}")
        make_program(programs["suite-serial"].program, SUITE_PRINTS.replace("Solution validates", "ERROR"))
        try:
            programs["suite-serial"].rate(options, 10, 3)
        except SystemExit as stop:
            need("no verified rate" in str(stop), str(stop))
        else:
            raise Failed("a result that was not verified was measured")


@test
def the_page_compares_with_the_suites_own_programs(arguments):
    """Breaks when the fastest program of an MPI does not count, or when a missed target is called met."""
    del arguments
    def verdicts(mpi, openmp):
        rates = {"sennit-c": 160, "suite-mpi-openmpi": 90, "suite-mpi-mpich": mpi, "suite-openmp": openmp, "suite-shared-mpich": 900}
        with tempfile.TemporaryDirectory() as folder:
            runs.write_lines(os.path.join(folder, suite.FILE), [{}, *({"key": key, "size": 200, "rate": rate} for key, rate in rates.items())])
            return [row[2].split(" by ")[0] for row in targets.suite_rows(folder)]
    missed = "**missed**"
    need(verdicts(100, 150) == ["met", "met", "met"], f"{verdicts(100, 150)}")
    need(verdicts(101, 160) == [missed, "met", f"{missed} at 200² (1.000 ×)"], f"{verdicts(101, 160)}")
    need(suite.name_of("suite-mpi-mpich") == "the suite's, MPICH, send and receive", suite.name_of("suite-mpi-mpich"))


@test
def the_results_page_matches_its_files(arguments):
    """Breaks when the page was edited by hand, or was not written again after a measurement."""
    del arguments
    if not os.path.exists(os.path.join(runs.ROOT, "docs", "results", subjects.OUT, "README.md")):
        raise Skipped("nothing was measured yet")
    run = subprocess.run([sys.executable, os.path.join(STUDY, "page.py"), "--check"], capture_output=True, text=True,
                         check=False)
    need(run.returncode == 0, run.stdout + run.stderr)


@test
def endless_runs_give_no_figures(arguments):
    """Breaks when a driver waits forever for a program, or takes a rate from a program that did not end."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = argparse.Namespace(bin=folder, realtime=False, rounds=1, iterations=4, limit=1, budget=9)
        for name, text in (("p2p-serial", "exec sleep 5\n"), ("p2p-openmp", "echo '" + json.dumps(
                {"time_s": 1, "median_rate_mflops": 5, "rate_mflops": 4, "sweep_median_us": 3, "subject": "x",
                 "way": "plain"}) + "'\n")):
            make_program(os.path.join(folder, name), text)
        rows = {row["key"]: row for row in subjects.compare(SUBJECTS, arguments, 2, 10, 1)}
        need(set(rows) == {"serial", "openmp"}, f"{rows}")
        need(rows["serial"].get("more_than_s") == 1 and "rate" not in rows["serial"], f"{rows}")
        need(rows["openmp"]["rate"] == 5, f"{rows}")
        make_program(os.path.join(folder, "p2p-openmp"), "echo 'p2p: wrong result' >&2\nexit 1\n")
        try:
            list(subjects.compare(("openmp",), arguments, 2, 10, 1))
        except SystemExit as stop:
            need("wrong result" in str(stop), str(stop))
        else:
            raise Failed("a program that failed was measured")


if __name__ == "__main__":
    sys.exit(harness.main())
