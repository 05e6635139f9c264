"""The program behind `sennit report`: measures, and writes a page and its JSON. Its help has the details.

Started by `sennit report` as: report.py --sennit PROGRAM [option ...]. docs/design/report.md has the form of the JSON.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.append(os.path.join(ROOT, "bench", "study"))  # an installation has its modules here
MODULES = {"matplotlib": "python3-matplotlib", "jinja2": "python3-jinja2"}
SYSTEM_PYTHON = "/usr/bin/python3"  # distributions package modules for this Python
MINUTES = {"quick": 1.8, "full": 29}
TO_END_S = 4  # for `sennit bench` to end its ranks
PAGE_S = 8  # to draw and write it
FORMAT = 1


class WrongUse(Exception):
    """Wrong usage; the text names the wrong words."""


def require_modules():
    """If this Python lacks a module, starts again with the system's Python; if that lacks it too, ends with a line."""
    missing = []
    for name in MODULES:
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    if missing and os.path.exists(SYSTEM_PYTHON) and "SENNIT_REPORT_PYTHON" not in os.environ:
        os.environ["SENNIT_REPORT_PYTHON"] = SYSTEM_PYTHON
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
    os.environ.pop("SENNIT_REPORT_PYTHON", None)
    if missing:
        sys.exit(f"sennit report: Python has no {' and no '.join(missing)}: apt-get install {' '.join(MODULES[name] for name in missing)}")


class Measuring:
    """Runs commands one by one until the time is over or an interrupt is received."""

    def __init__(self, sennit, minutes):
        self.sennit, self.end = sennit, time.monotonic() + 60 * minutes
        self.interrupted = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.interrupted.set())

    def left(self):
        return self.end - time.monotonic()

    def estimate(self, wanted):
        """Seconds of the quick parts on 2 processors, and of the page."""
        return PAGE_S + sum(part.seconds for part in wanted if not self.reason_to_leave_out(part, part.quick))

    def words(self, command, folder):
        words = [word.format(bin=os.path.dirname(self.sennit), out=os.path.join(folder, "lines.jsonl"), folder=folder) for word in command.split()]
        return [sys.executable, "-B", os.path.join(ROOT, words[0]), *words[1:]] if words[0].endswith(".py") else [self.sennit, *words]

    def run(self, command):
        """(state, reason, lines) of one command; if it was ended, the lines that it had printed before."""
        with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "out"), "w+", encoding="utf-8") as out, \
                open(os.path.join(folder, "errors"), "w+", encoding="utf-8") as errors:
            with subprocess.Popen(self.words(command, folder), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True) as process:
                while process.poll() is None and self.left() > 0 and not self.interrupted.wait(0.05):
                    pass
                is_ended = process.poll() is None
                if is_ended:
                    end(process)
            errors.seek(0)
            said = errors.read().strip().splitlines()
            rows = [row for name in sorted(os.listdir(folder)) if name == "out" or ".jsonl" in name for row in rows_of(os.path.join(folder, name))]
        if is_ended:
            return ("interrupted", "", rows) if self.interrupted.is_set() else ("out of time", "", rows)
        if process.returncode != 0 or not rows:
            return "failed", f"exit code {process.returncode}" + (f": {said[-1]}" if said else ""), rows
        return "complete", "", rows

    def part(self, part, commands):
        """A part of the report."""
        started = time.monotonic()
        record = {"name": part.name, "commands": list(map(shown, commands)), "state": "complete", "reason": "", "seconds": 0, "lines": []}
        reason = self.reason_to_leave_out(part, commands)
        if reason:
            return {**record, "state": "left out", "reason": reason}
        for command in commands:
            if self.left() <= 0 or self.interrupted.is_set():
                record["state"] = "interrupted" if self.interrupted.is_set() else "out of time"
                break
            record["state"], record["reason"], rows = self.run(command)
            record["lines"] += rows
            if record["state"] != "complete":
                break
        return {**record, "seconds": round(time.monotonic() - started, 1)}

    def reason_to_leave_out(self, part, commands):
        script = commands[0].split()[0]
        if not part.programs:
            return ""
        if not os.path.exists(os.path.join(ROOT, script)):
            return f"{script} is not there: it is in the source tree"
        missing = [name for name in part.programs if not os.path.exists(os.path.join(os.path.dirname(self.sennit), name))]
        return f"the program {missing[0]} is not beside sennit: make build" if missing else ""


def shown(command):
    """A command as a user types it."""
    is_script = command.split()[0].endswith(".py")
    return "python3 " + command.format(bin="build/bin", out="lines.jsonl", folder="results") if is_script else "sennit " + command


