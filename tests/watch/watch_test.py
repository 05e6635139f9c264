#!/usr/bin/env python3
"""Ranks on two made-up nodes of this machine die, stop, or get nonsense; the test checks what the others learn of it.

    watch_test.py SENNIT PROGRAM CASE RANKS [SECONDS]

Broken by a wait for a dead rank of another node that never ends; by a stopped rank that counts as dead; by data to a stopped
rank that lands after its sender got an error; by a call with its own endless wait; or by a stranger's bytes that end a job.
"""

import functools
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

GONE = 3  # a NoteKind of src/runtime/watch/connection.hpp
SOON_S = 1.0
LIMIT_S = 60


def expect(truth, *seen):
    if not truth:
        print("not as promised:", *seen)
        sys.exit(1)


class Job:
    """A job whose output lines are read one by one."""

    def __init__(self, sennit, program, ranks, timeout, *words, **more):
        """More: nodes, words before the program; before, words before `run`; limit_s."""
        self.lines = []
        self.process = subprocess.Popen(
            [sennit, *more.get("before", ()), "run", "-n", str(ranks), "--keep-going", "--timeout",
             str(more.get("limit_s", LIMIT_S)), *more.get("nodes", ("--nodes", "2")), program, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "SENNIT_PEER_TIMEOUT": str(timeout)})

    def read(self, what):
        """The next line with this text, as (rank, value, time)."""
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(rf"rank (\d+) {what} (-?\d+) at ([\d.]+)", line)
            if found:
                return int(found.group(1)), int(found.group(2)), float(found.group(3))
        expect(False, f"no line says '{what}':\n" + "".join(self.lines[-20:]))
        return None

    def finish(self):
        for line in self.process.stdout:
            self.lines.append(line)
        self.process.wait()
        return "".join(self.lines)

    def events(self, what):
        text = self.finish()
        return [(int(rank), int(value), float(when))
                for rank, value, when in re.findall(rf"rank (\d+) {what} (-?\d+) at ([\d.]+)", text)]


def a_death_ends(scene, sennit, program, ranks):
    """The last rank dies; each other rank learns of it within a second, and of no other death."""
    job = Job(sennit, program, ranks, 10, scene, f"{ranks - 1}:300")
    lost = job.events("lost")
    (_, _, died), = job.events("dies")
    expect(len(lost) == ranks - 1, "".join(job.lines))
    for rank, peer, when in lost:
        expect(peer == ranks - 1, f"rank {rank} names rank {peer}")
        expect(when - died < SOON_S, f"rank {rank} hears of it after {when - died} s")
    expect(len(job.events("ended")) == ranks - 1, "not all have ended:", "".join(job.lines))


def a_fork_keeps_no_port(sennit, program, ranks):
    """The last rank has a child that outlives it, and that must not answer for it."""
    job = Job(sennit, program, ranks, 10, "child", f"{ranks - 1}:300")
    lost = [job.read("lost") for _ in range(ranks - 1)]
    died = float(re.search(r"dies -?\d+ at ([\d.]+)", "".join(job.lines)).group(1))
    expect(all(peer == ranks - 1 and when - died < SOON_S for _, peer, when in lost), lost, died)
    job.finish()


def every_wait_ends(how, sennit, program, ranks):
    """Each rank but the last waits in a different call for the last one, which is alone on its node and dies or falls silent."""
    timeout_s = 3  # the minimum where ranks share processors
    job = Job(sennit, "sh", ranks, timeout_s, "-c",
              f"SENNIT_NODE=n$((SENNIT_RANK / {ranks - 1})) exec {program} {how}", nodes=())
    _, process, died = job.read("dies")
    lost = [job.read("lost") for _ in range(ranks - 1)]
    if how == "STOP":
        os.kill(process, signal.SIGKILL)
    limit = SOON_S if how == "KILL" else timeout_s + 0.5
    for rank, peer, when in lost:
        expect(peer == ranks - 1, f"rank {rank} names rank {peer}")
        expect(when - died < limit, f"rank {rank} hears of it after {when - died} s")
    job.finish()


