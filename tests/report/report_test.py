#!/usr/bin/env python3
"""`sennit report`: report_test.py SENNIT CASE. Pages are made from made-up lines; the figures are not judged."""
import copy
import html.parser
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SENNIT = sys.argv[1]
SKIPPED = 77
LIMIT_S = 50


def run(*words, code=0, limit_s=LIMIT_S, **environment):
    done = subprocess.run([SENNIT, "report", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False,
                          env={**os.environ, **environment})
    if done.returncode == 1 and "Python has no" in done.stderr and "PYTHONPATH" not in environment:
        print(done.stderr)
        sys.exit(SKIPPED)
    assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def line(subject, median, size=8, spread=0.1):
    return {"bench": "notify", "subject": subject, "bytes": size, "ranks": 2, "median_ns": median, "p5_ns": median * (1 - spread),
            "p95_ns": median * (1 + spread), "rounds": 20, "ratio_to_raw": 1.0, "job": "openmpi"}


def part(name, rows, command="sennit bench notify --json", state="complete", reason=""):
    return {"name": name, "commands": [command], "state": state, "reason": reason, "seconds": 1.0, "lines": rows}


def made_up():
    rows = [line(subject, median * size, size) for size in (8, 1024) for subject, median in
            (("raw-store-add", 100.0), ("sennit-put-notify", 120.0), ("openmpi-sendrecv", 200.0), ("openmpi-fence", 900.0))]
    copied = {"map": "at-once", "way": "mapped", "from": 0, "to": 1, "bytes": 1 << 20, "transfers": 2, "group": "within package 0", "fresh": False,
              "gb_per_s": 21.0, "median_ns": 1e5, "p5_ns": 9e4, "p95_ns": 1.1e5}
    mapped = [copied, {**copied, "way": "cma", "gb_per_s": 7.0, "median_ns": 3e5, "p5_ns": 2.9e5, "p95_ns": 3.1e5}]
    pairs = [{**copied, "map": "pair", "from": x, "to": y, "gb_per_s": 10.0 + 10 * x + y} for x in (0, 1) for y in (0, 1)]
    flags = [{**copied, "map": "flag", "way": "flag", "from": x, "to": 1 - x, "bytes": 0, "gb_per_s": None, "median_ns": 30.0 + x} for x in (0, 1)]
    return {"report": 1, "kind": "quick", "command": "sennit report", "date": "2026-01-01T00:00:00+00:00", "ended": "failed",
            "machine": {"host": "made <up>", "processor": "none", "cores": 2, "usable": 2, "memory_gib": 1.0, "load": 0.0},
            "versions": {"Sennit": "0"}, "topology": "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
            "parts": [part("notify", rows), part("map", [*pairs, *flags, *mapped], "sennit map --json"),
                      part("kernels", [], "python3 apps/kernels/compare.py", "left out", "the program kernels is not beside sennit")]}


def pages_of(report, old=None):
    """(page, written report), as --read makes them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, content in (("new", report), ("old", old)):
            paths[name] = os.path.join(folder, name + ".json")
            with open(paths[name], "w", encoding="utf-8") as file:
                json.dump(content, file)
        out = os.path.join(folder, "out")
        run("--read", paths["new"], "--out", out, *(["--compare", paths["old"]] if old else []))
        with open(out + ".html", encoding="utf-8") as page, open(out + ".json", encoding="utf-8") as again:
            return page.read(), json.load(again)


class Elements(html.parser.HTMLParser):
    """Tags, addresses of loaded resources, and the text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.loaded, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data") and not value.startswith(("#", "data:"))]

    def handle_data(self, data):
        self.text += data


def a_page_is_made_of_recorded_lines_and_loads_nothing():
    """Broken by a page that needs a file or a network, or by text of the JSON that becomes markup."""
    page, _ = pages_of(made_up())
    found = Elements(page)
    assert not found.loaded and not {"script", "link", "iframe"} & set(found.tags), (found.loaded, set(found.tags))
    assert not re.search(r"@import|url\((?!#)", page), "a style that loads something"
    assert found.tags.count("svg") == 4 and "made <up>" in found.text, found.tags
    assert "width=device-width" in page and "@media print" in page


def every_part_has_its_command_and_units():
    text = Elements(pages_of(made_up())[0]).text
    for wanted in ("sennit bench notify --json", "sennit map --json", "python3 apps/kernels/compare.py", "size", "1 KiB", "time, ns",
                   "960 ns", "864 ns to 1.06 µs", "1.20 ×", "UNR (Feng et al. 2024)", "less time than the best one-sided way in 2 of 2",
                   "3.00 (21.0 and 7.0 GB/s)", "Grace 2.64, Sapphire Rapids 1.77", "left out, the program kernels is not beside sennit", "Not all was measured: failed"):
        assert wanted in text, f"{wanted} is not in the page"


def the_map_of_a_page_has_a_heat_map_of_each_way_and_curves():
    """Broken by a pair of cores that is not drawn, or by an axis without a name."""
    text = Elements(pages_of(made_up())[0]).text
    for wanted in ("mapped: copy of 1 MiB, one pair at a time", "flag: half a round trip of a word", "transfers of 1 MiB at once, within package 0",
                   "from core", "to core", "half a round trip, ns", "total, GB/s", "transfers at once", "11.0 to 20.0 GB/s over the pairs"):
        assert wanted in text, f"{wanted} is not in the page"
    values = re.findall(r"^\s*(\d+)\s*$", text, re.MULTILINE)
    assert {"10", "11", "20", "21", "30", "31"} <= set(values), values


def the_map_of_a_page_shows_where_nodes_and_caches_end():
    """hwloc's order is 0, 2, 1, 3: a cache ends after each core, a NUMA node after the second. Broken by cores in numerical
    order, where each core is on another NUMA node than the next."""
    report = made_up()
    machine = {"map": "machine", "cores": [{"processor": at, "core": at, "l2": at, "l3": at, "numa": at % 2, "package": 0} for at in (0, 2, 1, 3)]}
    first = next(one for one in report["parts"][1]["lines"] if one["map"] == "pair")
    report["parts"] = [part("map", [machine, *({**first, "from": x, "to": y} for x in range(4) for y in range(4))], "sennit map --json")]
    page, _ = pages_of(report)
    for width, count in (("2.5", 2), ("0.75", 4)):  # a vertical and a horizontal line
        found = re.findall(rf'stroke: #ffffff; stroke-width: {width}[;"]', page)
        assert len(found) == count, (width, len(found))


def job(library, version, latency, kernel="daxpy", hosts=0):
    return {"kernel": kernel, "library": library, "version": version, "hosts": hosts, "ranks": 2, "latency_us": latency}


def each_claim_about_the_kernels_has_a_figure():
    """Broken by a ratio to another version than the fastest of its kind, or by a missing claim."""
    rows = [job(*words, latency * noise) for *words, latency in (
        ("sennit", "sennit", 60.0), ("sennit", "sennit-pipelined", 50.0), ("sennit-shmem", "shmem-async", 80.0), ("openmpi", "mpi", 200.0),
        ("openmpi", "rma", 400.0), ("openmpi", "rma-put", 125.0), ("mpich", "mpi", 100.0)) for noise in (0.9, 1.0, 1.2)]
    rows += [job("sennit", "sennit", 110.0, "sort", 2), job("openmpi", "mpi", 100.0, "sort", 2)]
    report = made_up()
    report["parts"] = [part("kernels", rows, "python3 apps/kernels/compare.py")]
    text = Elements(pages_of(report)[0]).text
    for claim, paper, here in (("daxpy: latency of the pipelined version to MPI RMA; 2 ranks", "below −15 %", "Sennit −60 %, Sennit's OpenSHMEM −36 %"),
                               ("daxpy: latency of the pipelined version to MPI; 2 ranks", "below −30 %", "Sennit −50 %, Sennit's OpenSHMEM −20 %"),
                               ("daxpy: latency of the plain version to the pipelined one; 2 ranks", "−1 %, 320 nodes", "Sennit +20 %"),
                               ("daxpy: throughput of the faster version to MPI; 2 ranks", "+105 % (Bridges-2)", "Sennit +100 %, Sennit's OpenSHMEM +25 %"),
                               ("sort: latency of each interface over the fastest one; 2 ranks on 2 hosts", "all within 5 %", "MPI +0 %, Sennit +10 %")):
        row = text[text.index(claim):][:400]
        assert paper in row and here in row, (claim, row)


def every_loss_is_listed_with_its_spread():
    """Broken by a page of results that names no loss, or that calls noise a difference."""
    import_report_modules()
    import claims  # pylint: disable=import-outside-toplevel,import-error
    import parts  # pylint: disable=import-outside-toplevel,import-error
    for ours, told in ((99.0, ()), (109.0, ("sennit sennit +9 %", "within the spread")), (120.0, ("sennit sennit +20 %", "beyond the spread of both"))):
        rows = [job(*words, latency * noise) for *words, latency in (("sennit", "sennit", ours), ("mpich", "rma", 100.0)) for noise in (0.95, 1.0, 1.05)]
        lost = claims.losses(parts.figures_of(part("kernels", rows)))
        assert lost == ([("daxpy, 2 ranks", "mpich rma", *told)] if told else []), lost


def the_json_reads_back():
    report = made_up()
    assert pages_of(report)[1] == report
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        for content in ("", "{}", "[]", "words", json.dumps({**report, "report": 2}), json.dumps({**report, "parts": [part("nothing", [])]})):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            done = run("--read", path, "--out", os.path.join(folder, "o"), code=1)
            assert f"{path} is no report" in done.stderr and "Traceback" not in done.stderr, done.stderr


def import_report_modules():
    sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", *place) for place in
                    (("bench", "report"), ("bench", "study"))]


