"""Signals to the launcher, and leftovers after it or its ranks are killed."""
import os
import pty
import signal
import sys
import time

from launcher_test import contains, end_of, equal

TRAPS = "trap 'echo got $1; {then}' $1; echo ready; while :; do sleep 0.02; done"


def _script(name, then="exit 0"):
    return ["sh", "-c", TRAPS.format(then=then), "sh", name]


def user_signals_reach_every_rank(launcher):
    for name in ("USR1", "USR2"):
        job = launcher.start_and_wait_for(3, 3, *_script(name))
        job.send_signal(getattr(signal, f"SIG{name}"))
        code, output, _ = end_of(job)
        equal((code, output), (0, f"got {name}\n" * 3))


def ending_signals_reach_every_rank_and_let_it_clean_up(launcher):
    for name in ("INT", "TERM", "HUP", "QUIT"):
        job = launcher.start_and_wait_for(3, 3, *_script(name, "sleep 0.8; exit 0"))
        job.send_signal(getattr(signal, f"SIG{name}"))
        code, output, messages = end_of(job)
        equal((code, output), (0, f"got {name}\n" * 3))
        # The shells may report that their sleep was ended; the launcher must print nothing.
        assert "sennit run" not in messages, messages


def ranks_killed_by_the_signal_give_its_code(launcher):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        job = launcher.start_and_wait_for(2, 2, "sh", "-c", "echo ready; exec sleep 30")
        start = time.monotonic()
        job.send_signal(number)
        code, _, _ = end_of(job)
        equal(code, 128 + number)
        assert time.monotonic() - start < 1, "slow"


def a_second_ending_signal_kills_at_once(launcher):
    job = launcher.start_and_wait_for(2, 2, "sh", "-c", "trap '' INT TERM; echo ready; "
                                                        "while :; do sleep 0.1; done")
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    equal(job.poll(), None, "the job ended at the first signal, which the ranks ignore")
    start = time.monotonic()
    job.send_signal(signal.SIGINT)
    code, _, _ = end_of(job)
    equal(code, 128 + signal.SIGINT)
    assert time.monotonic() - start < 1, "slow"


def ranks_that_ignore_an_ending_signal_are_killed_in_the_end(launcher):
    job = launcher.start_and_wait_for(2, 2, "sh", "-c", "trap '' TERM; echo ready; "
                                                        "while :; do sleep 0.1; done")
    start = time.monotonic()
    job.send_signal(signal.SIGTERM)
    code, _, _ = end_of(job)
    equal(code, 128 + signal.SIGTERM)
    assert 4.5 < time.monotonic() - start < 7, time.monotonic() - start


def an_ignored_signal_stays_ignored(launcher):
    command = launcher.command(2, "sh", "-c", "echo ready; sleep 1; echo done")
    quoted = " ".join(f"'{word}'" for word in command)
    job = launcher.watch.start(["sh", "-c", f"trap '' HUP; exec {quoted}"], text=True, stdout=-1)
    job.stdout.readline()
    job.send_signal(signal.SIGHUP)
    output, _ = job.communicate(timeout=10)
    equal((job.returncode, output.count("done")), (0, 2))


def _states(job_pids):
    found = []
    for number in job_pids:
        with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
            found.append(file.read().rpartition(")")[2].split()[0])
    return found


def stop_and_continue_reach_the_ranks_and_the_launcher(launcher):
    # The sleep is in the background: a shell that is stopped while it starts a command with vfork() is "D", not "T", until the
    # command continues.
    job = launcher.start(2, "sh", "-c", "sleep 2 & echo $$; wait; echo done")
    ranks = [int(job.stdout.readline()) for _ in range(2)]
    job.send_signal(signal.SIGTSTP)
    _wait_for(lambda: _states([*ranks, job.pid]) == ["T", "T", "T"], "all are stopped")
    job.send_signal(signal.SIGCONT)
    _wait_for(lambda: "T" not in _states([*ranks, job.pid]), "all go on")
    code, output, _ = end_of(job)
    equal((code, output), (0, "done\ndone\n"))


def control_c_at_the_terminal_reaches_each_rank_once(launcher):
    script = "trap 'echo once; n=1' INT; echo ready; i=0; while [ $i -lt 40 ]; do i=$((i+1)); sleep 0.02; done"
    main, side = pty.openpty()
    wrapper = ("import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
               "os.execvp(sys.argv[1], sys.argv[1:])")
    job = launcher.watch.start([sys.executable, "-c", wrapper, *launcher.command(3, "sh", "-c", script)],
                               stdin=side, stdout=side, stderr=side)
    os.close(side)
    text = b""
    while text.count(b"ready") < 3:
        text += os.read(main, 1024)
    os.write(main, b"\x03")
    try:
        while True:
            text += os.read(main, 1024)
    except OSError:
        pass  # the last process has closed the terminal
    os.close(main)
    equal((job.wait(10), text.count(b"once")), (0, 3), text)


