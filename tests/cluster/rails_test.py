#!/usr/bin/env python3
"""Two rails between hosts of tools/cluster: the operations that use them, and the effects of a cut.

    tests/cluster/rails_test.py PROJECT CASE [WORD...]

Skipped like cluster_test.py. Broken by a rail that carries nothing, small operations on all rails, a failed call or late data
after a cut, or a rail that does not come back.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import cluster_test
from cluster_test import expect

TIMEOUT_S = 4  # until a silent host counts as lost
TWO_RAILS = "SENNIT_PATHS=self,mapped,fabric:interface=rail0;interface=rail1"


def sent_by_rails(before, after, host):
    return [after[host][f"rail{rail}"]["tx"] - before[host][f"rail{rail}"]["tx"] for rail in range(2)]


def large_puts_take_all_rails_and_small_ones_one(cluster, program):
    """Rank 0 has only peer 1, and rank 1 only peer 0: both have the same home rail."""
    process = cluster.start("--rails", "2", "--launcher", "none", "--", "sh", "-c", "sleep 60")
    put = 4 << 20
    for each in (put, 1 << 19, 1024):
        before = json.loads(cluster.must("counters"))
        cluster.must("exec", "h0", "env", TWO_RAILS, cluster.tool, "launch", "-n", "2", "--", program, str(each))
        after = json.loads(cluster.must("counters"))
        sent = [sent_by_rails(before, after, host) for host in ("h0", "h1")]
        for host in (0, 1):
            expect(put < sum(sent[host]) < 1.5 * put, each, sent)
            if each >= 1 << 19:
                expect(min(sent[host]) > 0.4 * put, each, sent)
        if each < 1 << 19:
            expect(min(sent[0]) < 0.2 * put and min(sent[1]) < 0.2 * put, each, sent)
            expect((sent[0][0] > sent[0][1]) == (sent[1][0] > sent[1][1]), each, sent)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def a_running_plan_costs_its_caller_little_time(cluster, program):
    """16 MiB by a rail of 1 Gbit/s take 0.14 s. When the caller computes meanwhile, Sennit takes less than 5 % of that time of
    the thread, and the data arrives before the computation ends. Broken by a start that returns only after all is sent, by data
    that moves only during a wait, and by a wait that still has work to do."""
    done = cluster.run("--rails", "1", "--rate", "1gbit", "-n", "2", "--", program)
    expect(done.returncode == 0, done.stdout, done.stderr)
    text = done.stdout
    runs = [(float(took), float(cost)) for took, cost in re.findall(r"run \d took (\d+) us, of which (\d+) us", text)]
    there = [float(us) for us in re.findall(r"is there after (\d+) us", text)]
    expect(len(runs) == 3 and len(there) == 3, text)
    expect(runs[0][0] > 120_000, "the rail is slower than that", text)
    for number in (1, 2):
        expect(runs[number][1] < 0.05 * runs[0][0], text)
        expect(there[number] < 0.8 * runs[number][0], text)


def a_short_put_is_not_held_up_behind_a_long_one(cluster, program):
    """16 MiB by one rail of 400 Mbit/s take a third of a second, and a put behind them must take a small part of that. It has
    8 bytes, which a task carries, or 40 KiB on the same connection. Broken by a message that waits for the one before it."""
    for size, most in ((8, 0.1), (40960, 0.4)):
        done = cluster.run("--rails", "1", "--rate", "400mbit", "-n", "2", "--", program, str(size))
        expect(done.returncode == 0, done.stdout, done.stderr)
        runs = [(int(short), int(whole)) for short, whole in re.findall(r"short after (\d+) us, long after (\d+) us", done.stdout)]
        print(f"us until the {size} bytes behind 16 MiB, and the 16 MiB, arrived: {runs}")
        expect(len(runs) == 6 and min(whole for _, whole in runs) > 300_000, "the rail is slower than that", runs)
        parts = sorted(short / whole for short, whole in runs)
        expect(parts[len(parts) // 2] < most, parts, runs)  # the machine may have been busy in a run


def a_cut_rail_is_left_out_and_taken_again(cluster, program):
    """Puts continue by the other rail, and later by both again. Every word is compared."""
    keeper = cluster.start("--rails", "2", "--launcher", "none", "--", "sleep", "600")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(program)) as folder, open(f"{folder}/log", "w+", encoding="utf-8") as log:
        job = subprocess.Popen(
            [cluster.tool, "exec", "--name", cluster.name, "h0", "env", TWO_RAILS, "SENNIT_LOG=info", f"SENNIT_PEER_TIMEOUT={TIMEOUT_S}", cluster.tool, "launch", "-n", "2",
             "--", program, str(4 << 20), f"{folder}/stop"], env=cluster.environment, text=True, stdout=log, stderr=subprocess.STDOUT)

        def text():
            with open(f"{folder}/log", encoding="utf-8") as file:
                return file.read()

        def wait_for(truth, what):
            limit = time.monotonic() + 30
            while not truth():
                expect(time.monotonic() < limit and job.poll() is None, what, text())
                time.sleep(0.02)

        def megabytes_go_by(*rails):
            before = json.loads(cluster.must("counters"))
            wait_for(lambda: all(sent_by_rails(before, json.loads(cluster.must("counters")), "h0")[rail] > 16 << 20 for rail in rails),
                     f"puts by {rails}")

        # One of the two rails has the connection of the watch, which must move to the other.
        for rail, cut in ((1, []), (0, ["--silent"])):
            megabytes_go_by(0, 1)
            told = text().count("is left out"), text().count(" again")
            cluster.must("cut", "rail", *cut, "h1", str(rail))
            begin = time.monotonic()
            # Both ranks notice the cut, or one tells the other.
            wait_for(lambda: text().count("is left out") >= told[0] + 2, "left out")
            megabytes_go_by(1 - rail)
            time.sleep(max(0.0, begin + TIMEOUT_S + 1 - time.monotonic()))
            cluster.must("restore", "rail", "h1", str(rail))
            wait_for(lambda: text().count(" again") >= told[1] + 2, "taken again")
        megabytes_go_by(0, 1)
        with open(f"{folder}/stop", "w", encoding="utf-8"):
            pass
        expect(job.wait(timeout=30) == 0, text())
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def rails_carry_data_in_proportion_to_their_rates(cluster, program):
    """Puts of 16 MiB by one rail and by both, with equal and with unequal rails. Broken by equal parts on unequal rails, and by
    parts sent one after the other."""
    keeper = cluster.start("--rails", "2", "--rate", "400mbit", "--launcher", "none", "--", "sleep", "600")

    def rate_by(*rails):
        path = "self,mapped,fabric:" + ";".join(f"interface=rail{rail}" for rail in rails)
        rates = []
        for _ in range(1 if len(rails) == 1 else 3):  # the machine may be busy
            done = cluster.order("exec", "h0", "env", f"SENNIT_PATHS={path}", cluster.tool, "launch", "-n", "2", "--", program)
            found = re.search(r"puts go at ([0-9.]+) MB/s", done.stdout)
            expect(found is not None, done.stdout, done.stderr)
            rates.append(float(found.group(1)))
        return max(rates)

    alone = rate_by(0)
    both = rate_by(0, 1)
    print(f"equal rails: {alone} and {both} MB/s, {both / alone:.2f} x")
    expect(both > 1.9 * alone, alone, both)
    for host in ("h0", "h1"):
        cluster.must("exec", host, "tc", "qdisc", "replace", "dev", "rail1", "root", "tbf", "rate", "133mbit", "burst", "256kb", "latency", "50ms")
    fast, slow = rate_by(0), rate_by(1)
    both = rate_by(0, 1)
    print(f"unequal rails: {fast}, {slow} and {both} MB/s, {both / (fast + slow):.2f} of the sum")
    expect(fast > 2.5 * slow, "the rails do not have the requested rates", fast, slow)
    expect(both > 0.9 * (fast + slow), fast, slow, both)
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def judge_waits(cuts, text, waited, are_runs):
    """The waits are printed by tests/cluster/cut_messages.c. `waited` has their number before each cut."""
    found = [(int(ms), int(stop)) for ms, stop in re.findall(r"waited (\d+) ms, was not run for (\d+) ms", text)]
    waits = sorted(ms - stop for ms, stop in found)
    stops = [stop for _, stop in found if stop]
    waited.append(len(waits))
    held_up = sum(before < after for before, after in zip(waited, waited[1:]))
    print(f"{cuts} cuts, {re.findall(r'took .* messages', text)}, {held_up} held a message up for more than 200 ms: {waits}; "
          f"not run for {stops} ms")
    expect(re.search(r"took \d+ messages", text) is not None, text[-4000:])
    expect(are_runs or 4 * held_up >= 3 * int(cuts), held_up, waits)
    long_ones = [part[-2000:] for part in re.split(r"(?<= ms\n)", text) if re.search(r"waited (?:[3-9]|\d\d)\d{3} ms", part)]
    expect(not waits or waits[-1] < 3000 and waits[len(waits) // 2] < 2000, waits, *long_ones)


def no_message_is_lost_or_doubled_when_rails_are_cut(cluster, cuts, program, *options):
    """One of eight rails is cut during a message and comes back, again and again, each rail in turn. All messages arrive once
    and complete; pending data goes by the other rails in time, without the time for which the kernel did not run the receiver. At
    least two rails work at any time. At least three of four cuts must meet a message, visible as a long wait: other cuts test nothing.
    Messages in runs go by tasks, which retry sooner."""
    # A rail is used again about 17 s after the cable is plugged in: more rails allow more cuts in the same time.
    rails = range(8)
    paths = "SENNIT_PATHS=self,mapped,fabric:" + ";".join(f"interface=rail{rail}" for rail in rails)
    keeper = cluster.start("--rails", str(len(rails)), "--rate", "190mbit", "--launcher", "none", "--", "sleep", "20000")
    job = None
    try:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(program)) as folder, open(f"{folder}/log", "w+", encoding="utf-8") as log:
            job = subprocess.Popen(
                [cluster.tool, "exec", "--name", cluster.name, "h0", "env", paths, "SENNIT_LOG=info", cluster.tool, "launch", "-n", "2",
                 "--", program, f"{folder}/stop", *options], env=cluster.environment, text=True, stdout=log, stderr=subprocess.STDOUT)

            def text():
                with open(f"{folder}/log", encoding="utf-8") as file:
                    return file.read()

            def told(rail):
                """For each rank: how often it has left the rail out, and how often it has taken it again."""
                log = text()
                return [(log.count(f"rail {rail} carries nothing to rank {peer} "), log.count(f"rail {rail} carries to rank {peer} again"))
                        for peer in (0, 1)]

            def taken():
                with open(f"{folder}/stop.taken", encoding="utf-8") as file:
                    return int(file.read())

            def carry():
                return [rail for rail in rails if all(outs == agains for outs, agains in told(rail))]

            def wait_for(truth, what):
                limit = time.monotonic() + 40
                while not truth():
                    expect(time.monotonic() < limit and job.poll() is None, what, text()[-4000:])
                    time.sleep(0.02)

            wait_for(lambda: "messages come" in text(), "messages come")
            number_of = {}  # each rail's number in the log, which has its own order
            waited = []  # messages held up before each cut, and at the end
            for cut in range(int(cuts)):
                rail = rails[cut % len(rails)]
                wait_for(lambda rail=rail: number_of.get(rail, -1) not in set(rails) - set(carry()) and len(carry()) > 2, f"rail {rail} is taken again")
                before = [told(number) for number in rails]

                def left_out(before=before):
                    return [number for number in rails if all(now[0] > then[0] for now, then in zip(told(number), before[number]))]
                waited.append(text().count("waited "))
                cluster.must("cut", "rail", "h1", str(rail))
                wait_for(left_out, "left out")
                number_of[rail] = left_out()[0]
                # Otherwise the next cut could hold up the same message, and its wait would be that of two cuts.
                number = taken()
                wait_for(lambda number=number: taken() > number, "the message that the cut has held up")
                cluster.must("restore", "rail", "h1", str(rail))
            with open(f"{folder}/stop", "w", encoding="utf-8"):
                pass
            expect(job.wait(timeout=60) == 0, text()[-4000:])
            judge_waits(cuts, text(), waited, "runs" in options)
    finally:
        for process in (job, keeper):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(timeout=15)
    cluster.nothing_is_left()


def a_level_of_completion_data_passes_the_conformance_suite(cluster, level, ranks, suite, *groups):
    """No put is short enough for a task, so every event that fits uses completion data: the puts are counted."""
    settings = level.replace("+", ";")
    text = cluster_test.run_suite(cluster, ("--rails", "2", "-n", ranks), suite, f"fabric:eager=0;packed=0;{settings}", groups, "SENNIT_STATS=1")
    ridden = sum(int(count) for count in re.findall(r"puts with completion data: (\d+)", text))
    expect((ridden > 0) == (level != "events=0"), level, ridden)


def programs_of_unr_run_at_each_level(cluster, launcher, ranks, *programs):
    """The original programs between two hosts by two rails, with each number of bits of completion data and each layout of 32.
    Puts with events in completion data are counted: none with 8 bits, which have no room for the epochs that UNR's signals
    allow. Broken by a level that fails a call of UNR's, and by a level that is not used."""
    keeper = cluster.start("--rails", "2", "--launcher", "none", "--", "sleep", "600")
    for level in ("events=0", "events=8", "events=16", "events=32", "events=32;index=24", "events=32;index=8", "events=64"):
        for program in programs:
            text = cluster.order("exec", "h0", cluster.tool, "launch", "--launcher", launcher, "-n", ranks, "--", "env", "SENNIT_STATS=1",
                                 f"SENNIT_PATHS=self,mapped,fabric:eager=0;packed=0;{level}", program)
            expect(text.returncode == 0, level, program, text.stdout, text.stderr)
            ridden = sum(int(count) for count in re.findall(r"puts with completion data: (\d+)", text.stdout + text.stderr))
            expect((ridden > 0) == (level not in ("events=0", "events=8")), level, program, ridden)
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def a_full_slow_rail_is_not_taken_for_a_silent_host(cluster, program):
    """Puts that take several timeouts, in both directions at once, all arrive; then a cut is noticed in time although the rail
    is full. The queue is like that of a switch. Broken by a watch that gives up before its beats have passed the queue."""
    timeout_s, puts, queue_s = 3, 2, 0.5
    keeper = cluster.start("--rate", "5mbit", "--launcher", "none", "--", "sleep", "600")
    for host in ("h0", "h1"):
        cluster.must("exec", host, "tc", "qdisc", "del", "dev", "rail0", "root")
        # This congestion control fills queues, if the kernel has it.
        cluster.order("exec", host, "ip", "route", "replace", "10.100.0.0/24", "dev", "rail0", "scope", "link", "congctl", "cubic")
    # A job that hangs must end before the test, so that its output is shown.
    job = subprocess.Popen(
        ["timeout", "--kill-after=5", "80", cluster.tool, "exec", "--name", cluster.name, "h0", cluster.tool, "launch", "-n", "2",
         "--", "env", "SENNIT_LOG=info", f"SENNIT_PEER_TIMEOUT={timeout_s}", "SENNIT_PATHS=self,mapped,fabric:interface=rail0",
         program, str(puts)],
        env=cluster.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []

    def read(what):
        return cluster_test.read_event(job.stdout, lines, what)

    took = [read("put in ms")[1] / 1000 for _ in range(2)]
    expect(min(took) > 3 * timeout_s, "the rail is slow", took)
    expect({read("goes on with")[0] for _ in range(2)} == {0, 1}, lines)
    time.sleep(1)  # the rail is full again
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    cluster.must("cut", "rail", "--silent", "h1", "0")
    cut = time.clock_gettime(time.CLOCK_MONOTONIC)
    for _ in range(2):
        rank, peer, when = read("lost")
        # Data in the queues still arrives.
        expect(peer == 1 - rank and begin < when < cut + timeout_s + 0.5 + queue_s, rank, peer, begin, cut, when, lines)
    job.communicate()
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def random_programs_survive_lost_rails(cluster, seconds, ranks, suite, *groups):
    """One of two rails is cut for some seconds, on either host, silently or visibly. No operation fails, and no old data lands
    late."""
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    keeper = cluster.start("--rails", "2", "--launcher", "none", "--", "sleep", "600")
    words = [word for group in groups for word in ("--group", group)]
    counts, end, job = {"ok     ": 0, "is left out": 0, " again": 0}, time.monotonic() + float(seconds), None
    with tempfile.TemporaryDirectory(dir=os.path.dirname(suite)) as shared:
        while job or time.monotonic() < end:
            if job is None:
                seed += 1
                log = tempfile.TemporaryFile("w+")
                job = subprocess.Popen(
                    [cluster.tool, "exec", "--name", cluster.name, "h0", "env", "SENNIT_LOG=info", cluster.tool, "launch", "-n", ranks, "--",
                     "env", f"TMPDIR={shared}", suite, "--paths", "mapped,fabric:interface=rail0;interface=rail1", "--quick",
                     "--seed", str(seed), "--limit", "120", *words],
                    env=cluster.environment, text=True, stdout=log, stderr=subprocess.STDOUT)
            host, rail = draw.choice(["h0", "h1"]), draw.choice("01")
            cluster.must("cut", "rail", *draw.choice([[], ["--silent"]]), host, rail)
            time.sleep(draw.uniform(1, 4))
            cluster.must("restore", "rail", host, rail)
            time.sleep(draw.uniform(0.3, 2))
            if job.poll() is not None:
                log.seek(0)
                text = log.read()
                told = "\n".join(line for line in text.splitlines() if not line.startswith("ok     ") and "info:" not in line)
                expect(job.returncode == 0 and "FAILED" not in text, f"seed {seed}", told[-4000:])
                counts = {word: count + text.count(word) for word, count in counts.items()}
                job = None
    print(counts)
    expect(min(counts.values()) > 0, counts)
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def a_rail_that_one_host_lacks_is_left_out_for_its_ranks_only(cluster, sennit):
    """One rank of each host tries the rails. Broken by ranks that use another host's result, or have none."""
    process = cluster.start("--hosts", "3", "--rails", "2", "--launcher", "none", "--", "sleep", "90")
    cluster.must("cut", "rail", "--silent", "h2", "1")
    text = cluster.must("exec", "h0", "env", TWO_RAILS, cluster.tool, "launch", "-n", "6", "--", sennit, "info", "--peers", "--json")
    for pair in json.loads(text)["peers"]["pairs"]:
        hosts = {pair["from"] // 2, pair["to"] // 2}
        used = {rail["interface"] for rail in pair["rails"] if rail["used"]}
        expect(used == (set() if len(hosts) == 1 else {"rail0"} if 2 in hosts else {"rail0", "rail1"}), pair)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


if __name__ == "__main__":
    sys.exit(cluster_test.main(*sys.argv[1:], cases=globals()))
