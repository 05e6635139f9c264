"""Tests of the programs of the stencil kernel and of their study: python3 stencil_test.py CASE --bin FOLDER [--ranks 1,2]"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "common", "tests"), os.path.join(HERE, "..", "study")]
import kernel_cases  # noqa: E402  pylint: disable=wrong-import-position
import study  # noqa: E402  pylint: disable=wrong-import-position
from kernel_cases import case, need  # noqa: E402  pylint: disable=wrong-import-position


def solve(setup, suffix, ranks, options, iterations):
    row = setup.solve(suffix, ranks, [*options, "--iterations", str(iterations)])
    # The programs check the value themselves; the test checks that they expect the right value.
    need(abs(row["norm"] - 2 * (iterations + 1)) < 1e-7 and row["deviation"] < 1e-7, f"{suffix} on {ranks}: {row}")
    return row


@case
def every_program_gives_the_answer_of_the_suite(setup):
    """Breaks when an edge comes from the wrong place, too early or too late, or when a share is wrong. No number of ranks
    divides 53 evenly."""
    for suffix in setup.programs():
        for ranks in setup.ranks:
            for size in (53, 200):
                row = solve(setup, suffix, ranks, ["--size", str(size)], 20)
                need(row["size"] == size and row["iterations"] == 20, f"{row}")


@case
def every_grid_of_ranks_and_radius_gives_the_answer(setup):
    """Breaks when columns or rows of one side are mixed up, or when a radius other than 2 fails. 37 cells cut by 8 leave
    4 or 5, fewer than twice a radius of 4."""
    for suffix in setup.programs():
        if suffix in kernel_cases.kernels.WITHOUT_RANKS:
            continue
        for turn, (ranks, along_x) in enumerate(((2, 2), (2, 1), (4, 4), (4, 2), (6, 3), (8, 8), (8, 2))):
            # With an MPI and more ranks than processors a run takes a second, so only one radius each.
            few = ranks > 2 and kernel_cases.is_of_an_mpi(suffix)
            for radius in ((1, 4)[turn % 2],) if few else (1, 4):
                row = solve(setup, suffix, ranks, ["--size", "37", "--radius", str(radius), "--ranks-x", str(along_x)], 12)
                if "way" in row:
                    solve(setup, suffix, ranks, ["--size", "37", "--radius", str(radius), "--ranks-x", str(along_x), "--way",
                                                 "inplace"], 12)
                need(row["ranks_x"] == along_x and row["ranks_y"] == ranks // along_x, f"{row}")


@case
def wrong_arguments_are_refused_with_a_reason(setup):
    """Breaks when a rank continues or waits, or when the reason is missing, or printed by every rank."""
    kernel_cases.refuse(setup, [
        (["--size", "0"], None, "--size"),
        (["--size", "x"], None, "--size"),
        (["--radius", "5"], None, "--radius"),
        (["--iterations", "0"], None, "--iterations"),
        (["--cells", "5"], None, "--cells"),
        (["--size", "8", "--radius", "4"], None, "the size must be at least 9"),
        (["--size", "5"], 3, "3 ranks along an axis leave fewer than 2 of 5 cells to some"),
        (["--ranks-x", "3"], 2, "a grid of 3 x 0 ranks was asked for, but there are 2"),
        (["--ranks-x", "2"], 3, "a grid of 2 x 1 ranks was asked for, but there are 3"),
    ])


if __name__ == "__main__":
    sys.exit(kernel_cases.main(study.KERNEL))
