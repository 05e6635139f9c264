"""Selects and compares lines of `sennit bench --json`. Called by the pages of results and by report.py."""

TWO_SIDED = ("sendrecv", "persistent")


def is_raw(row):
    return row["subject"].startswith("raw-")


def is_ours(row):
    return row["subject"].startswith("sennit-")


def bench_of(rows, bench):
    return [row for row in rows if row["bench"] == bench]


def sizes_of(rows):
    return sorted({row["bytes"] for row in rows})


def pick(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def least(rows):
    """The fastest of some rows, or None."""
    return min(rows, key=lambda row: row["median_ns"], default=None)


def way_of(row):
    return row["subject"].split("-", 1)[1]


def one_message(rows, job, size, ours):
    """The results of one job for a size: the raw limit, Sennit, and the best two-sided and one-sided schemes of its MPI."""
    here = pick(rows, job=job, bytes=size)
    theirs = [row for row in here if not is_raw(row) and not is_ours(row)]
    return {"raw": least([row for row in here if is_raw(row)]), "sennit": least(pick(here, subject=ours)),
            "two": least([row for row in theirs if way_of(row) in TWO_SIDED]),
            "one": least([row for row in theirs if way_of(row) not in TWO_SIDED])}