def verdicts(old, new):
    import_report_modules()
    import comparison  # pylint: disable=import-outside-toplevel,import-error
    return comparison.compare(old, new)


def with_times(**medians):
    report = made_up()
    report["parts"] = [part("notify", [line(subject.replace("_", "-"), median) for subject, median in medians.items()])]
    return report


def a_figure_is_slower_only_beyond_the_noise():
    """Intervals of 10 % to both sides. Broken by a mark where they overlap, or by taking a slower machine for a slower Sennit."""
    old = with_times(raw_store_add=100, sennit_put_notify=200)
    for raw, ours, wanted in ((100, 200, "within the noise"), (100, 240, "within the noise"), (100, 250, "slower"), (100, 150, "faster"),
                              (100, 165, "within the noise"), (200, 400, "slower, as the machine is"), (200, 600, "slower"),
                              (50, 100, "faster, as the machine is"), (50, 200, "within the noise"), (115, 250, "slower")):
        rows = verdicts(old, with_times(raw_store_add=raw, sennit_put_notify=ours))["rows"]
        found = next(row["verdict"] for row in rows if row["series"] == "sennit-put-notify")
        assert found == wanted, (raw, ours, found, wanted)
    page, _ = pages_of(with_times(raw_store_add=100, sennit_put_notify=250), old)
    assert "1 slower, 1 within the noise" in page and 'class="slower"' in page


