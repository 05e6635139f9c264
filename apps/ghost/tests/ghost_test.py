"""Tests of whole runs of ghost: python3 ghost_test.py TEST --bin FOLDER"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "common", "tests"))
sys.path.insert(0, os.path.join(HERE, "..", "study"))
import harness  # noqa: E402  pylint: disable=wrong-import-position
import jobs  # noqa: E402  pylint: disable=wrong-import-position
import traces  # noqa: E402  pylint: disable=wrong-import-position
import runs  # noqa: E402  pylint: disable=wrong-import-position
from harness import need, test  # noqa: E402  pylint: disable=wrong-import-position

UNEVEN = ["--scaling", "strong", "--size", "13,9,11", "--variables", "3", "--steps", "9", "--sources", "2",
          "--sum-every", "4"]
GRIDS = (("2,1,1", 2), ("1,2,1", 2), ("1,1,2", 2), ("3,1,1", 3), ("2,2,1", 4), ("2,2,2", 8))
STENCILS = ("5", "7", "9", "27")
METHODS = tuple(jobs.METHODS)
SENNIT = (jobs.CHANNELS, jobs.NOTIFIED)

# Prints the exit status of each rank, which launchers do not show.
EACH_STATUS = ("sh", "-c", '"$@"; echo "ended with $?"', "sh")


def programs(arguments):
    """The kind of every program that was built and has a launcher."""
    found = [key for key in jobs.FACES if runs.launch_words(arguments, key[0], 1, jobs.program_of(*key))]
    harness.need_all(arguments, [jobs.program_of(*key) for key in found])
    return found


def execute(arguments, key, ranks, options, around=(), environment=None):
    """Returns the finished process; `around` is put between the launcher and the program."""
    words = runs.launch_words(arguments, key[0], ranks, jobs.program_of(*key))
    need(words is not None, f"{jobs.program_of(*key)} or its launcher is not in {arguments.bin}")
    return harness.execute([*words[:-1], *around, words[-1], *options], environment)


def run(arguments, key, ranks, options, environment=None):
    """The JSON object of a run that must succeed."""
    result = execute(arguments, key, ranks, [*options, "--json"], environment=environment)
    what = f"{jobs.program_of(*key)} on {ranks} ranks {options}"
    need(result.returncode == 0, f"{what}: {result.returncode}\n{result.stderr}")
    lines = result.stdout.splitlines()
    need(len(lines) == 1, f"{what}: {len(lines)} lines instead of one:\n{result.stdout}")
    return json.loads(lines[0])


def expected_fields(arguments):
    """The hash of the field that one rank computes alone, for each stencil: it exchanges nothing."""
    found = {stencil: run(arguments, jobs.CHANNELS, 1, [*UNEVEN, "--stencil", stencil])["field_hash"] for stencil in STENCILS}
    need(len(set(found.values())) == len(STENCILS), f"stencils should differ: {found}")
    return found


def compare(arguments, expected, cases):
    """`cases`: (key, ranks, stencil, words); all must give the field of one rank and conserve the sums."""
    for key, ranks, stencil, words in cases:
        result = run(arguments, key, ranks, [*UNEVEN, "--stencil", stencil, *words])
        what = f"{jobs.program_of(*key)} on {ranks} ranks, {stencil} points, {' '.join(words)}"
        need(result["field_hash"] == expected[stencil], f"{what}: {result['field_hash']} is not {expected[stencil]}")
        need(0 <= result["sum_error"] < 1e-12, f"{what}: sums are wrong by {result['sum_error']}")
        need(result["steps"] == 18, f"{what}: {result}")


def compare_on(arguments, numbers):
    """Methods, stencils and ways to exchange change from one run to the next, so that each is used with each library."""
    cases = []
    for key in programs(arguments):
        for turn, ranks in enumerate(numbers):
            for at, stencil in enumerate(STENCILS):
                faces = jobs.FACES[key][(turn + at) % 3]
                cases.append((key, ranks, stencil, ["--method", METHODS[(turn + at // 2) % 2], "--faces", faces]))
    compare(arguments, expected_fields(arguments), cases)


@test
def fields_are_the_same_to_the_bit(arguments):
    """Breaks when a slab comes from the wrong place, too early or not at all."""
    compare_on(arguments, (2,))


@test
def fields_are_the_same_to_the_bit_on_more_ranks(arguments):
    """Breaks when a slab comes from the wrong place, too early or not at all, if ranks share processors and have several
    neighbours."""
    compare_on(arguments, (1, 2, 3, 4, 8))


@test
def a_delayed_rank_reads_the_right_cells(arguments):
    """Breaks when a neighbour overwrites cells that a rank has not read yet. All ranks share one processor, so now and
    then a rank is delayed in its step while the others run ahead as far as they may."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    box = ["--scaling", "strong", "--size", "60,20,20", "--steps", "200", "--sum-every", "1000"]
    expected = run(arguments, jobs.CHANNELS, 1, box)["field_hash"]
    for key in SENNIT:
        for ranks in (2, 3):
            for faces in jobs.FACES[key]:
                found = run(arguments, key, ranks, [*box, "--faces", faces])["field_hash"]
                need(found == expected, f"{jobs.program_of(*key)} on {ranks} ranks, {faces}: {found} is not {expected}")