def a_death_before_the_start_ends_it(sennit, program, ranks):
    """The last rank dies when the others are already in sennit_init."""
    job = Job(sennit, program, ranks, 10, "start", f"{ranks - 1}:500")
    lost = job.events("lost")
    (_, _, died), = job.events("dies")
    expect(len(lost) == ranks - 1 and all(0 <= when - died < SOON_S for _, _, when in lost), "".join(job.lines))


def a_stopped_rank_does_not_hold_up_others(sennit, program, ranks):
    """Meanwhile another rank on the stopped rank's node can be reached."""
    job = Job(sennit, program, ranks, 10, "share",
              nodes=("sh", "-c", 'SENNIT_NODE=n$(((SENNIT_RANK + 1) / 2)) exec "$@"', "sh"))
    processes = dict(job.read("waits")[:2] for _ in range(ranks))
    os.kill(processes[ranks - 1], signal.SIGSTOP)
    job.process.stdin.write("go\n")
    job.process.stdin.flush()
    _, _, posted = job.read("posted")
    threading.Timer(20, lambda: os.kill(processes[ranks - 1], signal.SIGCONT)).start()
    _, _, put = job.read("put")
    expect(put - posted < 10, f"a put to another rank took {put - posted} s")
    os.kill(processes[ranks - 1], signal.SIGCONT)
    job.read("flushed")
    job.finish()
    os._exit(0)  # ends the timer too


def a_stopped_rank_is_waited_for(sennit, program, ranks):
    """For longer than the timeout, since another rank of its node lives; the unanswered message and put do not show that it is cut
    off."""
    timeout_s = 3
    job = Job(sennit, program, ranks, timeout_s, "hold",
              nodes=("sh", "-c", 'SENNIT_NODE=n$(((SENNIT_RANK + 1) / 2)) exec "$@"', "sh"))
    processes = dict(job.read("waits")[:2] for _ in range(ranks))
    os.kill(processes[ranks - 1], signal.SIGSTOP)
    time.sleep(0.2)  # its threads have stopped
    job.process.stdin.write("go\n")
    job.process.stdin.flush()
    time.sleep(2.5 * timeout_s)
    gone_on = time.clock_gettime(time.CLOCK_MONOTONIC)
    os.kill(processes[ranks - 1], signal.SIGCONT)
    _, _, asked = job.read("asked")
    expect(asked > gone_on, f"a rank that was stopped has answered, {gone_on - asked} s before it went on")
    done = job.events("done")
    expect(len(done) == ranks and "lost" not in "".join(job.lines), "".join(job.lines))


def silence_ends_init(sennit, program, ranks, tries=1):
    """The last rank is stopped somewhere in its sennit_init. The others' init ends at its time limit and names that rank."""
    limit_s = 2
    os.environ["SENNIT_INIT_TIMEOUT"] = str(limit_s)
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    seen = []
    for i in range(tries):
        job = Job(sennit, program, ranks, 10, "limit")
        processes = dict(job.read("begins")[:2] for _ in range(ranks))
        delay = draw.uniform(0, 0.2) if i else 0
        time.sleep(delay)
        try:
            os.kill(processes[ranks - 1], signal.SIGSTOP)
        except ProcessLookupError:  # it had ended
            pass
        stopped = time.clock_gettime(time.CLOCK_MONOTONIC)
        threading.Timer(limit_s + 3, lambda process=job.process: process.kill()).start()
        seen.append(delay)
        for _ in range(ranks - 1):
            rank, peer, when = job.read("(?:ready|lost|SENNIT_ERR_TIMEOUT)")
            text = "".join(job.lines)
            if "ready" in text:
                continue
            expect(peer == ranks - 1 and when - stopped < limit_s + 1.5, f"seed {seed}, stopped after {seen}: rank {rank} names {peer} "
                   f"after {when - stopped} s\n{text}")
            seen[-1] = f"{delay:.3f}: in time"
        job.process.kill()
        os.kill(processes[ranks - 1], signal.SIGKILL)
        job.finish()
    print(f"seed {seed}: {seen}")
    expect(any("in time" in str(each) for each in seen), "no rank was stopped in time")
    os._exit(0)  # ends the timers too