def another_machine_and_missing_figures_are_named():
    old, new = with_times(raw_store_add=100, sennit_put_notify=200), with_times(raw_store_add=100, openmpi_fence=200)
    assert verdicts(old, copy.deepcopy(old))["machine"] == ""
    new["machine"]["cores"] = 4
    text = Elements(pages_of(new, old)[0]).text
    for wanted in ("1 only in the old one, 1 only in the new one, 1 within the noise", "The machines differ", "cores 4"):
        assert wanted in text, f"{wanted} is not in the page"


def wrong_arguments_are_refused():
    for words in (["--frobnicate"], ["--quick", "--full"], ["--parts", "nothing"], ["--minutes", "0"], ["--read", "/nowhere"], ["--compare", "/nowhere"]):
        done = run(*words, code=2)
        assert done.stderr.startswith("sennit report: ") and not done.stdout and len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot be written" in run("--out", "/nowhere/report", code=1).stderr


def a_missing_module_is_one_line():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "matplotlib.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError\n")
        done = run("--parts", "map", "--out", os.path.join(folder, "o"), code=1, PYTHONPATH=folder)
    assert "matplotlib" in done.stderr and "apt-get install" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def the_help_names_every_part():
    named = re.search(r'there are (.*)', run("--parts", "?", code=2).stderr)[1].split(", ")
    text = run("--help").stdout
    section = text[text.index("Parts\n"):text.index("Comparison\n")]
    assert len(named) > 8 and not [name for name in named if not re.search(rf"\b{name}\b", section)], (named, section)


def an_interrupt_keeps_what_was_measured():
    """Broken by a page that is not written, or by ranks that go on (which the watch of the test finds)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "r")
        with subprocess.Popen([SENNIT, "report", "--parts", "map,notify", "--out", out], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            first = process.stderr.readline()
            if "Python has no" in first:
                sys.exit(SKIPPED)
            told = re.fullmatch(r"sennit report: 2 parts, about 0:(\d\d) minutes, 1:48 at most\n", first)
            assert told and 5 < int(told[1]) < 60, first
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            assert process.wait(timeout=LIMIT_S) == 130
        with open(out + ".json", encoding="utf-8") as file:
            report = json.load(file)
        assert report["ended"] == "interrupted" and report["parts"][0]["state"] == "interrupted" and report["parts"][0]["lines"], report
        assert report["parts"][1]["state"] == "interrupted" and os.path.getsize(out + ".html") > 5000


def the_applications_run_in_a_report():
    """Broken by a command of a part that its program refuses, or by lines that are not read."""
    import_report_modules()
    import parts  # pylint: disable=import-outside-toplevel,import-error
    with tempfile.TemporaryDirectory() as folder:
        run("--parts", "kernels,heat3d,flow", "--out", os.path.join(folder, "r"), limit_s=170)
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
    for one in report["parts"]:
        assert one["state"] == "complete", (one["name"], one["state"], one["reason"])
        found = parts.figures_of(one)
        assert any(figure["series"].lower().startswith("sennit") for figure in found) and len(found) > 4, found
        assert "not measured" not in str(parts.answers_of(one["name"], found)[0][2]), one["name"]


def quick_ends_in_its_time():
    """Two minutes including the page, with no part cut short."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        run("--out", os.path.join(folder, "r"), limit_s=150)
        assert time.monotonic() - started < 120
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
        states = {one["name"]: one["state"] for one in report["parts"]}
        assert set(states.values()) == {"complete"} and len(states) > 12, states


if __name__ == "__main__":
    globals()[sys.argv[2]]()
