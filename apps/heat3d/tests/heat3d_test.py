"""Tests of whole runs of heat3d: python3 heat3d_test.py TEST --sennit LAUNCHER --program NAME=PATH... [--launch ...]

TEST is the name of one of the functions below that is marked with @test; ctest calls one at a time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import fields

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common", "tests"))
import traces  # noqa: E402  pylint: disable=wrong-import-position

TESTS = {}
RUN_LIMIT_S = 60
SENNIT = ("sennit", "notified")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def test(function):
    TESTS[function.__name__] = function
    return function


class Failed(Exception):
    """The expected and the actual result."""


def need(condition, text):
    if not condition:
        raise Failed(text)


class Setup:
    """The programs under test: `starts` maps a name to the command that starts it on n ranks."""

    def __init__(self, arguments):
        self.ranks = [int(n) for n in arguments.ranks.split(",")]
        self.starts = {}
        self.program = {}
        launchers = dict(word.split("=", 1) for word in arguments.launch)
        for word in arguments.program:
            name, path = word.split("=", 1)
            launch = [launchers[name], "run", "-n"] if name in SENNIT else [launchers[name], "-n"]
            self.starts[name] = launch
            self.program[name] = path

    def execute(self, name, ranks, options, around=(), environment=None):
        """`around` is put between the launcher and the program."""
        command = [*self.starts[name], str(ranks), *around, self.program[name], *options]
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  env={**ENVIRONMENT, **(environment or {})}, timeout=RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)}: still running after {RUN_LIMIT_S} s") from None

    def solve(self, name, ranks, options, environment=None):
        """The JSON object of a run that must succeed."""
        result = self.execute(name, ranks, [*options, "--quiet", "--json"], environment=environment)
        need(result.returncode == 0, f"{name} on {ranks} ranks {options}: {result.returncode}\n{result.stderr}")
        lines = result.stdout.splitlines()
        need(len(lines) == 1, f"{name} on {ranks} ranks: {len(lines)} lines instead of one:\n{result.stdout}")
        return json.loads(lines[0])


UNEVEN = ["--size", "13,11,17", "--length", "1,0.8,1.3", "--west", "80", "--up", "-30", "--north", "insulated",
          "--initial", "7", "--max-steps", "60"]


@test
def fields_are_the_same_to_the_bit(setup):
    """Breaks when a layer comes from the wrong place or too early, or the kernel depends on the shape of a block."""
    for extra in ([], ["--diffusivity-slope", "0.005"], ["--check-every", "7"]):
        with tempfile.TemporaryDirectory() as folder:
            first = None
            for name in setup.starts:
                for ranks in setup.ranks:
                    out = os.path.join(folder, f"{name}{ranks}")
                    result = setup.solve(name, ranks, [*UNEVEN, *extra, "--output", out])
                    found = (fields.read_both(out), result["field_hash"], result["residual"])
                    first = first or found
                    need(found == first, f"{name} on {ranks} ranks {extra}: not the field of the first run")
            values = first[0][1]
            need(max(values) > 60 and min(values) < -20, "the field is not that of a heated body")


@test
def every_way_to_fetch_layers_gives_the_same_field(setup):
    """Breaks when strides or offsets of one way are wrong along one axis. Cuts along every axis and all of them."""
    ways = {"sennit": ["copy", "inplace", "get"], "notified": ["plan", "packed"], "openmpi": ["datatype", "packed"],
            "mpich": ["datatype", "packed"]}
    first = None
    for name in setup.starts:
        for grid, ranks in (("2,1,1", 2), ("1,3,1", 3), ("1,1,2", 2), ("2,2,1", 4)):
            for way in ways[name]:
                options = [*UNEVEN, "--no-output", "--ranks-grid", grid, "--layers", way]
                found = setup.solve(name, ranks, options)["field_hash"]
                first = first or found
                need(found == first, f"{name}, ranks {grid}, {way}: hash {found} instead of {first}")


@test
def no_step_of_the_notified_variant_has_a_barrier(setup):
    """Breaks when a step synchronises all ranks, or makes needless calls."""
    few, many = 5, 12
    in_steps = {"plan": ("sennit_plan_start", "sennit_plan_wait"), "packed": ("sennit_put_notify",)}
    for layers, puts in in_steps.items():
        for grid, ranks, sides in (("2,1,1", 2, 2), ("2,2,1", 4, 8)):
            def run(steps, environment):
                setup.solve("notified", ranks, ["--size", "9,10,8", "--ranks-grid", grid, "--layers", layers, "--no-output",
                                                "--max-steps", str(steps), "--check-every", "1000"], environment)

            found = traces.calls_of_steps(run, few, many)
            each = (many - few) * ranks
            expected = {name: each for name in ("sennit_signal_wait", "sennit_signal_reset", *puts)}
            if layers == "packed":
                expected["sennit_put_notify"] = (many - few) * sides
            need(found == expected, f"{layers} on {grid}: {many - few} steps more call {found} instead of {expected}")


@test
def a_delayed_rank_reads_the_right_cells(setup):
    """Breaks when a neighbour overwrites cells that a rank has not read yet. All ranks share one processor, so now and then a
    rank is delayed in its step while the others run ahead as far as they may."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    options = ["--size", "40,40,40", "--west", "80", "--up", "-30", "--max-steps", "600", "--check-every", "1000", "--no-output"]
    expected = setup.solve("sennit", 1, options)["field_hash"]
    for ranks in (2, 3):
        for layers in ("plan", "packed"):
            found = setup.solve("notified", ranks, [*options, "--layers", layers])["field_hash"]
            need(found == expected, f"{layers} on {ranks} ranks: {found} is not {expected}")


