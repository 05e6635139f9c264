"""Traces: their contents, the consistency of their times, and their survival after a rank's death."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from job import calls_of, check_format, check_nesting, end_ns, events_of, start_ns, strict_json

# The line of a rank in no call.
BETWEEN = re.compile(r"rank \d \(process \d+ on .*\): in no call(?: for \d+\.\d{3} s, after (sennit_\w+))?")
PUTS = ["sennit_put", "sennit_get", "sennit_put_nb", "sennit_test", "sennit_wait", "sennit_get_nbi", "sennit_put_strided",
        "sennit_get_indexed", "sennit_flush", "sennit_fence"]
ATOMICS = ["sennit_atomic_fetch_add_i64", "sennit_atomic_set_i64", "sennit_atomic_compare_swap_i64", "sennit_accumulate"]
REST = ["sennit_lock_create", "sennit_lock_acquire", "sennit_lock_release", "sennit_barrier", "sennit_lock_destroy",
        "sennit_team_split", "sennit_team_destroy", "sennit_broadcast", "sennit_barrier_nb", "sennit_wait_all"]
SIGNALS = ["sennit_signal_create", "sennit_block_init", "sennit_allgather", "sennit_block_attach", "sennit_put_notify",
           "sennit_signal_wait", "sennit_signal_reset", "sennit_barrier"]
PLANS = ["sennit_plan_create", "sennit_plan_put", "sennit_plan_commit", "sennit_plan_start", "sennit_plan_wait",
         "sennit_signal_wait", "sennit_barrier", "sennit_plan_destroy", "sennit_block_detach", "sennit_signal_destroy"]
QUEUES = ["sennit_queue_create", "sennit_allgather", "sennit_queue_attach", "sennit_queue_push", "sennit_queue_pop",
          "sennit_barrier", "sennit_queue_detach", "sennit_barrier", "sennit_queue_destroy"]
CHANNELS = ["sennit_channel_open", "sennit_channel_have_written", "sennit_channel_wait_read", "sennit_channel_have_read",
            "sennit_channel_close"]
BYTES = {"sennit_put": 8, "sennit_get": 100, "sennit_put_nb": 16, "sennit_get_nbi": 32, "sennit_put_strided": 32,
         "sennit_get_indexed": 24, "sennit_atomic_fetch_add_i64": 8, "sennit_accumulate": 24, "sennit_alloc": 4096,
         "sennit_broadcast": 40, "sennit_put_notify": 24}
# The categories for filters of a viewer, as in docs/tracing.md; for other calls, the second word of the name.
CATEGORIES = {"rma": ["put", "get"], "completion": ["test", "wait", "wait_all", "flush", "fence"],
              "atomic": ["accumulate"], "memory": ["alloc", "free"], "signal": ["block"],
              "collective": ["barrier", "broadcast", "allgather"]}


def _category_of(name):
    """The category of a call, from its name."""
    word = name.split("_")[1]
    return next((category for category, words in CATEGORIES.items() if word in words), word)


def _check_calls(name, ranks, path, has_atomics):
    events = events_of(name)
    assert sorted(events) == list(range(ranks)), events.keys()
    wanted = ["sennit_alloc", "sennit_barrier", *PUTS, *(ATOMICS if has_atomics else []), "sennit_barrier",
              *([*REST, *SIGNALS, *PLANS] if has_atomics else []),
              *(QUEUES if has_atomics and path != "sim" else []), *(CHANNELS if path != "sim" else []), "sennit_free"]
    for rank, own in events.items():
        assert calls_of(own) == wanted, f"rank {rank}: {calls_of(own)}"
        for event in own:
            assert event["dur"] >= 0, event
            if event["name"].startswith("sennit_"):
                assert event["cat"] == _category_of(event["name"]), event
            if event["name"] in BYTES:
                assert event["args"]["bytes"] == BYTES[event["name"]], event
            if event["name"] in PUTS + ATOMICS and event["cat"] in ("rma", "atomic"):
                assert event["args"]["peer"] == (rank + 1) % ranks and event["args"]["path"] == path, event
        for inner, outer in check_nesting(own):
            if inner["name"].startswith("sennit_"):
                assert outer is None, f"a call inside another: {inner} in {outer}"
    return events


def _check_barriers(events):
    """A rank leaves a barrier only after all have arrived, on one clock."""
    barriers = [sorted((one for one in own if one["name"] == "sennit_barrier"), key=start_ns) for own in events.values()]
    for meeting in zip(*barriers):
        assert max(map(start_ns, meeting)) <= min(map(end_ns, meeting)), meeting


def every_call_is_an_event_of_its_rank_in_order(job):
    """Processes, by mapping and with copies by the kernel. Broken by a call that is not recorded, or by a wrong name."""
    job.run(job.ranks(3, "calls"), TRACE="t.json")
    _check_barriers(_check_calls("t.json", 3, "mapped", True))
    job.run(job.ranks(3, "calls"), TRACE="t.json", PATHS="self,cma")
    _check_barriers(_check_calls("t.json", 3, "cma", False))
    assert not glob.glob("*.part"), "the parts are removed when the text has their events"


def invalid_traces_are_found(job):
    """Every case reads traces by events_of(), which checks the format. Broken by a check that accepts anything."""
    job.run(job.ranks(2, "calls"), TRACE="t.json")
    with open("t.json", encoding="utf-8") as file:
        text = file.read()
    check_format(strict_json(text))
    number = next(i for i, one in enumerate(json.loads(text)) if one["ph"] == "X" and one["dur"] > 0)

    def spoiled(**changes):
        events = json.loads(text)
        events[number] = {key: value for key, value in {**events[number], **changes}.items() if value is not None}
        return events
    event = json.loads(text)[number]
    lane = {"pid": event["pid"], "tid": event["tid"], "cat": "x", "args": {}}
    broken = [spoiled(**{field: None}) for field in ("name", "ph", "ts", "dur", "pid", "tid", "cat", "args")]
    broken += [spoiled(ph="Z"), spoiled(ts="1"), spoiled(dur=-1), spoiled(pid="0"), spoiled(tid=1.5), spoiled(name=""),
               spoiled(ph="B"), spoiled(pid=7), {"traceEvents": json.loads(text)},
               [one for one in json.loads(text) if one["name"] != "process_name"],
               [*json.loads(text), {**event, "ts": event["ts"] + event["dur"] / 2, "dur": event["dur"] + 9}],
               [*json.loads(text), *({**lane, "name": "later", "ph": "B", "ts": 1e12 - at} for at in (0, 1))],
               [*json.loads(text), {**lane, "name": "never ends", "ph": "B", "ts": event["ts"] + event["dur"] / 2}]]
    for events in broken:
        try:
            check_format(events)
        except (AssertionError, KeyError):
            continue
        raise AssertionError(f"taken: {events if isinstance(events, dict) else events[number]}")
    for word in (text.replace('"tid":', '"pid":1,"tid":', 1), text.replace('"peer":-1', '"peer":NaN', 1), text[:-3]):
        try:
            strict_json(word)
        except (AssertionError, ValueError):
            continue
        raise AssertionError("taken: " + word[:300])


def threads_of_one_process_have_lanes_of_their_own(job):
    """Ranks as threads, by pointer. Broken by one observer for all ranks of a process."""
    job.run([job.rank, "calls", "4", "self,inproc"], TRACE="t.json")
    _check_barriers(_check_calls("t.json", 4, "inproc", True))


def threads_of_a_rank_have_lanes_inside_that_of_the_rank(job):
    """Broken by events of two threads in one lane, or by a record or count that is lost between threads."""
    job.run(job.ranks(2, "threads"), TRACE="t.json", STATS="t.stats")
    for own in events_of("t.json").values():
        check_nesting(own)
        puts = [one["tid"] for one in own if one["name"] == "sennit_put"]
        assert len(puts) == 400 and sorted(map(puts.count, set(puts))) == [100] * 4, puts


def progress_of_messages_is_inside_waits(job):
    """On the simulated network. Broken by progress that is not recorded, or that is recorded although nothing moved."""
    job.run([job.rank, "calls", "2", "self,sim"], TRACE="t.json")
    for own in _check_calls("t.json", 2, "sim", True).values():
        turns = [(inner, outer) for inner, outer in check_nesting(own) if inner["name"] == "progress"]
        assert turns, "pieces were moved"
        assert all(inner["args"]["pieces"] > 0 for inner, outer in turns)
        assert any(outer is not None and outer["name"] == "wait" for inner, outer in turns)
        waits = [outer["name"] for inner, outer in check_nesting(own) if inner["name"] == "wait" and outer]
        assert "sennit_put" in waits or "sennit_get" in waits, waits


def events_and_counters_of_messages_name_the_rails(job):
    """On a simulated network with two rails; small pieces take the rail that belongs to the two ranks: the second for ranks 0
    and 2, the first for both other pairs. Broken by pieces that count for the other rail, or for none."""
    job.run([job.rank, "calls", "3", "self,sim:rails=2"], TRACE="t.json", STATS="s")
    for number, own in events_of("t.json").items():
        named = {rail for one in own if one["ph"] == "X" for rail in one["args"].get("rails", [])}
        assert named == ({0} if number == 1 else {0, 1}), named
        for one in own:
            if one["name"] == "progress" and one["args"]["pieces"] > 0 and one["args"]["path"] == "sim":
                assert one["args"].get("rails"), one
            if one["ph"] == "X" and one["args"]["path"] == "self":
                assert "rails" not in one["args"] or one["cat"] != "rma", one
    out, _ = job.run([job.sennit, "stats", "--json", "s"])
    for rank in json.loads(out)["ranks"]:
        assert [one["rail"] for one in rank["rails"]] == ([0] if rank["rank"] == 1 else [0, 1]), rank
        moved = sum(one["bytes"] for one in rank["peers"] if one["path"] == "sim")
        assert all(one["pieces"] > 0 for one in rank["rails"]), rank
        assert sum(one["bytes"] for one in rank["rails"]) > moved / 2 > 0, rank
    text, _ = job.run([job.sennit, "stats", "s"])
    assert text.count("by rail") == 5, text
    job.run(job.ranks(2, "calls"), STATS="s")
    out, _ = job.run([job.sennit, "stats", "--json", "s"])
    assert all(rank["rails"] == [] for rank in json.loads(out)["ranks"]), out


def a_job_without_the_knob_writes_nothing(job):
    """Broken by an observer that is always active."""
    job.run(job.ranks(2, "calls"))
    assert not os.listdir("."), os.listdir(".")


def each_rank_has_its_own_file_if_the_name_has_percent_r(job):
    """With %r, and joined again by merge."""
    job.run(job.ranks(3, "calls"), TRACE="t.%r.json")
    assert sorted(os.listdir(".")) == ["t.0.json", "t.1.json", "t.2.json"]
    for rank in range(3):
        assert list(events_of(f"t.{rank}.json")) == [rank]
    job.run([job.sennit, "trace", "merge", "-o", "all.json", "t.0.json", "t.1.json", "t.2.json"])
    _check_barriers(_check_calls("all.json", 3, "mapped", True))


def events_of_a_dead_rank_are_merged(job):
    """SIGKILL kills rank 1. Broken by events that are kept only in the rank's private memory."""
    job.run(job.ranks(3, "die", options=["--keep-going"]), code=137, TRACE="t.json")
    assert glob.glob("*.part") == ["t.json.1.part"], "the others have written theirs"
    job.run([job.sennit, "trace", "merge", "t.json"])
    events = events_of("t.json")
    assert sorted(events) == [0, 1, 2]
    assert calls_of(events[1]) == ["sennit_alloc", "sennit_barrier", *["sennit_put"] * 5], calls_of(events[1])
    check_nesting(events[1])
    # All ranks die: the launcher ends the others.
    job.run(job.ranks(3, "die", "stay"), code=137, TRACE="u.json")
    out, messages = job.run([job.sennit, "trace", "where", "u.json"])
    lines = out.splitlines()
    assert len(lines) == 3 and all(") died:" in line for line in lines), out
    assert "in no call" in lines[1] and " for " not in out, "a call of a dead rank does not go on"
    job.run([job.sennit, "trace", "merge", "u.json"])
    assert calls_of(events_of("u.json")[1])[-5:] == ["sennit_put"] * 5


