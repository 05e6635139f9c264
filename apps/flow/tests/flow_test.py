"""Tests of whole runs of flow: python3 flow_test.py TEST --bin FOLDER --built NAME,NAME --launchers MPI,MPI"""
import array
import difflib
import json
import math
import os
import re
import shutil
import struct
import sys
import tempfile
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
FLOW = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "..", "..", "common", "tests"))
import harness  # noqa: E402  pylint: disable=wrong-import-position
import runs  # noqa: E402  pylint: disable=wrong-import-position
from harness import need, test  # noqa: E402  pylint: disable=wrong-import-position

VORTEX = ["--case", "vortex", "--viscosity", "0.05", "--length-x", "2", "--length-y", "3", "--height", "1"]
# Ranks with threads share processors here: a spinning thread would take the processor from the thread that it waits for.
PATIENT = {"OMP_WAIT_POLICY": "passive"}
CHANGED_LINES = 120
HEAD_BYTES = 64


def programs(arguments):
    """(program, MPI) of every program that was built and has a launcher."""
    found = [(name, name.rsplit("-", 1)[-1]) for name in arguments.built.split(",") if name]
    found = [(name, mpi) for name, mpi in found if runs.launch_words(arguments, mpi, 1, name)]
    if not found:
        raise harness.Skipped("no MPI that could start a program was found")
    return found


def threads(arguments, number):
    """The words for so many threads of each rank; without OpenMP one thread."""
    return ["--threads", str(min(number, arguments.threads))]


def ways_of(arguments, key):
    """Words for each way to transpose, and for numbers of threads; for the pipeline also numbers of pieces: fewer than threads,
    and as many as planes."""
    two, three = threads(arguments, 2), threads(arguments, 3)
    if "pipelined" in key[0]:
        return [two, [*three, "--pieces", "4"], ["--pieces", "100"], [*two, "--pieces", "1", "--overlap", "off"]]
    return [["--transpose", "packed", *two], ["--transpose", "described", "--overlap", "on"]]


def with_sennit(key):
    return "sennit" in key[0] or "pipelined" in key[0]


def execute(arguments, key, ranks, options, environment=None):
    name, mpi = key
    words = runs.launch_words(arguments, mpi, ranks, name)
    need(words is not None, f"{name} or its launcher is not in {arguments.bin}")
    return harness.execute([*words, *options], {**PATIENT, **(environment or {})})


def run(arguments, key, grid, options):
    """The JSON object of a run that must succeed. Its velocity must be free of divergence and its momentum must balance."""
    ranks = grid[0] * grid[1]
    words = ["--no-output", *options, "--ranks-y", str(grid[0]), "--ranks-z", str(grid[1]), "--json"]
    result = execute(arguments, key, ranks, words)
    what = f"{key[0]} on {grid[0]} x {grid[1]} ranks {' '.join(options)}"
    need(result.returncode == 0, f"{what}: {result.returncode}\n{result.stderr}")
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    need(len(lines) == 1, f"{what}: {len(lines)} lines instead of one:\n{result.stdout}")
    found = json.loads(lines[0])
    need(found["ranks_y"] == grid[0] and found["ranks_z"] == grid[1], f"{what}: {found}")
    # One over the smallest height of a cell multiplies the rounding error of a velocity.
    need(0 <= found["divergence"] < 1e-11, f"{what}: the divergence is {found['divergence']}")
    # The rounding error of thousands of steps.
    need(abs(found["momentum_error"]) < 1e-11, f"{what}: momentum is wrong by {found['momentum_error']}")
    return found


def fields(path):
    """u, v, w and p of a restart file."""
    with open(path, "rb") as file:
        data = file.read()
    cells = struct.unpack_from("<3q", data, 8)
    numbers = array.array("d")
    numbers.frombytes(data[HEAD_BYTES:])
    count = math.prod(cells)
    # The sums of the statistics follow the fields.
    need(len(numbers) == 4 * count + 4 + 7 * cells[2], f"{path}: {len(numbers)} numbers for {cells} cells")
    return [numbers[n * count:(n + 1) * count] for n in range(4)]