@test
def known_steady_states_are_reached(setup):
    """Breaks when the scheme, a boundary or the stop criterion is wrong: exact for polynomials, of second order for
    the sine."""
    exact = [
        ["--case", "harmonic"],
        ["--case", "harmonic", "--diffusivity-slope", "0.2"],
        ["--west", "100", "--east", "-20", "--south", "insulated", "--north", "insulated", "--down", "insulated",
         "--up", "insulated"],
        ["--south", "10", "--north", "90", "--west", "insulated", "--east", "insulated", "--down", "insulated",
         "--up", "insulated", "--diffusivity-slope", "0.01"],
    ]
    for name in setup.starts:
        for options in exact:
            result = setup.solve(name, 2, ["--size", "9,8,10", "--max-steps", "20000", "--tolerance", "1e-12",
                                           "--check-every", "10", "--no-output", *options])
            need(result["converged"] and result["steps"] < 20000, f"{name} {options}: not converged {result}")
            need(result["largest_error"] < 1e-9, f"{name} {options}: error {result['largest_error']}")
    name = next(iter(setup.starts))
    errors = []
    for cells in (5, 11, 23):
        result = setup.solve(name, 2, ["--case", "sine", "--size", f"{cells},{cells},{cells}", "--no-output",
                                       "--max-steps", "100000", "--tolerance", "1e-9", "--check-every", "20"])
        need(result["converged"], f"sine with {cells} cells did not converge")
        errors.append(result["largest_error"])
    for coarse, fine in zip(errors, errors[1:]):
        need(3.6 < coarse / fine < 4.4, f"half the spacing should have a quarter of the error: {errors}")