def _where_once(job, is_there):
    """The result of `sennit trace where` and its lines, when they are as wanted, or after 20 s."""
    for _ in range(400):
        result = subprocess.run([job.sennit, "trace", "where", "t.json"], capture_output=True, text=True, timeout=20)
        lines = result.stdout.splitlines()
        if is_there(lines):
            break
        time.sleep(0.05)
    return result, lines


@contextlib.contextmanager
def _running(job, command, *files):
    """Runs the ranks until the files exist; the ranks must then end without error."""
    process = job.start(command, TRACE="t.json")
    try:
        yield
    finally:
        for name in files:
            with open(name, "w", encoding="utf-8"):
                pass
        _, messages = process.communicate(timeout=50)
        for name in files:
            os.remove(name)
    assert process.returncode == 0, messages


def where_tells_in_which_call_a_running_rank_waits(job):
    """Rank 0 has not come to the barrier in which the others wait. Broken by calls that are recorded only when they end."""
    with _running(job, job.ranks(3, "stay", os.path.join(job.folder, "go")), "go"):
        result, lines = _where_once(job, lambda lines: sum("sennit_barrier" in line for line in lines) == 2)
        assert len(lines) == 3 and BETWEEN.fullmatch(lines[0]) and "died" not in result.stdout, result
        assert "sennit_barrier for " in lines[1] and "; wait" in lines[1], lines
        out, _ = job.run([job.sennit, "trace", "where", "t.json", *glob.glob("t.json.*.part")])
        assert len(out.splitlines()) == 3, "a part counts once, even if it and its text are named: " + out
        job.run([job.sennit, "trace", "merge", "-o", "now.json", "t.json"])
        unfinished = [one for one in events_of("now.json")[2] if one["ph"] == "B"]
        assert [one["name"] for one in unfinished] == ["sennit_barrier", "wait"], unfinished
        assert all(one["args"]["unfinished"] for one in unfinished)
    assert "barrier" in {one["name"][7:] for one in events_of("t.json")[1]}


