#!/usr/bin/env python3
"""Kills front and keeper of `sennit run` at the same time while its ranks wait for each other.

    launcher_end_test.py SENNIT LATE_RANK

A shell stands between the keeper and each rank, so the kernel does not kill the ranks with their parent. Broken by a
wait that checks only the other ranks: they all live, so it would never end.
"""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from leftovers import Leftovers  # noqa: E402


def main():
    sennit, program = sys.argv[1:]
    with Leftovers() as watch:
        job = watch.start([sennit, "run", "-n", "2", "sh", "-c", f"'{program}' launcher_ends; true"], stdout=-1)
        for _ in range(2):
            assert job.stdout.readline(), "the job ended before its ranks were up"
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as file:
            (keeper,) = map(int, file.read().split())
        os.kill(keeper, signal.SIGSTOP)
        job.kill()
        os.kill(keeper, signal.SIGKILL)
        job.wait(10)
        left = watch.wait_until_clean(2.0)
        assert not left, f"after 2 s there are still {left}"


if __name__ == "__main__":
    main()
