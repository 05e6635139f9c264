"""Output and input of ranks: lines stay whole, tags, long lines, bytes, standard input."""
import os
import pty
import subprocess
import sys
import time

from launcher_test import contains, end_of, equal, skip

WRITER = r"""
import os, sys
rank = os.environ["SENNIT_RANK"]
letter = chr(ord("a") + int(rank))
for i in range(10000):
    line = rank + " " + str(i) + " " + letter * (i % 91) + "\n"
    # In two pieces, so that a launcher that passes on what it reads would mix them.
    half = len(line) // 2
    os.write(1, line[:half].encode())
    os.write(1, line[half:].encode())
"""


def _check_lines(text, ranks, count):
    seen = [0] * ranks
    lines = text.split("\n")
    equal(lines.pop(), "", "the end of the output")
    for line in lines:
        rank, number, letters = line.split(" ")
        equal(int(number), seen[int(rank)], f"order of rank {rank}")
        equal(letters, chr(ord("a") + int(rank)) * (int(number) % 91), "the text of a line")
        seen[int(rank)] += 1
    equal(seen, [count] * ranks, "number of lines of each rank")


def lines_of_eight_ranks_are_never_mixed(launcher):
    result = launcher.run(8, sys.executable, "-c", WRITER, timeout=120)
    equal(result.returncode, 0, result.stderr)
    _check_lines(result.stdout, 8, 10000)


def tagged_lines_are_never_mixed(launcher):
    result = launcher.run(4, sys.executable, "-c", WRITER, options=["--tag"], timeout=120)
    equal(result.returncode, 0, result.stderr)
    for line in result.stdout.splitlines():
        tag, rank = line.split(" ")[:2]
        equal(tag, f"[{rank}]")
    _check_lines("".join(line.split(" ", 1)[1] + "\n" for line in result.stdout.splitlines()), 4, 10000)


def a_slow_reader_loses_nothing(launcher):
    job = launcher.start(8, sys.executable, "-c", WRITER)
    time.sleep(1.5)
    code, output, _ = end_of(job, within=120)
    equal(code, 0)
    _check_lines(output, 8, 10000)


def output_and_errors_stay_apart(launcher):
    result = launcher.shell(3, "echo out $SENNIT_RANK; echo err $SENNIT_RANK >&2", options=["--tag"])
    equal(result.returncode, 0)
    equal(sorted(result.stdout.splitlines()), [f"[{i}] out {i}" for i in range(3)])
    equal(sorted(result.stderr.splitlines()), [f"[{i}] err {i}" for i in range(3)])


def last_line_without_newline_comes_out(launcher):
    result = launcher.shell(1, "printf 'no newline'", options=["--tag"])
    equal(result.stdout, "[0] no newline")
    result = launcher.shell(1, "printf 'dying words'; kill -KILL $$")
    equal((result.returncode, result.stdout), (137, "dying words"))


def empty_lines_are_kept(launcher):
    result = launcher.shell(1, r"printf '\n\nx\n\n'")
    equal(result.stdout, "\n\nx\n\n")
    result = launcher.shell(1, r"printf '\n\nx\n\n'", options=["--tag"])
    equal(result.stdout, "[0] \n[0] \n[0] x\n[0] \n")


def very_long_lines_stay_whole(launcher):
    size = 3_000_000
    script = f"import os; r = os.environ['SENNIT_RANK']; print(r * {size}); print(r * {size})"
    result = launcher.run(4, sys.executable, "-c", script)
    equal(result.returncode, 0)
    equal(sorted(result.stdout.splitlines()), [str(i) * size for i in range(4) for _ in range(2)])


def bytes_are_not_changed(launcher):
    # 40 MB without a newline, longer than the launcher's limit for a line, with every value of a byte.
    script = ("import sys; b = bytes(x for x in range(256) if x != 10) * 160000; "
              "sys.stdout.buffer.write(b + b'\\n' + bytes(range(256)) * 40)")
    with open(os.path.join(launcher.watch.folder, "bytes"), "w+b") as file:
        job = launcher.watch.start(launcher.command(1, sys.executable, "-c", script), stdout=file)
        equal(job.wait(60), 0)
        file.seek(0)
        found = file.read()
    os.remove(file.name)
    wanted = bytes(x for x in range(256) if x != 10) * 160000 + b"\n" + bytes(range(256)) * 40
    assert found == wanted, f"{len(found)} of {len(wanted)} bytes came, or they differ"


def output_into_a_closed_pipe_ends_the_ranks(launcher):
    job = launcher.start(2, "yes")
    job.stdout.readline()
    job.stdout.close()
    equal(job.wait(10), 128 + 13)
    contains(job.stderr.read(), "signal 13")
    job.stderr.close()


