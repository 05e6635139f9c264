"""The calls that a run makes in its steps, from Sennit's trace."""
import collections
import json
import os
import tempfile


def calls_in(file):
    """How often each public function was called, on all ranks."""
    with open(file, encoding="utf-8") as text:
        events = json.load(text)
    return collections.Counter(event["name"] for event in events if event.get("ph") == "X" and event["name"].startswith("sennit_"))


def calls_of_steps(run, few, many):
    """{name: calls in a run of `many` steps minus calls in a run of `few`}, if they differ. Calls outside the steps are in both.
    `run(steps, environment)` makes a whole run."""
    counted = []
    with tempfile.TemporaryDirectory() as folder:
        for steps in (few, many):
            file = os.path.join(folder, f"{steps}.json")
            run(steps, {"SENNIT_TRACE": file})
            counted.append(calls_in(file))
    names = counted[0].keys() | counted[1].keys()
    return {name: counted[1][name] - counted[0][name] for name in names if counted[0][name] != counted[1][name]}