def table(path):
    """The names of the columns, and the rows, of a file whose comments begin with #."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if not line.startswith("#")]
    return lines[0].split(","), [list(map(float, line.split(","))) for line in lines[1:]]


def largest_difference(one, other):
    return max(max(map(lambda a, b: abs(a - b), x, y)) for x, y in zip(one, other))


def compare(arguments, cases, options):
    """Each of (key, grid, words) must give the fields of one rank with MPI to 1e-12."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {}

        def result_of(key, grid, words):
            path = os.path.join(folder, "field")
            found = run(arguments, key, grid, [*options, *words, "--save", path])
            return found, fields(path)

        for key, grid, words in cases:
            order = tuple(words[:2])
            if order not in kept:
                kept[order] = result_of(programs(arguments)[0], (1, 1), list(order))[1]
                need(max(map(abs, kept[order][0])) > 0.1, "nothing flows")
            found, own = result_of(key, grid, words)
            off = largest_difference(kept[order], own)
            need(off < 1e-12, f"{key[0]} on {grid} ranks {words}: {off} from one rank")
            middle = grid[1] > 2
            need((found["coupled_pairs"] > 0) == middle, f"{grid}: {found['coupled_pairs']} pairs are coupled")


@test
def every_back_end_and_grid_gives_the_field_of_one_rank(arguments):
    """Breaks when a halo, a block of a transpose or an unknown comes from the wrong place, too early or not at all."""
    grids = [(2, 1), (1, 2), (2, 2), (1, 3)]
    cases = []
    for key in programs(arguments):
        for turn, grid in enumerate(grids):
            ways = ways_of(arguments, key)
            words = ["--order", "24"[turn % 2], *ways[turn // 2 % len(ways)]]
            cases.append((key, grid, words))
    compare(arguments, cases, [*VORTEX, "--cells", "15,18,17", "--time-step", "0.01", "--steps", "7", "--stretching", "1.2"])


@test
def every_back_end_gives_the_field_of_one_rank_on_more_grids(arguments):
    """The same with uneven shares, all ways and orders, four ranks in one direction, and a constant mean velocity."""
    cases = []
    for key in programs(arguments):
        for grid in [(2, 1), (3, 1), (1, 2), (1, 4), (2, 2), (2, 3)]:
            for order in "24":
                for way in ways_of(arguments, key):
                    cases.append((key, grid, ["--order", order, *way]))
    compare(arguments, cases, ["--cells", "14,19,18", "--bulk", "1", "--viscosity", "0.01", "--length-x", "2", "--length-y", "1",
                               "--steps", "9", "--check-every", "4", "--stretching", "1"])


def orders(errors):
    """The orders of convergence between successive grids, each with half the spacing of the one before."""
    return [math.log2(coarse / fine) for coarse, fine in zip(errors, errors[1:])]


def vortex_errors(arguments, key, grid, numbers, extra=()):
    """The errors at the same time on each grid. The time step is proportional to the spacing, and short enough for viscosity on
    the finest grid."""
    finest = numbers[-1]
    step = 0.1 / finest * min(1, 64 / finest)
    found = []
    for cells in numbers:
        options = [*VORTEX, "--cells", f"{cells},{cells},{cells}", "--viscosity", "0.02", "--time-step",
                   repr(step * finest / cells), "--steps", str(int(round(0.1 / step * cells / finest))), *extra]
        found.append(run(arguments, key, grid, options)["rms_error"])
    return found


@test
def a_vortex_decays_as_known_with_second_order(arguments):
    """Breaks when a term of an equation is wrong, at any place, in any direction."""
    key = programs(arguments)[-1]
    errors = vortex_errors(arguments, key, (1, 2), (16, 32, 64))
    need(min(orders(errors)) > 1.9, f"errors {errors}, orders {orders(errors)}")
    stretched = vortex_errors(arguments, key, (2, 1), (16, 32, 64), ["--stretching", "1"])
    need(min(orders(stretched)) > 1.9, f"stretched: errors {stretched}, orders {orders(stretched)}")


@test
def a_vortex_decays_as_known_with_second_order_on_fine_grids(arguments):
    """32, 64 and 128 cells in each direction."""
    harness.RUN_LIMIT_S = 600
    key = programs(arguments)[-1]
    errors = vortex_errors(arguments, key, (1, 2), (32, 64, 128))
    need(min(orders(errors)) > 1.9, f"errors {errors}, orders {orders(errors)}")


@test
def fourth_order_differences_are_better(arguments):
    """The channel is so high that the vortex varies little in z, where differences always have second order."""
    key = programs(arguments)[0]
    options = ["--case", "vortex", "--viscosity", "1e-3", "--length-x", "2", "--length-y", "3", "--height", "40", "--time-step",
               "0.0025", "--steps", "100"]
    errors = {}
    for order in "24":
        errors[order] = [run(arguments, key, (1, 1), [*options, "--order", order, "--cells", f"{cells},{cells},64"])["rms_error"]
                         for cells in (8, 16)]
    need(orders(errors["2"])[0] > 1.8, f"second order: {errors}")
    need(orders(errors["4"])[0] > 3.5, f"fourth order: {errors}")


@test
def the_laminar_profile_is_reached_with_second_order(arguments):
    """The flow starts at rest and only the gradient drives it. Breaks when the walls are at another place, or the viscosity is
    wrong."""
    key = programs(arguments)[-1]
    for stretching in ("0", "1.5"):
        errors = []
        for cells in (8, 16, 32):
            options = ["--case", "rest", "--cells", f"4,4,{cells}", "--viscosity", "1", "--gradient", "2", "--height", "1",
                       "--stretching", stretching, "--steps", str(cells * cells * (8 if stretching == "0" else 40)),
                       "--check-every", "64"]
            found = run(arguments, key, (1, 2), options)
            # The walls take exactly the force that drives the flow: each takes half of it.
            need(abs(found["wall_stress"] - 1) < 1e-7, f"{options}: the stress at a wall is {found['wall_stress']}")
            errors.append(found["largest_error"])
        need(min(orders(errors)) > 1.9, f"stretching {stretching}: errors {errors}, orders {orders(errors)}")


@test
def a_mean_velocity_is_kept(arguments):
    """Breaks when the gradient that drives the flow is not the reported one, or when the mean drifts."""
    options = ["--bulk", "1", "--viscosity", "0.5", "--height", "1", "--cells", "8,8,16", "--case", "rest", "--steps", "2500"]
    found = run(arguments, programs(arguments)[-1], (2, 1), options)
    need(abs(found["mean_velocity"] - 1) < 1e-12, f"the mean velocity is {found['mean_velocity']}")
    # The formula is 12 viscosity bulk / height^2; with the differences on 16 cells it is divided by 1 + 2 / 16^2.
    need(abs(found["gradient"] - 6 / (1 + 2 / 16**2)) < 1e-6, f"the gradient is {found['gradient']}")
    need(abs(found["gradient"] - 2 * found["wall_stress"]) < 1e-6, f"gradient and walls do not balance: {found}")


@test
def a_restarted_run_gives_the_same_bits(arguments):
    """Breaks when the file lacks something that the next step depends on."""
    common = ["--cells", "12,14,13", "--bulk", "1", "--viscosity", "0.01", "--check-every", "4", "--stretching", "1"]
    for turn, key in enumerate(programs(arguments)):
        grid = ((2, 1), (1, 2))[turn % 2]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kept")
            whole = run(arguments, key, grid, [*common, "--steps", "14"])
            run(arguments, key, grid, [*common, "--steps", "6", "--save", path])
            rest = run(arguments, key, grid, [*common, "--steps", "8", "--restart", path])
        for name in ("field_hash", "time", "last_step"):
            need(whole[name] == rest[name], f"{key[0]}: {name} is {rest[name]}, and {whole[name]} without the break")


def statistics_of(path, cells, sizes, viscosity):
    """Computes the statistics of the fields in a file by the README's description alone: for each plane the means in the
    profile; mean velocity, stress at the walls and divergence. Cells are equal."""
    nx, ny, nz = cells
    dx, dy, dz = (size / count for size, count in zip(sizes, cells))
    u, v, w, _ = fields(path)

    def at(field, i, j, k):
        return field[i % nx + nx * (j % ny + ny * k)] if k >= 0 else 0.0

    planes, most = [], 0.0
    for k in range(nz):
        sums = [0.0] * 7
        for j in range(ny):
            for i in range(nx):
                here = [at(u, i, j, k), at(v, i, j, k), 0.5 * (at(w, i, j, k - 1) + at(w, i, j, k))]
                w_at_u = 0.25 * sum(at(w, n, j, m) for n in (i, i + 1) for m in (k - 1, k))
                for n, value in enumerate([*here, *(x * x for x in here), here[0] * w_at_u]):
                    sums[n] += value / (nx * ny)
                most = max(most, abs((here[0] - at(u, i - 1, j, k)) / dx + (here[1] - at(v, i, j - 1, k)) / dy
                                     + (at(w, i, j, k) - at(w, i, j, k - 1)) / dz))
        planes.append(sums)
    bulk = sum(sums[0] for sums in planes) / nz
    stress = viscosity * (planes[0][0] + planes[-1][0]) / dz  # of two walls, each half a cell away
    return planes, bulk, stress, most


@test
def statistics_match_the_fields(arguments):
    """Breaks when a mean is of another quantity, or a restart forgets samples or counts them twice."""
    cells, sizes, viscosity = (6, 8, 10), (2.0, 1.0, 1.0), 0.01
    common = ["--cells", "6,8,10", "--length-x", "2", "--length-y", "1", "--height", "1", "--viscosity", "0.01", "--steps", "5",
              "--check-every", "100", "--quiet"]
    for turn, key in enumerate(programs(arguments)):
        grid = ((2, 1), (1, 2))[turn % 2]
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for part in range(3):
                path = os.path.join(folder, f"kept{part}")
                before = ["--restart", os.path.join(folder, f"kept{part - 1}")] if part else []
                result = execute(arguments, key, 2, [*common, *before, "--save", path, "--output", folder, "--ranks-y", str(grid[0]),
                                                     "--ranks-z", str(grid[1])])
                need(result.returncode == 0, result.stderr)
                found.append(statistics_of(path, cells, sizes, viscosity))
            names, profile = table(os.path.join(folder, "profile.csv"))
            need(names == ["z", "u", "v", "w", "u_rms", "v_rms", "w_rms", "reynolds_stress"], f"{names}")
            for k, row in enumerate(profile):
                mean = [sum(planes[k][n] for planes, *_ in found) / 3 for n in range(7)]
                rms = [math.sqrt(max(0.0, mean[n + 3] - mean[n] ** 2)) for n in range(3)]
                wanted = [(k + 0.5) / 10, *mean[:3], *rms, mean[0] * mean[2] - mean[6]]
                need(min(rms) > 1e-3, f"nothing fluctuates in plane {k}: {rms}")
                for name, own, value in zip(names, wanted, row):
                    need(abs(own - value) < 1e-9, f"{key[0]} {grid}: {name} of plane {k} is {value}, by the fields {own}")
            names, samples = table(os.path.join(folder, "samples.csv"))
            need([row[0] for row in samples] == [5, 10, 15], f"{key[0]}: samples {samples}")
            for row, (_, bulk, stress, most) in zip(samples, found):
                row = dict(zip(names, row))
                for name, value in (("bulk", bulk), ("wall_stress", stress), ("friction_velocity", math.sqrt(stress))):
                    need(abs(row[name] - value) < 1e-9, f"{key[0]}: {name} is {row[name]}, by the fields {value}")
                need(row["divergence"] < 1e-11 and most < 1e-11, f"{key[0]}: divergence {row['divergence']}, by the fields {most}")


def code_of(path):
    """The lines without blank lines and comments."""
    with open(path, encoding="utf-8") as file:
        lines = [re.sub(r"//.*", "", line).strip() for line in file]
    return [line for line in lines if line]


@test
def the_converted_program_differs_in_few_lines(_arguments):
    """A replaced line counts once. `inline` is allowed because one of the two files is a header."""
    before = code_of(os.path.join(FLOW, "flow_mpi.cpp"))
    after = [line for name in ("sennit_calls.hpp", "flow_sennit.cpp") for line in code_of(os.path.join(FLOW, name))]
    after = [line.removeprefix("inline ") for line in after if line != '#include "sennit_calls.hpp"']
    changed = 0
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        changed += 0 if kind == "equal" else max(b - a, d - c)
    need(20 < changed <= CHANGED_LINES, f"{changed} lines differ, and {CHANGED_LINES} may")


@test
def the_loop_with_sennit_has_no_call_of_mpi(arguments):
    """A library between program and MPI counts the calls; more steps must not make more calls."""
    for key in programs(arguments):
        library = os.path.join(arguments.bin, f"libflow-calls-{key[1]}.so")
        need(os.path.exists(library), f"{library} is not there")
        counts = []
        for steps in (8, 24):
            options = ["--cells", "12,12,12", "--steps", str(steps), "--check-every", "4", "--no-output", "--json", "--bulk", "1",
                       "--viscosity", "0.05", "--ranks-y", "2", "--ranks-z", "1"]
            result = counted(arguments, key, library, options)
            need(result.returncode == 0, f"{key[0]}: {result.returncode}\n{result.stderr}")
            found = re.findall(r"calls of MPI: (\d+)", result.stderr)
            need(len(found) == 2, f"{key[0]}: {result.stderr}")
            counts.append(sum(map(int, found)))
        if with_sennit(key):
            need(counts[0] == counts[1], f"{key[0]}: {counts} calls in 8 and in 24 steps")
        else:
            need(counts[1] >= counts[0] + 16 * 10, f"{key[0]}: {counts} calls in 8 and in 24 steps")


def counted(arguments, key, library, options):
    """A run in which the ranks load the library and the launcher does not."""
    words = runs.launch_words(arguments, key[1], 2, key[0])
    return harness.execute([*words[:-1], "env", f"LD_PRELOAD={library}", words[-1], *options])


@test
def two_halos_in_one_buffer_are_reported(arguments):
    """Breaks when a put over data that was not used yet goes unnoticed, or when the report does not name the exchange."""
    for mpi in {mpi for _, mpi in programs(arguments)}:
        for grid in ("1,2", "2,1"):
            y, z = grid.split(",")
            result = execute(arguments, (f"flow-one-buffer-{mpi}", mpi), 2,
                             ["--cells", "12,12,12", "--steps", "4", "--no-output", "--ranks-y", y, "--ranks-z", z])
            need(result.returncode != 0, f"{mpi} on {grid} took it:\n{result.stdout}")
            need(re.search(r"flow: halo of stage 2: .*has not reset the signal", result.stderr), f"{mpi} on {grid}: {result.stderr}")


@test
def a_rank_that_dies_ends_the_others(arguments):
    """Breaks when a wait does not see that the rank it waits for has ended."""
    for key in programs(arguments):
        words = runs.launch_words(arguments, key[1], 2, key[0])
        mortal = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then "$@" & sleep 2; kill -9 $!; wait; exit 1; fi; exec "$@"'
        result = harness.execute([*words[:-1], "sh", "-c", mortal, "sh", words[-1], "--cells", "16,16,16", "--steps", "100000000",
                                  "--no-output", "--quiet", *threads(arguments, 2)], PATIENT)
        need(result.returncode != 0, f"{key[0]} ended well")


@test
def files_are_complete(arguments):
    """Breaks when a rank writes to the wrong place, or when a header does not match the data that follows."""
    key = programs(arguments)[-1]
    for stretching, name in (("0", "field.vti"), ("1", "field.vtr")):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--case", "laminar", "--gradient", "8", "--viscosity", "1", "--height", "1", "--cells", "6,8,10", "--steps",
                       "2", "--output", folder, "--stretching", stretching, "--ranks-y", "2", "--ranks-z", "1", "--quiet"]
            result = execute(arguments, key, 2, options)
            need(result.returncode == 0, result.stderr)
            need(sorted(os.listdir(folder)) == sorted([name, "profile.csv", "samples.csv"]), f"{os.listdir(folder)}")
            with open(os.path.join(folder, name), "rb") as file:
                head, data = file.read().split(b"<AppendedData encoding=\"raw\">\n_", 1)
            need(b"WholeExtent=\"0 6 0 8 0 10\"" in head, head)
            count = 6 * 8 * 10
            length, = struct.unpack_from("<Q", data)
            need(length == 3 * 8 * count, f"{length} bytes of velocity")
            velocity = struct.unpack_from(f"<{3 * count}d", data, 8)
            length, = struct.unpack_from("<Q", data, 8 + 24 * count)
            need(length == 8 * count, f"{length} bytes of pressure")
            need(data[16 + 32 * count:].strip() == b"</AppendedData>\n</VTKFile>", "the end is another one")
            rows = table(os.path.join(folder, "profile.csv"))[1]
            need(len(rows) == 10, f"{len(rows)} rows")
            for n, row in enumerate(rows):
                need(abs(row[1] - 4 * row[0] * (1 - row[0])) < 0.05, f"the profile at {row[0]} is {row[1]}")
                for cell in range(48):
                    need(abs(velocity[3 * (48 * n + cell)] - row[1]) < 1e-9, f"cell {cell} of plane {n}")


def dataset(path, name, folder):
    """The bytes of a dataset of an HDF5 file, by HDF5's own tool."""
    to = os.path.join(folder, "dumped")
    result = harness.execute(["h5dump", "-d", name, "-b", "LE", "-o", to, path])
    need(result.returncode == 0, f"h5dump of {name}: {result.stderr}")
    with open(to, "rb") as file:
        return file.read()


@test
def the_hdf5_field_equals_the_vtk_field(arguments):
    """Breaks when a rank writes to the wrong place, or when the .xdmf does not match the file."""
    if shutil.which("h5dump") is None:
        raise harness.Skipped("h5dump is not here (hdf5-tools)")
    for turn, key in enumerate(programs(arguments)):
        grid = ((2, 1), (1, 2))[turn % 2]
        with tempfile.TemporaryDirectory() as folder:
            for form in ("vtk", "hdf5"):
                options = ["--cells", "6,8,10", "--steps", "2", "--output", folder, "--stretching", "1", "--quiet", "--format", form]
                result = execute(arguments, key, 2, [*options, "--ranks-y", str(grid[0]), "--ranks-z", str(grid[1])])
                if "without HDF5" in result.stderr:
                    raise harness.Skipped("built without HDF5")
                need(result.returncode == 0, result.stderr)
            need(sorted(os.listdir(folder)) == ["field.h5", "field.vtr", "field.xdmf", "profile.csv", "samples.csv"],
                 f"{os.listdir(folder)}")
            with open(os.path.join(folder, "field.vtr"), "rb") as file:
                head, data = file.read().split(b"<AppendedData encoding=\"raw\">\n_", 1)
            count = 6 * 8 * 10
            path = os.path.join(folder, "field.h5")
            need(dataset(path, "/velocity", folder) == data[8:8 + 24 * count], f"{key[0]} {grid}: another velocity")
            need(dataset(path, "/pressure", folder) == data[16 + 24 * count:16 + 32 * count], f"{key[0]} {grid}: another pressure")
            z = array.array("d", dataset(path, "/z", folder))
            places = re.search(rb'Name="z"[^>]*>([^<]*)<', head)
            need(places and len(z) == 11 and all(abs(a - b) < 1e-5 for a, b in zip(z, map(float, places[1].split()))), f"z: {z}")
            grid_of = ElementTree.parse(os.path.join(folder, "field.xdmf")).getroot().find("Domain/Grid")
            need(grid_of.find("Topology").get("Dimensions") == "11 9 7", "the topology is another one")
            for item in grid_of.iter("DataItem"):
                file, name = item.text.split(":")
                size = math.prod(map(int, item.get("Dimensions").split()))
                need(file == "field.h5" and len(dataset(path, name, folder)) == 8 * size, f"{name} has not {size} numbers")


@test
def bad_input_ends_every_rank_with_a_reason(arguments):
    """Breaks when bad input is accepted, or when a rank waits for a rank that has ended."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = os.path.join(folder, "wrong")
        ini = os.path.join(folder, "wrong.ini")
        with open(wrong, "wb") as file:
            file.write(b"nothing" * 100)
        with open(ini, "w", encoding="utf-8") as file:
            file.write("cels = 8,8,8\n")
        cases = ((["--cells", "8,8"], "X,Y,Z"), (["--cells", "8,8,3"], "too few"), (["--order", "3"], "--order"),
                 (["--cells", "8,6,8", "--order", "4", "--ranks-y", "2"], "too few"), (["--viscosity", "0"], "--viscosity"),
                 (["--ranks-y", "3"], "grid"), (["--transpose", "no"], "--transpose"), (["--case", "no"], "--case"),
                 (["--restart", wrong], "no file of this program"), (["--restart", wrong + "x"], "cannot be opened"),
                 (["--format", "no"], "--format"), (["--threads", "0"], "--threads"), (["--overlap", "no"], "--overlap"),
                 (["--config", ini], "cels"), (["--output", os.path.join(wrong, "x")], "cannot be made"),
                 (["--save", os.path.join(wrong, "x")], "cannot be opened"),
                 (["--time-step", "10", "--steps", "40"], "too long"))
        for turn, (words, reason) in enumerate(cases):
            key = programs(arguments)[turn % len(programs(arguments))]
            result = execute(arguments, key, 2, ["--cells", "8,8,8", "--steps", "2", "--quiet",
                                                 "--output", os.path.join(folder, "out"), *words])
            need(result.returncode != 0, f"{key[0]} took {words}")
            need(reason in result.stderr, f"{key[0]} {words}: {result.stderr}")


@test
def the_example_of_a_settings_file_runs(arguments):
    """The names in the file are settings, and the command line overrides it."""
    key = programs(arguments)[-1]
    with tempfile.TemporaryDirectory() as folder:
        words = ["--config", os.path.join(FLOW, "channel.ini"), "--cells", "16,16,16", "--steps", "3", "--save",
                 os.path.join(folder, "kept")]
        found = run(arguments, key, (1, 2), words)
    need(found["cells"] == [16, 16, 16] and found["steps"] == 3, f"{found}")
    need(found["case"] == "channel" and found["gradient"] == 1, f"{found}")


@test
def the_report_adds_up(arguments):
    """The parts add up to the whole; a rank without a peer in an exchange communicates nothing."""
    for key in programs(arguments):
        found = run(arguments, key, (2, 1), ["--cells", "16,16,16", "--steps", "50", *threads(arguments, 2)])
        parts = ["velocity_compute", "velocity_halo", "pressure_compute", "pressure_transpose", "pressure_tridiagonal",
                 "pressure_halo", "other"]
        whole = sum(found[f"{part}_s_mean"] for part in parts)
        need(abs(whole - found["step_s_mean"]) < 1e-6, f"{key[0]}: parts are {whole} of {found['step_s_mean']}")
        velocity = found["velocity_compute_s_mean"] + found["velocity_halo_s_mean"]
        need(abs(velocity - found["velocity_update_s_mean"]) < 1e-6, f"{key[0]}: {found}")
        need(found["pressure_tridiagonal_s_max"] == 0 < found["pressure_transpose_s_mean"], f"{key[0]}: {found}")
        need(found["backend"].startswith("sennit" if with_sennit(key) else "mpi"), f"{found}")


@test
def a_long_run_reports_the_time_left(arguments):
    """A run prints a line on stderr with the time left."""
    key = programs(arguments)[0]
    result = execute(arguments, key, 1, ["--cells", "32,32,32", "--steps", "2000", "--no-output", "--check-every", "5"])
    need(result.returncode == 0, result.stderr)
    need(re.search(r"flow: step \d+ of 2000, time .* ms a step, 0:00:\d\d left", result.stderr), result.stderr)


if __name__ == "__main__":
    sys.exit(harness.main())