# Broken by lost output with exit code 0, or by ranks that seem to have died of a signal of their own.
def output_that_can_not_be_written_fails_the_job_and_the_reason_is_named(launcher):
    if not os.path.exists("/dev/full"):
        skip("no /dev/full here")
    wanted = "cannot write the standard output of the ranks: No space left on device"
    with open("/dev/full", "w", encoding="ascii") as full:
        for script in ("echo x", "echo x; sleep 20"):
            job = launcher.start(2, "sh", "-c", script, stdout=full)
            code, _, messages = end_of(job)
            equal(code, 125, messages)
            contains(messages, wanted)
            assert "signal" not in messages, messages
        job = launcher.start(2, "sh", "-c", "echo x >&2", stderr=full)
        equal(end_of(job)[0], 125, "standard error too")
        for words in (["--version"], ["run", "--help"], ["doctor", "--no-measure"]):
            job = launcher.watch.start([launcher.sennit, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            code, _, messages = end_of(job)
            equal((code, messages), (125, "sennit: cannot write the standard output: No space left on device\n"), words)


# Broken by a program that aborts because its message cannot be written.
def messages_that_can_not_be_written_leave_the_exit_code(launcher):
    if not os.path.exists("/dev/full"):
        skip("no /dev/full here")
    with open("/dev/full", "w", encoding="ascii") as full:
        for code, *words in ((2, "info", "--nonsense"), (2, "bench", "nonsense"), (2, "run", "-n", "2", "--nonsense"),
                             (127, "run", "-n", "2", "/nonsense"), (1, "trace", "where", "/nonsense"), (125, "doctor", "--no-measure")):
            job = launcher.watch.start([launcher.sennit, *words], stdout=full, stderr=full)
            equal(end_of(job)[0], code, words)


def a_full_pipe_does_not_keep_the_job_from_being_ended(launcher):
    job = launcher.start(2, "yes", options=["--timeout", "0.5"])
    start = time.monotonic()
    time.sleep(1.2)
    # The reader has read nothing so far; the ranks must have ended all the same.
    names = [os.path.basename(text.split()[2]) for text in launcher.watch.left() if " " in text]
    assert "yes" not in names, names
    code, output, messages = end_of(job)
    equal(code, 124)
    assert set(output.split("\n")) <= {"y", ""}, "torn lines"
    contains(messages, "--timeout")
    assert time.monotonic() - start < 10


def standard_input_goes_to_rank_0_only(launcher):
    result = launcher.shell(3, "printf '%s:' $SENNIT_RANK; cat; echo", input="for rank zero")
    equal(sorted(result.stdout.splitlines()), ["0:for rank zero", "1:", "2:"])


def large_input_arrives_whole(launcher):
    text = "0123456789abcdef" * 200_000
    result = launcher.run(2, "sh", "-c", "if [ $SENNIT_RANK = 0 ]; then md5sum; fi", input=text)
    wanted = subprocess.run(["md5sum"], input=text, capture_output=True, text=True, check=True).stdout
    equal(result.stdout, wanted)


def unread_input_is_left_for_the_next_command(launcher):
    command = " ".join(launcher.command(2, "true"))
    result = launcher.watch.run(["sh", "-c", f"{command}; cat"], input="still there")
    equal(result.stdout, "still there")


def a_terminal_reaches_rank_0_and_a_prompt_is_seen(launcher):
    script = "if [ $SENNIT_RANK = 0 ]; then printf 'name? '; read name; echo hello $name; fi"
    main, side = pty.openpty()
    try:
        # A new session with this terminal, as a login shell has it.
        wrapper = ("import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
                   "os.execvp(sys.argv[1], sys.argv[1:])")
        job = launcher.watch.start(
            [sys.executable, "-c", wrapper, *launcher.command(2, "sh", "-c", script)],
            stdin=side, stdout=side, stderr=side)
        os.close(side)
        side = -1
        _read_until(main, b"name? ")
        os.write(main, b"sennit\n")
        _read_until(main, b"hello sennit")
        equal(job.wait(10), 0)
    finally:
        os.close(main)
        if side >= 0:
            os.close(side)


# A shell with one job: it starts the job in the background or not, moves it into the foreground after a while, and shows the unread
# input when the job has ended.
SHELL = """
import fcntl, os, signal, sys, termios, time
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
own = os.getpgrp()
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    if sys.argv[1] == "0":
        os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
time.sleep(float(sys.argv[1]))
os.tcsetpgrp(0, job)
os.waitpid(job, 0)
os.tcsetpgrp(0, own)
print("job over", flush=True)
print("left:", sys.stdin.readline(), flush=True)
"""


def _in_a_shell(launcher, background_s, script, typed, wanted):
    main, side = pty.openpty()
    command = launcher.command(2, "sh", "-c", script)
    job = launcher.watch.start([sys.executable, "-c", SHELL, str(background_s), *command], stdin=side, stdout=side, stderr=side)
    os.close(side)
    try:
        _read_until(main, b"ready")
        os.write(main, typed)
        text = _read_until(main, wanted)
        os.write(main, b"no more\n")
        equal(job.wait(10), 0)
        return text
    finally:
        os.close(main)


def a_launcher_that_comes_to_the_foreground_hands_on_the_terminal(launcher):
    script = "[ $SENNIT_RANK = 1 ] || { echo ready; read word; echo got $word; }"
    _in_a_shell(launcher, 0.5, script, b"sennit\n", b"got sennit")


def input_unread_by_rank_0_is_left_for_the_shell(launcher):
    with open("/proc/self/status", encoding="ascii") as file:
        (capabilities,) = [int(line.split()[1], 16) for line in file if line.startswith("CapEff")]
    try:
        with open("/proc/sys/dev/tty/legacy_tiocsti", encoding="ascii") as file:
            allowed = file.read().strip() == "1"
    except OSError:
        allowed = True
    if not allowed and not capabilities & 1 << 21:  # CAP_SYS_ADMIN
        skip("the kernel lets nobody give input back to a terminal (dev.tty.legacy_tiocsti)")
    script = "[ $SENNIT_RANK = 1 ] || { echo ready; sleep 0.6; }"
    _in_a_shell(launcher, 0, script, b"first\nsecond\n", b"left: first")


def _read_until(terminal, wanted, within=10):
    end = time.monotonic() + within
    text = b""
    while wanted not in text:
        assert time.monotonic() < end, f"{wanted!r} did not come, only {text!r}"
        text += os.read(terminal, 1024)
    return text
