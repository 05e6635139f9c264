#!/usr/bin/env python3
"""Figure 12: the halo with Sennit, with MPI RMA that distinguishes the node by hand, and with flat MPI RMA; all
blocking.

    python3 apps/heat3d/study/versions.py [--ranks 2,4,8] [--realtime] [--out docs/results/heat3d] [--lines]

Writes versions.jsonl, with the lines of code of each version. MPI send and receive, Sennit's plain pointers and its
notified puts are measured beside them. 32 x 32 x 32 cells per rank, as in scaling.py. With --lines it measures
nothing, and only replaces the counts of lines in the existing file.
"""
import os

import jobs
import scaling

FILE = "versions.jsonl"


def subjects_of(layers):
    found = [jobs.Subject("blocking", layers)]
    for mpi in jobs.LAUNCHERS:
        found += [jobs.Subject("rma-shared", layers, mpi), jobs.Subject("rma-blocking", layers, mpi),
                  jobs.Subject("rma-blocking", f"{layers}-allocated", mpi)]
        if layers == "whole":
            found += [jobs.Subject("sendrecv", "cells", mpi), jobs.Subject("sendrecv", "datatype", mpi)]
    if layers == "whole":
        found += [jobs.Subject("pointers", "copy"), jobs.Subject("notified", "plan"), jobs.Subject("notified", "packed")]
    return found


def rows(arguments, command):
    yield jobs.head_of("12", command, arguments.realtime)
    yield {"lines": jobs.lines_of_code()}
    for layers in arguments.layers.split(","):
        for ranks in map(int, arguments.ranks.split(",")):
            for record in jobs.compare(subjects_of(layers), ranks, scaling.options_of("blocking", ranks), arguments):
                yield {**record, "group": layers}


def recorded_lines(folder):
    """{way: lines} as counted when the file was written."""
    return next(row["lines"] for row in jobs.read_lines(os.path.join(folder, FILE))[1] if "lines" in row)


def count_anew(path):
    head, measured = jobs.read_lines(path)
    jobs.write_lines(path, [head, *({"lines": jobs.lines_of_code()} if "lines" in row else row for row in measured)])


def main():
    parser = jobs.parser_of(__doc__, 7)
    jobs.add_run_options(parser, "2,4,8")
    parser.add_argument("--layers", default="pieces,whole", help="how layers are fetched (pieces,whole)")
    parser.add_argument("--lines", action="store_true", help="count lines anew, measure nothing")
    arguments = parser.parse_args()
    path = os.path.join(arguments.out, FILE)
    if arguments.lines:
        count_anew(path)
    else:
        jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
