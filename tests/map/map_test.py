#!/usr/bin/env python3
"""`sennit map` on this machine, with few rounds: the figures are not judged, but each must match its time.

    map_test.py SENNIT CASE [FOLDER-OF-THE-XPMEM-STUB, or the stub that is preloaded]
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SENNIT, STUB = sys.argv[1], "".join(sys.argv[3:])
LIMIT_S = 50
WAYS = ["mapped", "cma", "adopted", "threads"]
TINY = ["--bytes", "64K", "--bytes-at-once", "1M", "--rounds", "4", "--rounds-at-once", "3", "--seconds", "30"]


def run(*words, code=0, **environment):
    command = [SENNIT, "map", *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == code, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def cores(count):
    """The first `count` processors that this process may use; ends the test if there are fewer."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < count:
        print(f"{count} processors are wanted, {len(allowed)} are there")
        sys.exit(77)
    return allowed[:count]


def words_of(processors):
    return ["--cores", ",".join(map(str, processors)), *TINY]


def check(figure):
    assert 0 < figure["p5_ns"] <= figure["median_ns"] <= figure["p95_ns"] and figure["mean_ns"] > 0, figure
    if figure["map"] in ("pair", "at-once"):
        total = figure["bytes"] * figure.get("transfers", 1)
        assert abs(figure["gb_per_s"] - total / figure["mean_ns"]) < 1e-6 * figure["gb_per_s"], figure
        # No core moves 2 TB/s: a faster copy did not happen.
        assert total / figure["p5_ns"] < 2000 * figure.get("transfers", 1), figure


def figures(lines, part):
    return [line for line in lines if line["map"] == part]


def working_ways(lines):
    """A system may refuse a way, as containers do; then the output must say so."""
    refused = {line["what"] for line in lines if line["map"] == "left-out"}
    return [way for way in WAYS if way not in refused]


