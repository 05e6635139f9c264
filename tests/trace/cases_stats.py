"""Counters: they are right on every path, and can be read during the job and after it."""
import json
import os
import subprocess
import time


def _rows_of(job, *names):
    out, _ = job.run([job.sennit, "stats", "--json", *names])
    return {one["rank"]: one for one in json.loads(out)["ranks"]}


def _row(rank, peer):
    found = [one for one in rank["peers"] if one["peer"] == peer]
    assert len(found) == 1, rank
    return found[0]


def the_counters_of_a_peer_are_right_on_every_path(job):
    """The ranks compare them by sennit_stats_get. Broken by a call that counts twice, or for another peer or path."""
    job.run(job.ranks(3, "counts"), STATS="1")
    job.run(job.ranks(3, "counts"), STATS="1", PATHS="self,cma")
    job.run(job.ranks(1, "counts"), STATS="1")
    job.run([job.rank, "counts", "3", "self,inproc"], STATS="1")
    job.run([job.rank, "counts", "2", "self,sim"], STATS="1")
    job.run([job.rank, "counts", "2", "self,mapped"], STATS="counts", TRACE="t.json")


def plans_batches_queues_and_channels_count_the_bytes_that_moved(job):
    """The ranks compare them. Broken by puts of plans that count in the row for several peers, and by a channel's buffer that
    counts although nothing is copied, or at both ends of a hand-over."""
    job.run(job.ranks(2, "moved"), STATS="1")
    job.run(job.ranks(2, "moved"), STATS="1", PATHS="self,cma")


def counters_are_printed_at_the_end_on_request(job):
    """Broken by a rank or a path that is left out."""
    out, messages = job.run(job.ranks(2, "many", 10), STATS="1")
    assert out == "96 bytes to and from rank 1\n", out
    assert "rank 0: with rank 1 by mapped: 11 operations, 96 bytes, 0 waits" in messages, messages
    assert "rank 1: with rank 0 by mapped: 11 operations, 96 bytes" in messages, messages
    assert "rank 1: with several: 1 operation" in messages, messages
    job.run(job.ranks(1, "print"), STATS="1")
    for word in ("0", "off", "False"):
        _, messages = job.run(job.ranks(2, "many", 10), STATS=word)
        assert "operations" not in messages and not os.path.exists(word), messages
    _, messages = job.run(job.ranks(2, "many", 10), STATS="on")
    assert "rank 0: with rank 1" in messages and not os.path.exists("on"), messages


def the_file_of_an_ended_job_has_all_ranks(job):
    """By name and by %r. Broken by parts that overlap, or that stay from an earlier job."""
    job.run(job.ranks(8, "many", 3), STATS="s")
    job.run(job.ranks(4, "many", 20), STATS="s")
    ranks = _rows_of(job, "s")
    assert sorted(ranks) == [0, 1, 2, 3]
    for number, rank in ranks.items():
        assert rank["state"] == "ended"
        wanted = {"peer": (number + 1) % 4, "path": "mapped", "operations": 21, "bytes": 176, "waits": 0, "wait_ns": 0}
        assert _row(rank, (number + 1) % 4) == wanted, rank
    job.run(job.ranks(2, "many", 20), STATS="s.%r")
    assert sorted(_rows_of(job, "s.0", "s.1")) == [0, 1]
    text, _ = job.run([job.sennit, "stats", "s"])
    assert "rank 3 (ended" in text and "operations" in text, text


def a_running_job_can_be_read_and_a_dead_rank_is_reported(job):
    """Broken by counters that are only written at the end."""
    process = job.start(job.ranks(2, "stay", os.path.join(job.folder, "go")), STATS="s")
    try:
        for _ in range(400):
            found = subprocess.run([job.sennit, "stats", "--json", "s"], capture_output=True, text=True, timeout=20)
            ranks = json.loads(found.stdout)["ranks"] if found.returncode == 0 else []
            if len(ranks) == 2:
                break
            time.sleep(0.05)
        assert [one["state"] for one in ranks] == ["running", "running"], found
    finally:
        with open("go", "w", encoding="utf-8"):
            pass
        _, messages = process.communicate(timeout=50)
    assert process.returncode == 0, messages
    waits = _row(_rows_of(job, "s")[1], None)
    assert waits["waits"] > 0 and waits["wait_ns"] > 0, waits
    job.run(job.ranks(2, "die", options=["--keep-going"]), code=137, STATS="s")
    ranks = _rows_of(job, "s")
    assert ranks[1]["state"] == "died" and _row(ranks[1], 0)["operations"] == 5, ranks[1]
    assert ranks[0]["state"] == "ended", ranks[0]


def a_truncated_file_ends_no_job(job):
    """For example by `: > s`. Broken by a mapped file, whose pages are then gone."""
    process = job.start(job.ranks(2, "stay", os.path.join(job.folder, "go")), STATS="s")
    try:
        for _ in range(400):
            if os.path.exists("s") and os.path.getsize("s") > 65536:
                break
            time.sleep(0.05)
        with open("s", "w", encoding="utf-8"):
            pass
        time.sleep(0.3)
    finally:
        with open("go", "w", encoding="utf-8"):
            pass
        _, messages = process.communicate(timeout=50)
    assert process.returncode == 0, messages
    ranks = _rows_of(job, "s")
    assert [ranks[number]["state"] for number in sorted(ranks)] == ["ended", "ended"], ranks
    assert _row(ranks[1], None)["waits"] > 0, ranks


def no_link_or_file_of_another_user_is_written(job):
    """In a folder that users share. Broken by following a link, or by using a file that another user has made and may truncate."""
    for knob, name, written in (("STATS", "s", "s"), ("STATS", "s.%r", "s.1"), ("TRACE", "t", "t"), ("TRACE", "t.%r", "t.1"),
                                ("TRACE", "u", "u.1.part")):
        for kind in ("symbolic link", "second name", "other user"):
            if kind == "other user" and os.geteuid() != 0:
                continue
            with open("victim", "w", encoding="utf-8") as file:
                file.write("precious")
            if kind == "symbolic link":
                os.symlink("victim", written)
            elif kind == "second name":
                os.link("victim", written)
            else:
                os.rename("victim", written)
                os.chown(written, 12345, 12345)
            _, messages = job.run(job.ranks(2, "many", 3), **{knob: name})
            assert "warning" in messages and written in messages, f"{kind} {written}: {messages}"
            with open(written, encoding="utf-8") as file:
                assert file.read() == "precious", f"{kind} {written}: {messages}"
            for left in {"victim", written} & set(os.listdir()):
                os.remove(left)


def wrong_files_are_refused(job):
    """Broken by a crash on a file of another kind."""
    with open("other", "wb") as file:
        file.write(b"x" * 200_000)
    for words, code in (([], 2), (["none"], 1), (["other"], 1)):
        _, messages = job.run([job.sennit, "stats", *words], code=code)
        assert messages.startswith("sennit stats: "), messages