@test
def every_way_to_exchange_gives_the_same_field_on_every_grid(arguments):
    """Breaks when a slab comes from the wrong place, too early or not at all: all combinations, on grids that cut each
    axis alone and all together."""
    expected = expected_fields(arguments)
    compare(arguments, expected, [
        (key, ranks, stencil, ["--method", method, "--faces", faces, "--ranks-grid", grid])
        for key in programs(arguments) for turn, (grid, ranks) in enumerate(GRIDS) for number, stencil in enumerate(STENCILS)
        for method in METHODS for faces in jobs.FACES[key]
        # An MPI starts slowly, and takes a second with more ranks than processors: a part of the runs is enough.
        if key[0] is None or (ranks <= 2 and (turn + number) % 2 == 0)
        or (ranks > 2 and stencil == ("7" if ranks == 4 else "27") and faces != "isend")])


@test
def no_step_of_the_notified_variant_has_a_barrier(arguments):
    """Breaks when a step synchronises all ranks, or when a step makes needless calls. --barrier adds a barrier before each
    exchange: the test detects it."""
    few, many = 3, 8
    for grid, ranks, sides, stencil in (("2,1,1", 2, 2, "7"), ("2,2,1", 4, 8, "27")):
        for faces, barrier in *((faces, []) for faces in jobs.FACES[jobs.NOTIFIED]), ("chosen", ["--barrier"]):
            options = ["--size", "8,9,7", "--ranks-grid", grid, "--faces", faces, "--stencil", stencil, "--sources", "1",
                       "--sum-every", "1000", *barrier]

            def one(steps, environment):
                run(arguments, jobs.NOTIFIED, ranks, [*options, "--steps", str(steps)], environment)

            found = traces.calls_of_steps(one, few, many)
            what = f"{faces}, {stencil} points on {grid} {barrier}: {many - few} steps more call {found}"
            need(found.pop("sennit_barrier", 0) == (many - few) * ranks * len(barrier), what)
            need(found.pop("sennit_put_notify", 0) == (many - few) * sides, what)
            direct = found.pop("sennit_put_strided", 0)
            need(direct == {"direct": (many - few) * sides, "packed": 0}.get(faces, direct), what)
            # One wait and one reset per phase. There are as many phases as axes with neighbours, or one.
            need(found.keys() == {"sennit_signal_wait", "sennit_signal_reset"} and len(set(found.values())) == 1, what)


@test
def a_wrong_sum_ends_every_rank(arguments):
    """Breaks when a wrong ghost cell goes unnoticed, or is noticed and the exit status is 0."""
    for key in programs(arguments):
        for ranks, words in ((1, []), (2, ["--method", "svaf"]), (2, ["--stencil", "27"])):
            options = [*UNEVEN, "--spoil-step", "5", *words]
            result = execute(arguments, key, ranks, options, EACH_STATUS)
            name = f"{jobs.program_of(*key)} on {ranks} ranks"
            need(result.stdout.count("ended with 1\n") == ranks, f"{name}:\n{result.stdout}{result.stderr}")
            need(result.stderr.count("after step 8 the sum of variable 0 is") == 1, f"{name}:\n{result.stderr}")
            need("field_hash" not in result.stdout, f"{name} gave a result:\n{result.stdout}")


@test
def bad_input_ends_every_rank_with_a_reason(arguments):
    """Breaks when a rank continues, waits for others, or ends with 0; or when the message does not name the cause."""
    table = [
        (["--size", "-1,2,3"], "--size: -1 is not from 1"),
        (["--size", "8,8"], "is not X,Y,Z"),
        (["--nonsense"], "--nonsense"),
        (["--stencil", "6"], "--stencil"),
        (["--method", "all"], "--method"),
        (["--faces", "none"], "--faces: 'none' is none of"),
        (["--ranks-grid", "1,1,3"], "a grid of 1 x 1 x 3 ranks was asked for, but there are 2"),
        (["--ranks-grid", "2,0,1"], "--ranks-grid: give all three numbers, or none"),
        (["--scaling", "strong", "--size", "1,1,1"], "2 ranks cannot share 1 x 1 x 1 cells"),
    ]
    for key in programs(arguments):
        for options, expected in table:
            result = execute(arguments, key, 2, options, EACH_STATUS)
            name = f"{jobs.program_of(*key)} {options}"
            need(result.stdout.count("ended with 1\n") == 2, f"{name}:\n{result.stdout}{result.stderr}")
            need(result.stderr.count(expected) == 1, f"{name}: no '{expected}' in\n{result.stderr}")