def _wait_for(condition, what, within=5):
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, f"did not happen: {what}"
        time.sleep(0.01)


def _gone_within(launcher, seconds):
    start = time.monotonic()
    left = launcher.watch.wait_until_clean(seconds)
    equal(left, [], f"after {seconds} s")
    return time.monotonic() - start


# Ranks whose children left their group, their session, or their parent.
DETACHED = ("trap '' TERM HUP INT; setsid sleep 40 & (setsid sh -c 'trap \"\" TERM; sleep 41' &) ; "
            "sleep 42 & echo ready; wait")


def nothing_is_left_when_the_launcher_is_killed(launcher):
    job = launcher.start_and_wait_for(4, 4, "sh", "-c", DETACHED)
    time.sleep(0.2)
    assert len(launcher.watch.processes()) >= 4 * 3
    job.kill()
    equal(end_of(job)[0], -signal.SIGKILL)
    _gone_within(launcher, 1.0)


# Like `timeout -s KILL`: front and the other members of its group die at once.
def nothing_is_left_when_the_group_of_the_launcher_is_killed(launcher):
    job = launcher.start_and_wait_for(3, 3, "sh", "-c", f"{launcher.rank_program} hold; true", start_new_session=True)
    os.killpg(job.pid, signal.SIGKILL)
    equal(end_of(job)[0], -signal.SIGKILL)
    _gone_within(launcher, 1.0)


def nothing_is_left_when_the_launcher_is_killed_while_ranks_hold_connections(launcher):
    job = launcher.start_and_wait_for(4, 4, launcher.rank_program, "hold")
    job.kill()
    equal(end_of(job)[0], -signal.SIGKILL)
    _gone_within(launcher, 1.0)


def nothing_is_left_when_the_launcher_is_killed_while_ranks_write(launcher):
    job = launcher.start_and_wait_for(2, 2, "yes")
    # Nobody reads: the pipes are full, and the keeper waits until it can write.
    time.sleep(0.3)
    job.kill()
    job.wait(10)
    _gone_within(launcher, 1.0)
    job.stdout.close()
    job.stderr.close()


def _keeper_of(job):
    with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as file:
        (keeper,) = map(int, file.read().split())
    return keeper


def nothing_is_left_when_the_keeper_is_killed(launcher):
    job = launcher.start_and_wait_for(4, 4, "sh", "-c", DETACHED)
    time.sleep(0.2)
    os.kill(_keeper_of(job), signal.SIGKILL)
    code, _, messages = end_of(job)
    equal(code, 125)
    contains(messages, "keeper")
    _gone_within(launcher, 0.5)


def ranks_die_when_launcher_and_keeper_are_killed_together(launcher):
    job = launcher.start_and_wait_for(4, 4, "sh", "-c", "echo ready; exec sleep 30")
    keeper = _keeper_of(job)
    os.kill(keeper, signal.SIGSTOP)
    job.kill()
    os.kill(keeper, signal.SIGKILL)
    end_of(job)
    _gone_within(launcher, 1.0)


def orphans_are_ended_with_the_job(launcher):
    result = launcher.shell(2, "(setsid sh -c 'trap \"\" TERM HUP; sleep 30' &); exit 0")
    equal(result.returncode, 0)
    equal(launcher.watch.processes(), [], "when the launcher has returned")
    assert result.seconds < 2, result.seconds


def a_helper_that_ends_by_itself_is_not_disturbed(launcher):
    result = launcher.shell(2, "(setsid sh -c 'sleep 0.1; echo bye' &); exit 0")
    equal((result.returncode, result.stdout), (0, "bye\nbye\n"))


def orphans_of_a_job_that_fails_are_ended(launcher):
    result = launcher.shell(2, "(setsid sleep 30 &); [ $SENNIT_RANK = 0 ] && exit 3; sleep 30")
    equal(result.returncode, 3)
    equal(launcher.watch.processes(), [], "when the launcher has returned")


def a_launcher_inside_a_launcher_is_cleaned_up(launcher):
    inner = launcher.command(2, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    job = launcher.start_and_wait_for(4, 2, *inner)
    job.kill()
    end_of(job)
    _gone_within(launcher, 1.5)
