"""Starts jobs for the cases, and checks the rules for every trace."""
import json
import math
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
        """Output and messages of a command that must end with `code`."""
        process = self.start(command, **knobs)
        out, messages = process.communicate(timeout=50)
        assert process.returncode == code, f"{command}: {process.returncode}\n{out}\n{messages}"
        return out, messages

    def ranks(self, count, *words, options=()):
        return [self.sennit, "run", "-n", str(count), "--timeout", "40", *options, self.rank, *map(str, words)]


# The format's rules for the events that Sennit writes, by phase (Trace Event Format, "Event Descriptions"): X is a complete
# event, B the begin of an event that has not ended, M describes a process.
NUMBER, TEXT, OBJECT = (int, float), (str,), (dict,)
EVERY = {"name": TEXT, "ph": TEXT, "pid": (int,), "tid": (int,), "args": OBJECT}
FIELDS = {"X": {**EVERY, "cat": TEXT, "ts": NUMBER, "dur": NUMBER}, "B": {**EVERY, "cat": TEXT, "ts": NUMBER}, "M": EVERY}
METADATA = {"process_name": ("name", str), "process_labels": ("labels", str), "process_sort_index": ("sort_index", int)}


def strict_json(text):
    """Parses JSON as viewers do: numbers are finite, and a name occurs once in an object."""
    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), f"a name is there twice: {pairs}"
        return dict(pairs)

    def refuse(word):
        raise AssertionError(f"{word} is no number of JSON")
    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


def check_metadata(events):
    """Every lane belongs to a process that has its name, its labels and its sort index, once each."""
    told = defaultdict(list)
    for event in events:
        if event["ph"] == "M" and event["name"] in METADATA:
            key, kind = METADATA[event["name"]]
            assert isinstance(event["args"].get(key), kind), event
            told[event["pid"]].append(event["name"])
    for process in {event["pid"] for event in events if event["ph"] != "M"}:
        assert sorted(told[process]) == sorted(METADATA), f"process {process}: {told[process]}"


def check_format(events):
    """Checks field by field that viewers of the format accept the events. Complete events may be in any order; events that begin
    and do not end must ascend within a lane, and later events of the lane lie inside them."""
    assert isinstance(events, list), type(events)
    begun = defaultdict(list)
    for event in events:
        fields = FIELDS[event["ph"]]
        for field, kinds in fields.items():
            assert type(event.get(field)) in kinds, f"{field} of {event}"
        assert event["name"] and event.get("cat", "x"), event
        assert min(event["pid"], event["tid"], event.get("ts", 0), event.get("dur", 0)) >= 0, event
        assert set(event) == set(fields), f"fields that {event['ph']} does not have: {event}"
        if event["ph"] == "B":
            begun[event["pid"], event["tid"]].append(event["ts"])
    for lane, times in begun.items():
        assert times == sorted(times), f"begun in lane {lane}: {times}"
    check_metadata(events)
    for process in {event["pid"] for event in events}:
        check_nesting([event for event in events if event["pid"] == process and event["ph"] != "M"])


def events_of(name):
    """{rank: its events} of a file, which must have the format."""
    with open(name, encoding="utf-8") as file:
        events = strict_json(file.read())
    check_format(events)
    found = defaultdict(list)
    for event in events:
        if event["ph"] != "M":
            found[event["pid"]].append(event)
    return found


def end_ns(event):
    return round((event["ts"] + event["dur"]) * 1000) if event["ph"] == "X" else math.inf


def start_ns(event):
    return round(event["ts"] * 1000)


def check_nesting(events):
    """Events of one lane lie inside one another or are disjoint. Returns pairs (inner, outer); outer is None if there is none."""
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
    """The names of the calls in the order in which they began, which is the program's order."""
    return [one["name"] for one in sorted(events, key=start_ns) if one["name"].startswith("sennit_")]
