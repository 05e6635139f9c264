"""Compares two reports, figure by figure. Called by report.py. docs/design/report.md describes the rule."""
import parts

KEY = ("part", "group", "series", "job", "ranks", "x")


def figures_by_key(report):
    return {tuple(one[name] for name in KEY): one for part in report["parts"] for one in parts.figures_of(part)}


def raw_of(figures, one):
    """The fastest raw limit of the same job, group and size, or None."""
    same = ("part", "group", "job", "ranks", "x")
    found = [other for other in figures.values() if other["raw"] and all(other[name] == one[name] for name in same)]
    return min(found, key=lambda other: other["median"], default=None)


def verdict(old, new, factor=1.0):
    """`factor`: the time of the bare machine now, relative to the old one."""
    if new["low"] > old["high"]:
        return "slower" if new["low"] > old["high"] * factor else "slower, as the machine is"
    if new["high"] < old["low"]:
        return "faster" if new["high"] < old["low"] * factor else "faster, as the machine is"
    return "within the noise"


def factor_of(old_raw, new_raw):
    """The ratio of the new raw limit to the old one; 1 if it has changed by less than its noise."""
    if old_raw is None or new_raw is None or verdict(old_raw, new_raw) == "within the noise":
        return 1.0
    return new_raw["median"] / old_raw["median"]


def compare(old_report, new_report):
    """{"rows": [...], "machine": the differences, or "", "counts": {verdict: number}}"""
    old, new = figures_by_key(old_report), figures_by_key(new_report)
    rows = []
    for key in dict.fromkeys([*new, *old]):
        row = dict(zip(KEY, key))
        if key not in old or key not in new:
            row.update(verdict="only in the old one" if key in old else "only in the new one", ratio=None, old=old.get(key), new=new.get(key))
        else:
            one, other = old[key], new[key]
            factor = 1.0 if other["raw"] else factor_of(raw_of(old, one), raw_of(new, other))
            row.update(verdict=verdict(one, other, factor), ratio=other["median"] / one["median"], old=one, new=other)
        rows.append(row)
    machines = [{name: report["machine"].get(name) for name in ("host", "processor", "cores")} for report in (old_report, new_report)]
    counts = {}
    for row in rows:
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    differs = "" if machines[0] == machines[1] else "; ".join(
        ", ".join(f"{name} {value}" for name, value in machine.items()) for machine in machines)
    return {"rows": rows, "machine": differs, "counts": counts, "date": old_report["date"]}
