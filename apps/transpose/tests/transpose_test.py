"""Tests of the programs of the transpose kernel and of their study: python3 transpose_test.py CASE --bin FOLDER [--ranks 1,2]"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "common", "tests"), os.path.join(HERE, "..", "study")]
import kernel_cases  # noqa: E402  pylint: disable=wrong-import-position
import study  # noqa: E402  pylint: disable=wrong-import-position
from kernel_cases import case, need  # noqa: E402  pylint: disable=wrong-import-position


@case
def every_program_gives_the_answer_of_the_suite(setup):
    """Breaks when a block goes to the wrong place, is added twice or not at all, or is added before the block of the previous
    step was used. No number of ranks divides 53 evenly."""
    for suffix in setup.programs():
        for ranks in setup.ranks:
            for order in (53, 200):
                row = setup.solve(suffix, ranks, ["--order", str(order), "--iterations", "20"])
                need(row["error"] == 0 and row["order"] == order and row["iterations"] == 20, f"{suffix} on {ranks}: {row}")


@case
def every_tile_and_chunk_gives_the_answer(setup):
    """Breaks when a tile or a message that does not divide a block loses the rest, or when a buffer is too small."""
    for suffix in setup.programs():
        for order, ranks in ((3, 3), (31, 2), (64, 3)):
            for tile in (1, 3, 16, 100):
                setup.solve(suffix, ranks, ["--order", str(order), "--tile", str(tile), "--iterations", "3"])
            if suffix not in ("-openmpi", "-mpich"):
                continue
            for chunk in (1, 100, 1000, 1 << 20):
                setup.solve(suffix, ranks, ["--order", str(order), "--chunk", str(chunk), "--iterations", "3"])


@case
def wrong_arguments_are_refused_with_a_reason(setup):
    """Breaks when a rank continues or waits, or when the reason is missing, or printed by every rank."""
    kernel_cases.refuse(setup, [
        (["--order", "0"], None, "--order"),
        (["--order", "x"], None, "--order"),
        (["--tile", "0"], None, "--tile"),
        (["--iterations", "0"], None, "--iterations"),
        (["--size", "5"], None, "--size"),
        (["--order", "2"], 3, "3 ranks cannot share 2 columns"),
    ])


if __name__ == "__main__":
    sys.exit(kernel_cases.main(study.KERNEL))