def _where_names_who_is_missing(job, command):
    with _running(job, command, "go"):
        result, lines = _where_once(job, lambda lines: len(lines) == 5 and "waits for" in lines[-1] and "epoch 1" in lines[-1])
        assert len(lines) == 5 and BETWEEN.fullmatch(lines[0]), result
        awaited = lines[4].split("signal ")[1].split(",")[0]
        assert lines[1] == (f"  its event of epoch 3 for signal {awaited} of rank 2 was too early: rank 2 has not reset epoch 1 "
                            "(by sennit_signal_reset, or by the next start of its message plan)"), lines
        assert "sennit_signal_wait" in lines[3], lines
        assert lines[4] == (f"  waits for signal {awaited}, which expects 2 events of epoch 1: missing is one from rank 1 "
                            "(its last was of epoch 0)"), lines


def where_names_the_signal_the_epoch_and_who_is_missing(job):
    """Broken by a wait that does not show what it waits for, or by a missing sender that is not named."""
    _where_names_who_is_missing(job, job.ranks(3, "hang", os.path.join(job.folder, "go")))


def where_names_who_is_missing_if_plans_send_the_events(job):
    """Also to a rank that counts as another node. Broken by a plan's start that is not recorded."""
    words = ["hang", os.path.join(job.folder, "go"), "plans"]
    _where_names_who_is_missing(job, job.ranks(3, *words))
    # libfabric is not built for the thread sanitizer.
    if "TSAN_OPTIONS" not in os.environ:
        script = '[ "$SENNIT_RANK" = 2 ] && export SENNIT_NODE=b; exec "$@"'
        _where_names_who_is_missing(job, [job.sennit, "run", "-n", "3", "--timeout", "40", "sh", "-c", script, "sh", job.rank, *words])