def no_rank_is_lost_on_a_busy_processor(sennit, program, ranks, seconds):
    """All ranks share one processor, compute and communicate. At times a rank is stopped for a third of the timeout or less."""
    job = Job("taskset", program, ranks, 3, "work", str(seconds), nodes=("--nodes", "2"), before=("-c", "0", sennit), limit_s=seconds + 60)
    processes = [job.read("waits")[1] for _ in range(ranks)]
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    end = time.monotonic() + seconds - 5
    while time.monotonic() < end:
        time.sleep(draw.uniform(0.5, 5))
        stopped = draw.choice(processes)
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(draw.uniform(0, 1))
        os.kill(stopped, signal.SIGCONT)
    done = job.events("done")
    text = "".join(job.lines)
    print(f"seed {seed}, {done[0][1] if done else 0} rounds")
    expect(len(done) == ranks and "silent" not in text and "lost" not in text, text[-3000:])


def silence_is_heard_by_all_of_many_nodes(sennit, program, ranks):
    """With more than 16 nodes only few watch each node. All learn of a silent node, and the first put to it, made during the
    silence, never lands."""
    timeout_s = 3
    job = Job(sennit, program, ranks, timeout_s, "many", nodes=("--nodes", str(ranks)))
    _, process, _ = job.read("stops")
    time.sleep(0.2)  # until it has stopped itself
    stopped = time.clock_gettime(time.CLOCK_MONOTONIC)
    job.process.stdin.write("go\n")
    job.process.stdin.flush()
    for _ in range(ranks - 1):
        rank, peer, when = job.read("lost")
        expect(peer == ranks // 2, f"rank {rank} names rank {peer}")
        expect(when - stopped < timeout_s + 0.5, f"rank {rank} hears of it after {when - stopped} s")
    os.kill(process, signal.SIGCONT)
    _, word, _ = job.read("word")
    expect(word == 7, f"a put that was reported as lost has landed: {word}")
    job.finish()


def the_next_rank_takes_over(sennit, program, ranks):
    """Four ranks on two nodes: the watcher of the second node dies, and then the rank that has taken over."""
    job = Job(sennit, program, ranks, 10, "both", "2:300", "3:2000")
    lost = job.events("lost")
    deaths = {rank: when for rank, _, when in job.events("dies")}
    expect(len(deaths) == 2, "".join(job.lines))
    for rank, peer, when in lost:
        expect(peer in deaths and 0 <= when - deaths[peer] < SOON_S, rank, peer, when, deaths)
    for rank, peer in ((0, 2), (1, 2), (0, 3)):
        expect((rank, peer) in [(by, of) for by, of, _ in lost], f"rank {rank} did not hear of rank {peer}", "".join(job.lines))


def a_short_stop_is_no_death(sennit, program, ranks):
    """A rank is stopped for 1.5 s: its node's only rank, or the watcher of two ranks, for longer than a hand-over."""
    job = Job(sennit, program, ranks, 4, "on")
    processes = dict(job.read("waits")[:2] for _ in range(ranks))
    os.kill(processes[ranks // 2], signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(processes[ranks // 2], signal.SIGCONT)
    expect(len(job.events("done")) == ranks, "".join(job.lines[-20:]))


def a_job_that_is_stopped_goes_on(sennit, program, ranks):
    """All ranks are stopped for longer than the timeout, as by a frozen control group or a suspended job, and continue one after
    the other."""
    timeout_s = 3
    job = Job(sennit, program, ranks, timeout_s, "on")
    processes = dict(job.read("waits")[:2] for _ in range(ranks))
    for _ in range(2):
        if job.process.poll() is not None:
            expect(False, job.finish()[-3000:])
        for process in processes.values():
            os.kill(process, signal.SIGSTOP)
        time.sleep(1.5 * timeout_s)
        for process in processes.values():
            os.kill(process, signal.SIGCONT)
            time.sleep(0.1)
        time.sleep(0.3)
    text = job.finish()
    expect(text.count("done") == ranks and "lost" not in text and "silent" not in text, text[-3000:])
    expect(job.process.returncode == 0, "exit code", job.process.returncode)


def a_silent_host_is_lost(sennit, program, ranks):
    """The second node's only rank is stopped for longer than the timeout: the first learns of it in time, and its put never
    lands."""
    job = Job(sennit, program, ranks, 3, "late")
    _, process, _ = job.read("waits")
    time.sleep(0.2)  # until it has stopped itself
    job.process.stdin.write("go\n")
    job.process.stdin.flush()
    _, _, put = job.read("puts")
    _, peer, lost = job.read("lost")
    expect(peer == 1 and 1.5 < lost - put < 3.5, f"rank {peer} is lost after {lost - put} s")
    os.kill(process, signal.SIGCONT)
    _, word, _ = job.read("word")
    expect(word == 7, f"a put that was reported as lost has landed: {word}")
    _, peer, _ = job.read("lost")
    expect(peer == 0, f"the rank that was stopped hears that rank {peer} is lost")
    job.finish()


def ports_of(process):
    """Ports on which the process listens at all addresses: those of its watch, not libfabric's."""
    sockets = set()
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            sockets.add(os.readlink(f"/proc/{process}/fd/{name}"))
        except OSError:  # closed meanwhile
            pass
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return [int(row[1].split(":")[1], 16) for row in rows
            if row[3] == "0A" and row[1].startswith("00000000:") and f"socket:[{row[9]}]" in sockets]


def nonsense_ends_its_connection_alone(sennit, program, ranks):
    job = Job(sennit, program, ranks, 3, "on")
    ports = {rank: ports_of(process) for rank, process, _ in [job.read("waits") for _ in range(ranks)]}
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    print(f"seed {seed}")
    kept = []
    for rank, port in [(rank, port) for rank in ports for port in ports[rank]]:
        peer = (rank + ranks // 2) % ranks
        # A message as the peer's watch would send it, but of another job: the peer is dead.
        death = struct.pack("<QIiiIqq", draw.getrandbits(64), GONE, peer, peer, 0, 0, 0)
        for message in [draw.randbytes(length) for length in (0, 1, 39, 40, 41, 400, 4000)] * 4 + [death]:
            with_stranger = socket.create_connection(("127.0.0.1", port), timeout=5)
            with_stranger.sendall(message)
            if len(message) >= 40:
                try:
                    expect(with_stranger.recv(1) == b"", "a stranger gets an answer")
                except ConnectionResetError:
                    pass
            kept.append(with_stranger)
    expect(len(kept) >= 29 * ranks, "too few ports were found:", len(kept))
    expect(len(job.events("done")) == ranks, "".join(job.lines[-20:]))
    expect(job.process.returncode == 0, "exit code", job.process.returncode)


def a_rank_that_leaves_is_not_dead(sennit, program, ranks):
    """Rank 1 is slow in the last barrier. Others leave meanwhile. Ranks that still wait for rank 1 find only that the
    ports of these have no owner."""
    slow = "export LD_LIBRARY_PATH=$LAYER FABRIC_LAYER=delay_us=400000"
    met = 0
    for _ in range(8):
        job = Job(sennit, "sh", ranks, 10, "-c", f"if test $SENNIT_RANK = 1; then {slow}; fi; exec {program}", nodes=("--nodes", str(ranks)))
        expect(len(job.events("ended")) == ranks, "".join(job.lines[-20:]))
        expect(all(made > 0 for _, made, _ in job.events("cuts")), "".join(job.lines[-20:]))
        met += len(job.events("refused")) > 0
        if met == 2:
            return
    expect(False, "no port was refused while a rank was in the last barrier")


CASES = {"takes_over": the_next_rank_takes_over, "stop": a_short_stop_is_no_death, "silence": a_silent_host_is_lost,
         "all": a_job_that_is_stopped_goes_on, "nonsense": nonsense_ends_its_connection_alone, "child": a_fork_keeps_no_port, "start": a_death_before_the_start_ends_it,
         "share": a_stopped_rank_does_not_hold_up_others, "hold": a_stopped_rank_is_waited_for, "limit": silence_ends_init,
         "leave": a_rank_that_leaves_is_not_dead, "work": no_rank_is_lost_on_a_busy_processor,
         "many": silence_is_heard_by_all_of_many_nodes,
         "KILL": functools.partial(every_wait_ends, "KILL"), "STOP": functools.partial(every_wait_ends, "STOP")}


def main():
    sennit, program, case, ranks, *more = sys.argv[1:]
    if case in CASES:
        CASES[case](sennit, program, int(ranks), *map(int, more))
    else:
        a_death_ends(case, sennit, program, int(ranks))
    print("as promised")


if __name__ == "__main__":
    main()