@test
def it_stops_at_the_residual_or_the_count(setup):
    """Breaks when ranks disagree on the residual, or a check is left out."""
    for name in setup.starts:
        base = ["--size", "12,12,12", "--no-output"]
        one = setup.solve(name, 3, [*base, "--max-steps", "41", "--check-every", "10"])
        need(one["steps"] == 41 and not one["converged"] and one["residual"] > 0, f"{name}: {one}")
        two = setup.solve(name, 3, [*base, "--max-steps", "100000", "--tolerance", "1e-3"])
        need(two["converged"] and two["residual"] <= 1e-3 and 41 < two["steps"] < 10000, f"{name}: {two}")
        three = setup.solve(name, 1, [*base, "--max-steps", str(two["steps"] - 1)])
        need(three["residual"] > 1e-3, f"{name}: it could have stopped earlier {three}")
        four = setup.solve(name, 3, [*base, "--max-steps", "100000", "--tolerance", "1e-3", "--check-every", "50"])
        need(four["steps"] == -(-two["steps"] // 50) * 50, f"{name}: {four['steps']} after {two['steps']}")


@test
def the_example_of_a_settings_file_is_solved(setup):
    """Breaks when the file that the README uses is missing, has a wrong name or value, or when flags in a file do not have
    the meaning that the README gives."""
    example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hot-plate.ini")
    with tempfile.TemporaryDirectory() as folder:
        out, quiet = os.path.join(folder, "out"), os.path.join(folder, "quiet.ini")
        with open(quiet, "w", encoding="ascii") as file:
            file.write("no-output = true\nsize = 8,8,8\nmax-steps = 2\nquiet = on\n")
        for name in setup.starts:
            result = setup.solve(name, 2, ["--config", example, "--size", "16,16,4", "--output", out])
            need(result["converged"] and result["largest_error"] < 0.1, f"{name}: {result}")
            need(fields.read_both(out)[0] == (16, 16, 4), f"{name}: the command line does not win")
            setup.solve(name, 2, ["--config", quiet])
            need(sorted(os.listdir(folder)) == ["out", "quiet.ini"], f"{name}: left {os.listdir(folder)}")


@test
def bad_input_ends_every_rank_with_a_reason(setup):
    """Breaks when a rank continues, waits for others, or ends with 0; or when the message does not name the cause."""
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "bad.ini")
        with open(config, "w", encoding="ascii") as file:
            file.write("[heat3d]\nsize = 8,8,8\ncolour = red\n")
        occupied = os.path.join(folder, "file")
        with open(occupied, "w", encoding="ascii"):
            pass
        table = [
            (["--size", "-1,2,3"], "--size: -1 is not positive"),
            (["--size", "8,8"], "is not X,Y,Z"),
            (["--nonsense"], "--nonsense"),
            (["--config", config], "bad.ini:3: 'colour' is no setting"),
            (["--config", "/nowhere.ini"], "/nowhere.ini cannot be read"),
            (["--ranks-grid", "1,1,3"], "a grid of 1 x 1 x 3 ranks was asked for, but there are 2"),
            (["--size", "1,1,1"], "2 ranks cannot share 1 x 1 x 1 cells"),
            (["--size", "8,8,1", "--ranks-grid", "1,1,2"], "2 ranks along z cannot share 1 cells"),
            (["--time-step", "1e9"], "is not stable"),
            (["--diffusivity-slope", "-1"], "must be positive"),
            (["--layers", "none"], "--layers: 'none' is none of"),
            (["--output", os.path.join(occupied, "below")], "file/below cannot be made"),
            (["--output", "/proc/heat3d"], "/proc/heat3d cannot be made"),
        ]
        # MPI's programs use ordinary memory, which some systems overcommit.
        too_large = (["--size", "100000,100000,100", "--no-output"], "SENNIT_ERR_NOMEM")
        for name in setup.starts:
            for options, expected in [*table, too_large] if name in SENNIT else table:
                around = ["sh", "-c", '"$@"; echo "ended with $?"', "sh"]
                result = setup.execute(name, 2, ["--size", "8,8,8", *options], around)
                # The exit status of each rank, which launchers do not show.
                need(result.stdout.count("ended with 1\n") == 2, f"{name} {options}:\n{result.stdout}{result.stderr}")
                need(result.stderr.count(expected) == 1, f"{name} {options}: no '{expected}' in\n{result.stderr}")
            need(setup.execute(name, 2, ["--size", "0,1,1"]).returncode != 0, f"the launcher of {name} gives 0")
        need(sorted(os.listdir(folder)) == ["bad.ini", "file"], f"left behind: {os.listdir(folder)}")


@test
def an_error_of_one_rank_ends_all(setup):
    """Breaks when ranks wait for a rank that could not write: here rank 1 looks for the files in another folder."""
    elsewhere = 'if [ "${SENNIT_RANK:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ]; then cd /; fi; exec "$@"'
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in setup.starts:
            options = ["--size", "16,16,16", "--max-steps", "3", "--output", name]
            result = setup.execute(name, 2, options, ["sh", "-c", elsewhere, "sh"])
            need(result.returncode != 0, f"{name}: exit status 0\n{result.stdout}")
            need(f"rank 1: output: {name}/temperature.vti.part cannot be opened" in result.stderr,
                 f"{name}:\n{result.stderr}")
            need(os.listdir(name) == [], f"{name} left behind: {os.listdir(name)}")
        os.chdir("/")


@test
def files_open_in_other_readers(setup):
    """Breaks when a head is malformed or does not match the order of cells. NumPy reads the files too, if it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in setup.starts:
            out = os.path.join(folder, name)
            setup.solve(name, 2, ["--size", "4,5,6", "--west", "10", "--south", "20", "--down", "40", "--max-steps",
                                  "300", "--output", out])
            cells, values = fields.read_both(out)
            need(cells == (4, 5, 6), f"{name}: {cells}")
            at = lambda i, j, k: values[i + 4 * (j + 5 * k)]
            need(at(0, 2, 3) > at(3, 2, 3) and at(1, 0, 3) > at(1, 4, 3) and at(1, 2, 0) > at(1, 2, 5),
                 f"{name}: the axes are mixed up")
            try:
                import numpy
            except ImportError:
                continue
            loaded = numpy.load(os.path.join(out, "temperature.npy"), allow_pickle=False)
            need(loaded.shape == (6, 5, 4) and loaded[3, 2, 0] == at(0, 2, 3), f"{name}: numpy sees {loaded.shape}")


@test
def the_report_adds_up(setup):
    """Breaks when a part of a step is counted twice or not at all, or when --quiet prints anything."""
    for name in setup.starts:
        options = ["--size", "32,32,32", "--max-steps", "60", "--no-output"]
        result = setup.solve(name, 2, options)
        parts = sum(result[part + "_s_mean"] for part in ("compute", "exchange", "synchronise"))
        need(0.5 * result["loop_s"] < parts <= 1.001 * result["loop_s"], f"{name}: {result}")
        need(abs(result["communicate_s_mean"] - result["exchange_s_mean"] - result["synchronise_s_mean"]) < 1e-6,
             f"{name}: {result}")
        need(0 < result["compute_step_median_us_min"] <= result["compute_step_median_us_max"], f"{name}: {result}")
        table = setup.execute(name, 2, [*options, "--quiet"])
        need(table.returncode == 0 and "synchronisation" in table.stdout, f"{name}:\n{table.stdout}{table.stderr}")
        need(table.stderr == "", f"{name} should be quiet:\n{table.stderr}")


@test
def a_long_run_reports_its_progress(setup):
    """Breaks when progress floods stderr, comes from several ranks, or is not off with --quiet."""
    name = next(iter(setup.starts))
    options = ["--size", "40,40,40", "--max-steps", "2000000", "--tolerance", "1e-30", "--no-output"]
    for extra, least, most in ([], 1, 3), (["--quiet"], 0, 0):
        command = [*setup.starts[name], "2", setup.program[name], *options, *extra]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=ENVIRONMENT) as process:
            time.sleep(5)
            process.terminate()
            try:
                _, errors = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Failed("it did not end when it was told to") from None
        lines = [line for line in errors.splitlines() if line.startswith("heat3d: step ")]
        need(least <= len(lines) <= most, f"{extra}: {len(lines)} lines in 5 s:\n{errors}")


@test
def a_rank_that_dies_ends_the_others(setup):
    """Breaks when ranks wait forever for the cells, or the residual, of a dead rank."""
    die = 'if [ "$SENNIT_RANK" = 1 ]; then "$@" & sleep 2; kill -9 $!; wait; exit 3; fi; exec "$@"'
    for name in SENNIT:
        for every in ("1", "1000000000"):
            options = ["--size", "24,24,24", "--max-steps", "1000000000", "--check-every", every, "--no-output", "--quiet"]
            result = setup.execute(name, 3, options, ["sh", "-c", die, "sh"])
            need(result.returncode != 0, f"{name}: exit status 0\n{result.stdout}")
            need(result.stdout == "", f"{name} gave a result:\n{result.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test", choices=sorted(TESTS))
    parser.add_argument("--program", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--launch", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--ranks", default="1,2,3,4")
    arguments = parser.parse_args()
    try:
        TESTS[arguments.test](Setup(arguments))
    except (Failed, fields.Wrong) as failure:
        print(f"{arguments.test}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