def where_shows_a_note_outside_of_calls_until_it_is_removed(job):
    """Headers and programs note what they wait for. Broken by a note that is shown only inside a call, or that is never removed."""
    with _running(job, job.ranks(3, "hang", os.path.join(job.folder, "go"), "note"), "go", "go.2"):
        result, lines = _where_once(job, lambda lines: len(lines) == 6)
        assert BETWEEN.fullmatch(lines[2]).group(1) == "sennit_barrier" and lines[3] == "  reads a file", result
        with open("go.2", "w", encoding="utf-8"):
            pass
        result, lines = _where_once(job, lambda lines: len(lines) == 5)
        assert len(lines) == 5, result


def where_shows_no_note_of_a_call_as_that_of_the_rank(job):
    """All places for open calls are taken. Broken by a call without a place that replaces the rank's note."""
    with _running(job, job.ranks(1, "crowd", os.path.join(job.folder, "go")), "go"):
        end = time.monotonic() + 20
        while not os.path.exists("go.full") and time.monotonic() < end:
            time.sleep(0.05)
        result, lines = _where_once(job, lambda lines: True)
        assert lines[1:] == ["  outside of calls"], result


def where_names_the_rank_that_holds_a_lock(job):
    """Broken by a wait for a lock that does not name the holder."""
    with _running(job, job.ranks(2, "locked", os.path.join(job.folder, "go")), "go"):
        result, lines = _where_once(job, lambda lines: len(lines) == 3)
        assert "sennit_lock_acquire for " in lines[1] and lines[2] == "  waits for a lock, which rank 0 holds", result


