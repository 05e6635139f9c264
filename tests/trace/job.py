"""Starting jobs for the cases, and what every trace must keep."""
import json
import os
import subprocess
from collections import defaultdict


class Job:
    def __init__(self, sennit, rank, folder):
        self.sennit, self.rank, self.folder = sennit, rank, folder

    def start(self, command, **knobs):
        environment = {**os.environ, **{f"SENNIT_{name}": value for name, value in knobs.items()}}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, command, code=0, **knobs):
        """Output and messages of a command that ends with `code`."""
        process = self.start(command, **knobs)
        out, messages = process.communicate(timeout=50)
        assert process.returncode == code, f"{command}: {process.returncode}\n{out}\n{messages}"
        return out, messages

    def ranks(self, count, *words, options=()):
        return [self.sennit, "run", "-n", str(count), "--timeout", "40", *options, self.rank, *map(str, words)]


def events_of(name):
    """{rank: its events}, of a file that must be JSON."""
    with open(name, encoding="utf-8") as file:
        events = json.load(file)
    found = defaultdict(list)
    for event in events:
        assert event["ph"] in "MXB", event
        if event["ph"] != "M":
            found[event["pid"]].append(event)
    return found


def end_ns(event):
    return round((event["ts"] + event["dur"]) * 1000)


def start_ns(event):
    return round(event["ts"] * 1000)


def check_nesting(events):
    """Events of one lane lie inside one another or apart. Gives the pairs (inner, outer), outer None if there is none."""
    pairs = []
    lanes = defaultdict(list)
    for event in events:
        lanes[event["tid"]].append(event)
    for lane in lanes.values():
        open_events = []
        for event in sorted(lane, key=lambda one: (start_ns(one), -end_ns(one))):
            while open_events and end_ns(open_events[-1]) <= start_ns(event):
                open_events.pop()
            outer = open_events[-1] if open_events else None
            assert outer is None or end_ns(event) <= end_ns(outer), f"{event} leaves {outer}"
            pairs.append((event, outer))
            open_events.append(event)
    return pairs


def calls_of(events):
    """Names of the calls in the order in which they began, as the program made them."""
    return [one["name"] for one in sorted(events, key=start_ns) if one["name"].startswith("sennit_")]
