"""Runs one case of cases_GROUP.py in a separate folder: case.py SENNIT RANK GROUP.CASE"""
import importlib
import os
import sys
import tempfile

from job import Job

if __name__ == "__main__":
    group, case = sys.argv[3].split(".")
    run = getattr(importlib.import_module(f"cases_{group}"), case)
    with tempfile.TemporaryDirectory(prefix="sennit-trace-") as folder:
        job = Job(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        os.chdir(folder)
        print(run.__doc__)
        run(job)