# The clock readings at the beginning and the end of an exchange belong to no part.
CLOCK_S = 0.25e-6


def sums_that_are_wrong(result):
    """The sum that is wrong, or None. Totals of a rank are sums of its parts, so their means over the ranks are too."""
    exchanges = result["steps"] * (1 if result["method"] == "bspma" else result["variables"])
    exchange, parts = result["exchange_s_mean"], sum(result[part + "_s_mean"] for part in jobs.PARTS)
    if not 0.9 * (exchange - CLOCK_S * exchanges) < parts <= exchange * (1 + 1e-9):
        return f"the parts take {parts} s of the {exchange} s of {exchanges} exchanges"
    whole = sum(result[part + "_s_mean"] for part in ("exchange", "compute", "check"))
    if not 0.9 * result["loop_s"] < whole <= result["loop_s"] * (1 + 1e-9):
        return f"exchange, computing and check take {whole} s of {result['loop_s']} s"
    return None


@test
def the_report_adds_up(arguments):
    """Breaks when a part of the exchange is counted twice or not at all, or a way is not the requested one."""
    for key in programs(arguments):
        for method in METHODS:
            for faces in jobs.FACES[key]:
                words = ["--size", "40,40,40", "--steps", "60", "--method", method, "--ranks-grid", "2,1,1", "--faces", faces]
                # Try again if a rank was interrupted at a point that no part counts.
                for _ in range(3):
                    result = run(arguments, key, 2, words)
                    wrong = sums_that_are_wrong(result)
                    if wrong is None:
                        break
                what = f"{jobs.program_of(*key)}, {method}, {faces}: {result}"
                need(wrong is None, f"{what}: {wrong}")
                need(0 < result["compute_step_median_us_min"] <= result["compute_step_median_us_max"], what)
                need(result["cells"] == [80, 40, 40] and result["ranks_grid"] == [2, 1, 1], what)
                way = {"chosen": ("packed", "direct"), "isend": ("packed",)}.get(faces, (faces,))
                need(result["way_x"] in way and result["way_y"] == "" and result["way_z"] == "", what)
        table = execute(arguments, key, 2, ["--size", "20,20,20", "--steps", "3"])
        need(table.returncode == 0 and "unpack_step_median_us_max" in table.stdout and table.stderr == "",
             f"{jobs.program_of(*key)}:\n{table.stdout}{table.stderr}")


def copies(key, way, axis, is_wide):
    """(whether an exchange packs, whether it unpacks) for slabs across an axis that are sent in this way."""
    if way == "isend":
        return True, True
    if way == "packed":
        # Across x the step packs; without diagonals the neighbour's step reads the packed slab.
        return axis != "x", is_wide
    # Derived datatypes and strided puts write to the ghost cells. A rank that reads the neighbour's cells copies those that
    # its step does not read by rows.
    return False, (is_wide or axis == "x") and (key.mpi is None or key.shared) and not key.notified


@test
def packing_and_unpacking_are_counted_where_they_happen(arguments):
    """Breaks when the time of packing or unpacking is added to another part, which no sum shows, or when slabs are sent in
    another way."""
    for key in programs(arguments):
        for axis, grid in (("x", "2,1,1"), ("y", "1,2,1")):
            for stencil in ("7", "27"):
                for faces in jobs.FACES[key]:
                    result = run(arguments, key, 2, ["--size", "40,40,40", "--steps", "20", "--ranks-grid", grid, "--stencil",
                                                     stencil, "--faces", faces])
                    way = "isend" if faces == "isend" else result["way_" + axis]
                    expected = copies(key, way, axis, stencil == "27")
                    found = tuple(result[part + "_s_max"] > 0 for part in ("pack", "unpack"))
                    need(found == expected, f"{jobs.program_of(*key)}, {faces}: packs and unpacks {found}: {result}")


@test
def a_rank_that_dies_ends_the_others(arguments):
    """Breaks when the neighbours of a dead rank wait for it forever."""
    die = 'if [ "$SENNIT_RANK" = 1 ]; then "$@" & sleep 2; kill -9 $!; wait; exit 3; fi; exec "$@"'
    for key in SENNIT:
        result = execute(arguments, key, 3,
                         ["--size", "24,24,24", "--steps", "100000000", "--sum-every", "1000000000"],
                         ["sh", "-c", die, "sh"])
        name = jobs.program_of(*key)
        need(result.returncode != 0, f"{name}: exit status 0\n{result.stdout}")
        need("field_hash" not in result.stdout, f"{name} gave a result:\n{result.stdout}")


if __name__ == "__main__":
    sys.exit(harness.main())
