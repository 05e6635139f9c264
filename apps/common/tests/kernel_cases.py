"""The code that the tests of the Parallel Research Kernels share: it finds every program of a kernel, starts it as users do,
and has the cases that are the same for all kernels.

A test file registers its own cases with @case and calls main(); ctest starts one case at a time.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile

import harness
from harness import need, runs

import kernels  # harness adds the folder of this module to the search path

KERNEL = []  # the kernel that was passed to main()


def case(function):
    """Registers a test that receives a Setup."""
    @functools.wraps(function)
    def with_setup(arguments):
        function(Setup(KERNEL[0], arguments))
    harness.test(with_setup)
    return function


class Setup:
    """The programs of one kernel. `ranks`: the numbers of ranks that the cases use."""

    def __init__(self, kernel, arguments):
        self.kernel, self.arguments, self.bin = kernel, arguments, arguments.bin
        self.ranks = [int(word) for word in arguments.ranks.split(",")]

    def programs(self):
        """The suffixes of all programs that exist. Fails if the program with Sennit or the serial one, which need no
        other library, or a program that CMake expects is missing."""
        found = [suffix for suffix in kernels.PROGRAMS if kernels.words_of(self.kernel, suffix, 1, self.arguments)]
        need(kernels.BASE in found and kernels.SERIAL in found, f"{self.kernel.name} is not in {self.bin}")
        harness.need_all(self.arguments, [self.kernel.name + suffix for suffix in found])
        return found

    def execute(self, suffix, ranks, options):
        words, environment = kernels.words_of(self.kernel, suffix, ranks, self.arguments)
        return harness.execute([*words, *options], environment)

    def solve(self, suffix, ranks, options):
        """The result of a run that must succeed."""
        name = f"{self.kernel.name}{suffix} on {ranks} {options}"
        result = self.execute(suffix, ranks, [*options, "--json"])
        need(result.returncode == 0, f"{name}: {result.returncode}\n{result.stderr}")
        lines = result.stdout.splitlines()
        need(len(lines) == 1, f"{name}: {len(lines)} lines instead of one:\n{result.stdout}")
        row = json.loads(lines[0])
        if suffix == kernels.SERIAL:
            need(row["ranks"] == 1 and row["threads"] == 1, f"{name}: {row}")
        else:
            need(row["ranks"] * row["threads"] == ranks, f"{name}: {row}")
        need(row["loop_s"] > 0 and row[self.kernel.rate_key] > 0, f"{name}: {row}")
        return row


@case
def a_wrong_answer_ends_every_program_with_1(setup):
    """Breaks when the check looks at too little, or when its result does not become the exit status."""
    for suffix in setup.programs():
        for ranks in setup.ranks:
            result = setup.execute(suffix, ranks, [setup.kernel.size_option, "29", "--iterations", "3", "--spoil", "--json"])
            name = f"{setup.kernel.name}{suffix} on {ranks}"
            need(result.returncode == 1, f"{name}: {result.returncode}\n{result.stdout}{result.stderr}")
            need(result.stderr.count("the answer is wrong") == 1, f"{name}:\n{result.stderr}")
            need("rate" not in result.stdout, f"{name} gives a rate of a wrong answer:\n{result.stdout}")


def is_of_an_mpi(suffix):
    return suffix.endswith(("-openmpi", "-mpich"))


def refuse(setup, table):
    """`table`: (options, ranks or None for any program, the text of the message). Every program refuses the options and
    says why once. One function reads the options of all programs, so a program with MPI, which starts slowly, gets only
    the first row and the rows with ranks."""
    for suffix in setup.programs():
        for number, (options, ranks, expected) in enumerate(table):
            if ranks is not None and suffix in kernels.WITHOUT_RANKS:
                continue
            if ranks is None and number > 0 and is_of_an_mpi(suffix):
                continue
            result = setup.execute(suffix, ranks or 2, options)
            name = f"{setup.kernel.name}{suffix} {options}"
            need(result.returncode != 0 and result.stdout == "", f"{name}: {result.returncode}\n{result.stdout}")
            need(result.stderr.count(expected) == 1, f"{name}: '{expected}' is not there once:\n{result.stderr}")
        result = setup.execute(suffix, 2, ["--help"])
        need(result.returncode == 0 and result.stdout.count("--iterations") == 1, f"help of {suffix}:\n{result.stdout}")


@case
def the_study_runs_and_writes_its_page(setup):
    """Breaks when the driver, the plots or the page do not understand what a program writes."""
    study = os.path.join(setup.kernel.folder, "study")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, os.path.join(study, "all.py"), "--quick", "--bin", setup.bin, "--out", folder],
                             capture_output=True, text=True, check=False, timeout=180)
        need(run.returncode == 0, f"all.py: {run.returncode}\n{run.stdout}{run.stderr}")
        head, rows = runs.read_lines(os.path.join(folder, kernels.SIZES_FILE))
        need(folder not in head["command"] and setup.bin not in head["command"], f"{head}")
        rates = [row for row in rows if "rate" in row]
        need(len(rates) == 2 * len(setup.programs()), f"not every program was measured: {rows}")
        need(all(row["rate_range"][0] <= row["rate"] <= row["rate_range"][1] for row in rates), f"{rates}")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            page = file.read()
        need(f"({kernels.SIZES_PLOT})" in page and head["command"] in page, page)
        check = subprocess.run([sys.executable, os.path.join(study, "page.py"), "--check", folder], check=False)
        need(check.returncode == 0, "the page is not what page.py makes of its files")
        if "the plots are left out" in run.stderr:
            raise harness.Skipped("everything but the plots was run: matplotlib is not there (Debian: python3-matplotlib)")
        for plot in (kernels.SIZES_PLOT, kernels.RANKS_PLOT):
            with open(os.path.join(folder, plot), "rb") as file:
                start = file.read(24)
            need(start[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(start[16:20], "big") >= 800, f"{plot} is no picture")


@case
def the_results_page_matches_its_files(setup):
    """Breaks when the page was edited by hand, or was not written again after a measurement."""
    run = subprocess.run([sys.executable, os.path.join(setup.kernel.folder, "study", "page.py"), "--check"],
                         capture_output=True, text=True, check=False)
    need(run.returncode == 0, run.stdout + run.stderr)
    if "nothing was measured yet" in run.stdout:
        raise harness.Skipped(run.stdout.strip())


def main(kernel):
    KERNEL.append(kernel)
    return harness.main()