def clock(seconds):
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"


def end(process):
    """Sends SIGINT, and SIGKILL if the process does not end."""
    try:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(TO_END_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    except ProcessLookupError:
        process.wait()


def rows_of(path):
    """Lines of JSON; the last one may be cut off."""
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    return rows


def chosen(text):
    import parts  # pylint: disable=import-outside-toplevel
    names = text.split(",") if text else list(parts.BY_NAME)
    for name in names:
        if name not in parts.BY_NAME:
            raise WrongUse(f'unknown part "{name}"; there are {", ".join(parts.BY_NAME)}')
    return [parts.BY_NAME[name] for name in names]


def measured(arguments, command):
    import machine  # pylint: disable=import-outside-toplevel
    wanted, kind = chosen(arguments.parts), "full" if arguments.full else "quick"
    minutes = arguments.minutes or MINUTES[kind]
    measuring = Measuring(arguments.sennit, minutes)
    if not arguments.json:
        about = f"about {clock(min(measuring.estimate(wanted), 60 * minutes))} minutes, " if kind == "quick" else ""
        print(f"sennit report: {len(wanted)} part{'s' if len(wanted) > 1 else ''}, {about}{clock(60 * minutes)} at most", file=sys.stderr, flush=True)
    report = {"report": FORMAT, "kind": kind, "command": command, **machine.about(arguments.sennit), "ended": "complete", "parts": []}
    for part in wanted:
        if not arguments.json:
            print(f"sennit report: {part.name}, {max(0, measuring.left()):.0f} s left", file=sys.stderr, flush=True)
        report["parts"].append(measuring.part(part, getattr(part, kind)))
    states = {part["state"] for part in report["parts"]}
    report["ended"] = next((state for state in ("interrupted", "failed", "out of time") if state in states), "complete")
    return report


def read(path):
    """Reads a report; ends the program if the file is no report."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        if report["report"] != FORMAT:
            raise ValueError(f"its form is {report['report']}, and this program reads {FORMAT}")
        for part in report["parts"]:
            chosen(part["name"])
            _ = part["state"], part["reason"], part["commands"], part["lines"]
        _ = report["machine"], report["versions"], report["date"], report["command"], report["ended"]
        return report
    except (OSError, ValueError, KeyError, TypeError, AttributeError, WrongUse) as error:
        sys.exit(f"sennit report: {path} is no report: {type(error).__name__ if isinstance(error, KeyError) else ''} {error}".replace("  ", " "))


def words_of(arguments):
    words = ["sennit", "report"] + ["--full"] * arguments.full
    for name in ("parts", "minutes"):
        if getattr(arguments, name):
            words += [f"--{name}", f"{getattr(arguments, name):g}" if name == "minutes" else getattr(arguments, name)]
    return " ".join(words)


def parsed():
    parser = argparse.ArgumentParser(prog="sennit report", allow_abbrev=False)
    parser.add_argument("--sennit", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--out", default="sennit-report")
    for name in ("--parts", "--read", "--compare"):
        parser.add_argument(name, default="")
    return parser.parse_args()


def main():
    require_modules()
    import comparison  # pylint: disable=import-outside-toplevel
    import rendering  # pylint: disable=import-outside-toplevel
    arguments = parsed()
    try:
        chosen(arguments.parts)
    except WrongUse as error:
        print(f"sennit report: {error}", file=sys.stderr)
        return 2
    old = read(arguments.compare) if arguments.compare else None
    if not arguments.json:
        try:  # check this before minutes of measuring, without a change of an existing file
            with open(arguments.out + ".html", "a", encoding="utf-8"):
                pass
        except OSError as error:
            sys.exit(f"sennit report: {arguments.out}.html cannot be written: {error.strerror}")
    report = read(arguments.read) if arguments.read else measured(arguments, words_of(arguments))
    text = json.dumps(report, ensure_ascii=False)
    if arguments.json:
        print(text)
    else:
        for name, content in ((".json", text + "\n"), (".html", rendering.page(report, comparison.compare(old, report) if old else None))):
            with open(arguments.out + name, "w", encoding="utf-8") as file:
                file.write(content)
            print(arguments.out + name)
    if arguments.read:
        return 0
    has_lines = any(part["lines"] for part in report["parts"])
    return 130 if report["ended"] == "interrupted" else 1 if report["ended"] == "failed" or not has_lines else 0


if __name__ == "__main__":
    sys.exit(main())
