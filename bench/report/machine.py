"""The machine in a report: names, versions, and hwloc's drawing. Called by report.py."""
import datetime
import json
import os
import platform
import shutil
import socket
import subprocess

import runs

LIMIT_S = 20


def output_of(words):
    """The output of a command; "" if it is not available."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def drawing():
    """An SVG image by hwloc's lstopo, without devices; "" if it is not installed."""
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    return output_of([program, "--no-io", "--no-legend", "--of", "svg", "-"]) if program else ""


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else ""


def versions(sennit):
    try:
        info = json.loads(output_of([sennit, "info", "--json"]) or "{}")
    except ValueError:
        info = {}
    found = {"Sennit": ", ".join(info["build"].values()) if "build" in info else first_line(output_of([sennit, "--version"])),
             "libfabric": str(info.get("network", {}).get("libfabric", "")),
             "Linux": platform.release(), "C library": " ".join(platform.libc_ver()), "Python": platform.python_version()}
    for mpi, words in (("Open MPI", ["mpirun.openmpi", "--version"]), ("MPICH", ["mpichversion"])):
        found[mpi] = first_line(output_of(words))
    return {name: text for name, text in found.items() if text}


def about(sennit):
    with open("/proc/meminfo", encoding="utf-8") as file:
        kib = int(next(line for line in file if line.startswith("MemTotal")).split()[1])
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": {"host": socket.gethostname(), "processor": runs.processor(), "cores": os.cpu_count(),
                        "usable": len(os.sched_getaffinity(0)), "memory_gib": round(kib / (1 << 20), 1),
                        "load": round(os.getloadavg()[0], 1)},
            "versions": versions(sennit), "topology": drawing()}