def every_pair_of_two_cores_is_measured_by_each_way():
    """Broken by a missing pair, way or number of transfers, by an image that is not XML, or by one that lacks a map."""
    two = cores(2)
    with tempfile.TemporaryDirectory() as folder:
        image, kept = os.path.join(folder, "map.svg"), os.path.join(folder, "map.json")
        lines = lines_of(run(*words_of(two), "--json", "--svg", image).stdout)
        with open(kept, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        drawn = run("--read", kept).stdout
        elements = list(xml.etree.ElementTree.parse(image).iter())
    ways = working_ways(lines)
    assert "mapped" in ways and lines[0]["map"] == "machine" and lines[-1]["ended"] == "complete", (ways, lines[-1])
    for line in lines:
        if "mean_ns" in line:
            check(line)
    pairs = [(x, y) for x in two for y in two]
    found = [(line["way"], line["from"], line["to"]) for line in figures(lines, "pair")]
    assert sorted(found) == sorted((way, *pair) for way in ways for pair in pairs), found
    assert {line["rounds"] for line in figures(lines, "pair")} <= {3, 4}, "more transfers than --rounds"
    apart = [(line["from"], line["to"]) for line in figures(lines, "flag")]
    assert sorted(apart) == [(two[0], two[1]), (two[1], two[0])], apart
    at_once = {(line["way"], line["transfers"], line["fresh"]) for line in figures(lines, "at-once")}
    at_once_ways = [way for way in ways if (way, 2, False) in at_once]
    assert "mapped" in at_once_ways and "threads" in at_once_ways, at_once
    assert at_once >= {(way, count, fresh) for way in at_once_ways for count in (1, 2) for fresh in (False, True)}, at_once
    setups = {line["way"] for line in figures(lines, "setup")}
    assert {"first-touch", "first-touch-file", "map"} <= setups, setups
    assert ("adopt" in setups) == ("adopted" in ways), setups
    sentences = lines[-1]["sentences"]
    assert sentences and re.search(r"GB/s at 64 KiB", sentences[0]), sentences
    for sentence in sentences:
        assert sentence in drawn, f"{sentence} is not in what --read draws"
    titles = [element.text for element in elements if element.tag.endswith("text")]
    for title in [f"{way}, 64 KiB: GB/s" for way in ways] + ["flag: ns for half a round trip"]:
        assert title in titles and title in drawn, f"{title} is drawn nowhere"


def a_map_of_one_core_is_complete():
    """Broken by a flag for which two ranks on one core wait in turn, or by transfers to a core that does not exist."""
    one = cores(1)
    lines = lines_of(run(*words_of(one), "--json").stdout)
    assert not figures(lines, "flag"), "a flag was bounced on one core"
    assert {(line["from"], line["to"]) for line in figures(lines, "pair")} == {(one[0], one[0])}
    assert {line["transfers"] for line in figures(lines, "at-once")} == {1}
    assert lines[-1]["sentences"][0].startswith(f"Core {one[0]} by itself: "), lines[-1]


# Two packages made up by hwloc; their cores are processors of this machine in turn.
SIXTEEN = {"LD_PRELOAD": STUB, "HWLOC_SYNTHETIC": "package:2 numa:1 l3:1 core:8 pu:1", "HWLOC_THISSYSTEM": "1"}


def a_map_of_sixteen_cores_is_complete():
    """Broken by a rank that does not find its transfer, by a missing pair or number of transfers, or by jobs that need a processor
    for each rank."""
    ways = ("mapped", "threads")
    words = ["--bytes", "64K", "--bytes-at-once", "64K", "--rounds", "3", "--rounds-at-once", "3", "--seconds", "40", "--ways", ",".join(ways)]
    lines = lines_of(run(*words, "--json", **SIXTEEN).stdout)
    assert [core["processor"] for core in lines[0]["cores"]] == list(range(16)), lines[0]
    assert lines[-1]["ended"] == "complete", lines[-1]
    found = {(line["way"], line["from"], line["to"]) for line in figures(lines, "pair")}
    assert found == {(way, x, y) for way in ways for x in range(16) for y in range(16)}, f"{len(found)} pairs"
    at_once = {(line["group"], line["way"], line["transfers"], line["fresh"]) for line in figures(lines, "at-once")}
    wanted = {(group, way, count, fresh) for group, most in (("within NUMA node 0", 8), ("across NUMA nodes 0 and 1", 16))
              for count in range(1, most + 1) for way in ways for fresh in (False, True)}
    assert at_once == wanted, wanted ^ at_once
    for line in lines:
        if "mean_ns" in line:
            check(line)
    near, far = lines[-1]["sentences"]
    assert near.startswith("Cores 0 and 1 share an L3: ") and far.startswith("Cores 0 and 8 are in different packages: "), (near, far)


def transfers_left_out_for_lack_of_time_are_named():
    """Broken by calling a map complete when only some numbers of transfers were measured."""
    words = ["--parts", "at-once", "--ways", "mapped", "--bytes-at-once", "64K", "--rounds-at-once", "3", "--seconds", "0.1"]
    lines = lines_of(run(*words, "--json", **SIXTEEN).stdout)
    measured = {(line["group"], line["transfers"]) for line in figures(lines, "at-once")}
    assert ("within NUMA node 0", 8) in measured and len(measured) < 24, measured
    left_out = {"map": "left-out", "what": f"{24 - len(measured)} numbers of transfers at once by mapped", "reason": "over the budget of time"}
    assert left_out in lines and lines[-1]["ended"] == "over the budget of time", lines


def a_sample_has_the_requested_pairs():
    lines = lines_of(run(*words_of(cores(2)), "--json", "--pairs", "3", "--parts", "pairs", "--ways", "mapped").stdout)
    assert len(figures(lines, "pair")) == 3 and lines[-1]["ended"] == "complete", lines[-1]
    assert not figures(lines, "at-once") and not figures(lines, "flag")


def an_interrupt_keeps_what_was_measured():
    """Broken by an end without the sentences about the figures, or with ranks that go on (which the test's watch finds)."""
    words = ["--cores", str(cores(1)[0]), "--bytes", "64K,64M", "--rounds", "2000", "--seconds", "1000", "--json"]
    with subprocess.Popen([SENNIT, "map", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        # The first size is measured soon; the second would take minutes.
        before = []
        while not figures(before, "pair"):
            before.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        after = lines_of(process.stdout.read())
        assert process.wait(timeout=LIMIT_S) == 130
    assert after[-1]["map"] == "end" and after[-1]["ended"] == "interrupted", after
    assert "GB/s at 64 KiB" in after[-1]["sentences"][0], after


def an_interrupt_between_two_jobs_keeps_what_was_measured():
    """Pairs are the first job, transfers at once the second. Broken by signals that are held only while a job runs."""
    for jobs, are_there in (("1", False), ("2", True)):
        words = [*words_of(cores(1)), "--ways", "mapped", "--json"]
        lines = lines_of(run(*words, code=130, LD_PRELOAD=STUB, SENNIT_TEST_INTERRUPT_AFTER=jobs).stdout)
        assert lines[-1]["map"] == "end" and lines[-1]["ended"] == "interrupted" and lines[-1]["sentences"], lines
        assert figures(lines, "pair") and bool(figures(lines, "at-once")) == are_there, lines


def on_terminal(words, **environment):
    """The output of `sennit map` on a new terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([SENNIT, "map", *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          env={**os.environ, **environment}) as process:
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # the end of a terminal
            pass
        assert process.wait(timeout=LIMIT_S) == 0, shown
    os.close(master)
    return shown.decode()


def a_terminal_gets_colours_and_the_time_left():
    words = [*words_of(cores(1)), "--ways", "mapped"]
    shown = on_terminal(words, TERM="xterm-256color")
    assert re.search(r"pair 1 of 1, \d:\d\d of the budget left", shown), shown
    assert "\x1b[48;5;" in shown, "no colours"
    assert "\x1b[48;5;" not in on_terminal(words, TERM="vt100"), "colours on a terminal without colours"
    assert "\x1b[48;5;" not in on_terminal(words, TERM="xterm-256color", NO_COLOR="1"), "colours against NO_COLOR"
    assert "left" not in run(*words).stderr, "progress without a terminal"


def xpmem_is_measured_if_it_is_there():
    """With a replacement for the library, and without one. Broken by a registration that silently uses another mechanism."""
    words = [*words_of(cores(1)), "--ways", "xpmem", "--json"]
    lines = lines_of(run(*words, LD_LIBRARY_PATH=STUB, XPMEM_STUB="works").stdout)
    assert {line["way"] for line in figures(lines, "pair")} == {"xpmem"}, lines
    assert {line["way"] for line in figures(lines, "setup")} == {"xpmem", "reach-xpmem"}, lines
    assert {line["way"] for line in figures(lines, "at-once")} == {"xpmem"}, lines
    if os.path.exists("/dev/xpmem"):
        return
    lines = lines_of(run(*words, code=1).stdout)
    left_out = figures(lines, "left-out")
    assert left_out and "xpmem" in left_out[0]["reason"] and not figures(lines, "pair"), lines


def wrong_arguments_and_other_machines_are_refused():
    for words in (["--cores", "99999"], ["--cores", "one"], ["--cores", ""], ["--cores", "-"], ["--bytes", "7"], ["--bytes-at-once", "2G"],
                  ["--ways", "knem"], ["--parts", "all"], ["--seconds", "0"], ["--rounds", "0"], ["--pairs", "-1"], ["--colour", "blue"],
                  ["--read", "/nowhere"], ["--json", "--read", __file__], ["--frobnicate"]):
        done = run(*words, code=2)
        assert done.stderr.startswith("sennit map: ") and not done.stdout, f"{words}: {done.stderr}"
    # Figures of a made-up machine are never used.
    done = run("--json", code=1, HWLOC_SYNTHETIC="package:2 core:4 pu:1")
    assert "nothing is measured" in done.stderr and not done.stdout, done
    assert "cannot be written" in run("--svg", "/nowhere/map.svg", code=1).stderr
    machine = {"map": "machine", "host": "", "model": "", "largest_cache": 0, "command": "", "seconds": 1,
               "cores": [dict.fromkeys(("processor", "core", "l2", "l3", "numa", "package"), 0)]}
    strange = dict.fromkeys(("bytes", "mean_ns", "median_ns", "p5_ns", "p95_ns", "rounds"), 8) | {
        "map": "pair", "way": "cma", "from": 0, "to": 7}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "broken.json")
        for text, told in (("", "there is no machine"), ("{}\n", ":1:"), ("words\n", ":1:"),
                           ('{"map":"pair","way":"cma"}\n', ":1:"), (f"{json.dumps(machine)}\n{json.dumps(strange)}\n", ":2:")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = run("--read", path, code=1)
            assert path in done.stderr and told in done.stderr, done.stderr


if __name__ == "__main__":
    globals()[sys.argv[2]]()