def where_says_that_a_rank_is_stopped(job):
    """Rank 2 waits for events and is then stopped. Broken by guessing which events are missing: they may have arrived."""
    with _running(job, job.ranks(3, "hang", os.path.join(job.folder, "go")), "go"):
        _, lines = _where_once(job, lambda lines: len(lines) == 5)
        stopped = int(lines[3].split("process ")[1].split()[0])
        os.kill(stopped, signal.SIGSTOP)
        try:
            result, lines = _where_once(job, lambda lines: len(lines) == 4)
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert " is stopped (by a signal or a debugger): sennit_signal_wait for " in lines[3], result
        assert "stopped" not in "".join(lines[:3]), result


def where_tells_that_senders_have_gone_on_to_the_next_epoch(job):
    """Broken by reporting one sent event each for senders that skipped the epoch."""
    with _running(job, job.ranks(3, "skip", os.path.join(job.folder, "go")), "go", "go.2"):
        result, lines = _where_once(job, lambda lines: len(lines) == 4 and "epoch 1:" in lines[-1])
        assert lines[3].endswith("missing: one each from rank 0 (its last was of epoch 0), rank 1 (its last was of epoch 0)"), result
        with open("go", "w", encoding="utf-8"):
            pass
        # A sender may still be in its call, which is recorded when it ends.
        result, lines = _where_once(job, lambda lines: len(lines) == 5 and "2 events of epoch 2" in lines[-1]
                                    and "missing" not in lines[3])
        assert lines[3].endswith("of epoch 1: no rank that has sent to it (ranks 0, 1) is behind: another rank has sent nothing, it "
                                 "expects more events than are sent, or its senders skipped this epoch"), result
        assert lines[4] == "  2 of 2 events of epoch 1 are missing; 2 events of epoch 2 have already arrived", result


def where_says_how_files_of_each_rank_are_named(job):
    """Broken by "No such file" for the name in SENNIT_TRACE."""
    _, messages = job.run([job.sennit, "trace", "where", "t3.%r.json"], code=1)
    assert "t3.%r.json: No such file or directory; use t3.*" in messages, messages


def the_ring_keeps_the_last_events(job):
    """1000 puts and room for 100. Broken by a file that grows without limit, or one that keeps the first events."""
    job.run(job.ranks(2, "many", 1000), TRACE="t.json", TRACE_EVENTS="100")
    for own in events_of("t.json").values():
        assert len(own) == 100
        puts = [one for one in sorted(own, key=start_ns) if one["name"] == "sennit_put"]
        assert puts[-1]["args"]["bytes"] == 16 and {one["args"]["bytes"] for one in puts[:-1]} == {8}
    with open("t.json", encoding="utf-8") as file:
        labels = [one["args"]["labels"] for one in json.load(file) if one["name"] == "process_labels"]
    assert all("events dropped: 0" not in one and "events dropped: " in one for one in labels), labels


def a_second_job_takes_nothing_of_the_first(job):
    """Rank 1 of the first job died and left its part. Broken by a merge that joins two jobs."""
    job.run(job.ranks(2, "die", options=["--keep-going"]), code=137, TRACE="t.json")
    job.run(job.ranks(1, "many", 3), TRACE="t.json")
    out, messages = job.run([job.sennit, "trace", "merge", "t.json"])
    assert "t.json.1.part is of another job" in messages, messages
    assert list(events_of("t.json")) == [0]


def a_file_that_can_not_be_written_is_a_warning(job):
    """Broken by a program that ends because it is traced, also by SIGXFSZ."""
    out, messages = job.run(job.ranks(2, "calls"), TRACE="/nowhere/t.json", STATS="/nowhere/t.stats")
    assert "nothing is traced" in messages and "cannot write its counters" in messages, messages
    # In blocks of 512 bytes: the limit allows the ranks' memory files, but not such a long trace.
    command = subprocess.list2cmdline(job.ranks(2, "calls"))
    job.run(["sh", "-c", f"ulimit -f 260000; exec {command}"], TRACE="t.json", TRACE_EVENTS="4000000")
    _check_barriers(_check_calls("t.json", 2, "mapped", True))


def a_text_above_the_limit_of_file_sizes_is_a_warning(job):
    """The mapped files are within the limit, the text is not. Broken by a program that SIGXFSZ ends at its exit."""
    command = subprocess.list2cmdline(job.ranks(2, "many", 50_000))
    _, messages = job.run(["sh", "-c", f"ulimit -f 24000; exec {command}"], TRACE="t.json")
    assert "could not be written" in messages, messages


def a_full_disk_is_a_warning_and_the_ring_stays_as_it_is(job):
    """Broken by SIGBUS in a mapped page that has no block on the disk."""
    os.mkdir("disk")
    inside = ["unshare", "-rm", "sh", "-c"]
    mount = "mount -t tmpfs -o size=2560k none disk"
    if subprocess.run([*inside, mount], capture_output=True, check=False).returncode != 0:
        print("this system does not let users mount a tmpfs of their own")
        sys.exit(77)
    command = subprocess.list2cmdline(job.ranks(2, "many", 60_000))
    merge = f"{job.sennit} trace merge -o t.json disk/t.json"
    _, messages = job.run([*inside, f"{mount} && {command} && ls disk >names && {merge}"], TRACE="disk/t.json")
    assert "could not be written" in messages, messages
    with open("names", encoding="utf-8") as file:
        assert "part" in file.read(), "parts stay if the text lacks their events"
    for own in events_of("t.json").values():
        puts = [one for one in sorted(own, key=start_ns) if one["name"] == "sennit_put"]
        assert len(puts) > 20_000 and puts[-1]["args"]["bytes"] == 16


def the_clocks_of_two_nodes_are_brought_together(job):
    """Rank 1 counts as another node, with a clock 1000 s ahead if the kernel can do that. Broken by lanes that are far apart."""
    far = ["unshare", "-T", "--monotonic", "1000"]
    can_move = subprocess.run([*far, "true"], capture_output=True, check=False).returncode == 0
    move = " ".join(far) if can_move else ""
    # libfabric is not built for the thread sanitizer, so there the nodes communicate only through the launcher.
    paths = "export SENNIT_PATHS=self,mapped,cma; " if "TSAN_OPTIONS" in os.environ else ""
    script = (f'{paths}[ "$SENNIT_RANK" = 0 ] || {{ export SENNIT_NODE=b; exec {move} {job.rank} meet; }}; '
              f'exec {job.rank} meet')
    job.run([job.sennit, "run", "-n", "2", "--timeout", "40", "sh", "-c", script], TRACE="t.json")
    events = events_of("t.json")
    with open("t.json", encoding="utf-8") as file:
        labels = {one["pid"]: one["args"]["labels"] for one in json.load(file) if one["name"] == "process_labels"}
    error_ns = int(labels[1].split("right by ")[1].split()[0])
    assert 0 < error_ns < 100_000_000, labels
    assert "right by 0 ns" in labels[0], labels
    barriers = [sorted((one for one in own if one["name"] == "sennit_barrier"), key=start_ns) for own in events.values()]
    assert len(barriers[0]) == 3
    for meeting in zip(*barriers):
        assert max(map(start_ns, meeting)) <= min(map(end_ns, meeting)) + error_ns, (meeting, error_ns)
    print("clocks 1000 s apart" if can_move else "one clock", "right by", error_ns, "ns")


def wrong_arguments_and_files_are_refused(job):
    """Broken by a crash on a file of another kind."""
    with open("other", "w", encoding="utf-8") as file:
        file.write("{}")
    with open("other.1.part", "wb") as file:
        file.write(b"x" * 100_000)
    for words, code in ((["merge", "none"], 1), (["merge", "other.1.part"], 1), (["where", "other"], 1),
                        ([], 2), (["unknown"], 2)):
        out, messages = job.run([job.sennit, "trace", *words], code=code)
        assert messages.startswith("sennit"), messages
    for command in ("where", "merge"):
        _, messages = job.run([job.sennit, "trace", command], code=2)
        assert messages.startswith(f"sennit trace {command}: which file? Start the job with SENNIT_TRACE="), messages
    out, _ = job.run([job.sennit, "trace", "--help"])
    assert "SENNIT_TRACE=" in out and "merge" in out


if __name__ == "__main__":
    sys.exit("run by case.py")
