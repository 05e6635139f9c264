#!/usr/bin/env python3
"""Runs tools/setup on a made-up machine: a separate folder, and a PATH that contains only replacements.

    tests/setup/setup_test.py PROJECT CASE

The replacements of id, sudo, dpkg-query, apt-cache and apt-get answer as the case wants and record their calls. Broken by something
that is installed or left out contrary to the output, a line that does not name exactly the missing packages, a change without the
right to it, or an optional package that stops everything.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

INSTALL = "apt-get install --no-install-recommends "
REAL = ("bash", "awk", "cat", "dirname", "env", "mkdir", "true")  # the programs that the script itself needs
STAND_INS = {
    "id": 'echo "$USER_ID"',
    "sudo": '[ "$SUDO_WORKS" = yes ] || exit 1\n[ "$1" = -n ] && shift\necho "sudo $*" >> "$CALLS"\nexec "$@"',
    # All packages are installed except those that the case lacks; `un` is dpkg's mark for a known package that is not installed.
    "dpkg-query": 'for word in "$@"; do\n  case $word in -*|\'${\'*) continue ;; esac\n  case " $LACKS " in\n'
                  '  *" $word "*) echo "$word un " ;;\n  *) echo "$word ii " ;;\n  esac\ndone',
    "apt-cache": 'echo "$3 | 1.0 | somewhere"',
    # Fails for packages that the mirror does not have.
    "apt-get": 'echo "apt-get $*" >> "$CALLS"\nfor word in "$@"; do\n'
               '  case " $NOT_TO_BE_HAD " in *" $word "*) exit 100 ;; esac\ndone\nexit 0',
}


class Machine:
    """A machine without the packages `lacks`; apt cannot provide those of `not_to_be_had`."""

    def __init__(self, project, lacks="", user=1000, sudo=False, not_to_be_had=""):
        self.folder = tempfile.TemporaryDirectory(prefix="sennit-setup-")
        self.calls_file = os.path.join(self.folder.name, "calls")
        os.mkdir(os.path.join(self.folder.name, "tools"))
        shutil.copy(os.path.join(project, "tools", "setup"), os.path.join(self.folder.name, "tools", "setup"))
        self.path = os.path.join(self.folder.name, "path")
        os.mkdir(self.path)
        for name in REAL:
            os.symlink(shutil.which(name), os.path.join(self.path, name))
        for name, text in STAND_INS.items():
            self.add(name, text)
        self.environment = {"PATH": self.path, "LACKS": lacks, "USER_ID": str(user), "SUDO_WORKS": "yes" if sudo else "no",
                            "NOT_TO_BE_HAD": not_to_be_had, "CALLS": self.calls_file}

    def add(self, name, text="exit 0"):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(f"#!{shutil.which('bash')}\n{text}\n")
        os.chmod(file.name, 0o755)

    def run(self, *words):
        """Exit code, output, errors, and the calls of apt-get and sudo."""
        open(self.calls_file, "w", encoding="utf-8").close()
        done = subprocess.run([os.path.join(self.folder.name, "tools", "setup"), *words], capture_output=True, text=True,
                              timeout=30, env=self.environment, check=False, cwd="/")
        with open(self.calls_file, encoding="utf-8") as file:
            return done.returncode, done.stdout, done.stderr, file.read().splitlines()

    def changed(self):
        return sorted(set(os.listdir(self.folder.name)) - {"tools", "path", "calls"})


def expect(truth, *seen):
    if not truth:
        raise AssertionError("not as expected:\n  " + "\n  ".join(map(repr, seen)))


def installs(calls):
    """The packages named in each call of `apt-get install`."""
    found = [re.search(r"^apt-get .*\binstall -y --no-install-recommends (.*)$", call) for call in calls]
    return [match[1] for match in found if match]


def nothing_is_missing(project):
    machine = Machine(project)
    expect(machine.run() == (0, "", "", []), machine.run())
    expect(machine.changed() == [], machine.changed())


def a_needed_package_without_rights_stops_with_the_exact_line(project):
    machine = Machine(project, lacks="cmake libfmt-dev mpich")
    code, out, errors, calls = machine.run()
    expect(code == 1 and calls == [] and out == "", code, out, calls)
    expect(errors.splitlines()[1:] == [f"    sudo {INSTALL}cmake libfmt-dev mpich"], errors)
    expect(machine.changed() == [], machine.changed())


def an_optional_package_without_rights_is_named_and_left_out(project):
    machine = Machine(project, lacks="mpich libmpich-dev")
    code, out, errors, calls = machine.run()
    expect(code == 0 and calls == [] and errors == "", code, errors, calls)
    expect(len(out.splitlines()) == 1 and "going on without mpich libmpich-dev:" in out, out)
    expect(machine.changed() == [], machine.changed())


def root_installs_exactly_the_missing_packages(project):
    machine = Machine(project, lacks="cmake spin", user=0)
    code, out, errors, calls = machine.run()
    expect(code == 0 and errors == "", code, out, errors)
    expect(len(calls) == 1 and installs(calls) == ["cmake spin"], calls)


def sudo_without_a_password_is_as_good_as_root(project):
    machine = Machine(project, lacks="cmake spin", sudo=True)
    code, _, errors, calls = machine.run()
    expect(code == 0 and errors == "" and installs(calls) == ["cmake spin"], code, errors, calls)
    expect([call.split()[:2] for call in calls if call.startswith("sudo")][-1] == ["sudo", "env"], calls)


def an_unavailable_package_is_left_out_and_not_tried_again(project):
    machine = Machine(project, lacks="cmake spin mpich", user=0, not_to_be_had="mpich")
    code, out, _, calls = machine.run()
    expect(code == 0 and installs(calls)[-3:] == ["cmake", "mpich", "spin"], code, calls)
    expect("going on without mpich:" in out.splitlines()[-1], out)
    machine.environment["LACKS"] = "mpich"
    code, out, _, calls = machine.run()
    expect(code == 0 and calls == [] and "going on without mpich:" in out, code, out, calls)


def an_unavailable_needed_package_stops(project):
    machine = Machine(project, lacks="cmake spin", user=0, not_to_be_had="cmake")
    code, _, errors, calls = machine.run()
    expect(code == 1 and "could not be installed: cmake" in errors, code, errors)
    expect("spin" not in installs(calls), calls)


def each_purpose_wants_its_own_packages(project):
    # The demo does not need the packages of the tests, and must not mention them.
    machine = Machine(project, lacks="clang-format valgrind spin python3-numpy")
    for purpose in ("build", "demo", "package"):
        expect(machine.run(purpose) == (0, "", "", []), purpose, machine.run(purpose))
    code, _, errors, _ = machine.run("test")
    expect(code == 1 and f"{INSTALL}valgrind clang-format spin python3-numpy" in errors, code, errors)
    machine = Machine(project, lacks="dpkg-dev python3 libhwloc-dev")
    for purpose, packages in (("build", "libhwloc-dev"), ("demo", "libhwloc-dev python3"),
                              ("package", "libhwloc-dev python3 dpkg-dev"), ("test", "libhwloc-dev python3 dpkg-dev")):
        code, _, errors, _ = machine.run(purpose)
        expect(code == 1 and errors.splitlines()[-1] == f"    sudo {INSTALL}{packages}", purpose, errors)
    # Installing and packaging do not need the tests.
    machine = Machine(project, lacks="make ninja-build libgtest-dev libgmock-dev")
    for purpose, packages in (("install", "make"), ("package", "make"), ("build", "ninja-build libgtest-dev libgmock-dev")):
        code, _, errors, _ = machine.run(purpose)
        expect(code == 1 and f"    sudo {INSTALL}{packages}\n" in errors + "\n", purpose, errors)
    # What the packages contain does not depend on what the machine has.
    machine = Machine(project, lacks="mpich libpmix-dev", user=0, not_to_be_had="libpmix-dev")
    code, _, errors, _ = machine.run("package")
    expect(code == 1 and "could not be installed: mpich libpmix-dev" in errors, code, errors)
    machine = Machine(project, lacks="libfftw3-dev libpmix-dev", user=0)
    code, _, errors, calls = machine.run("package")
    expect(code == 0 and errors == "" and installs(calls) == ["libpmix-dev"], code, errors, calls)
    code, _, errors, calls = machine.run("tset")
    expect(code == 2 and "unknown purpose tset" in errors and calls == [], code, errors)
    with open(os.path.join(project, "Makefile"), encoding="utf-8") as file:
        makefile = file.read()
    expect(set(re.findall(r"@tools/setup(?: (\w+))?$", makefile, re.MULTILINE)) == {"", "build", "demo", "package", "long"}, makefile)


def a_system_without_packages_is_asked_for_programs(project):
    machine = Machine(project)
    os.remove(os.path.join(machine.path, "dpkg-query"))
    code, _, errors, calls = machine.run("demo")
    expect(code == 1 and calls == [] and "missing: g++ cmake ninja pkg-config" in errors, code, errors)
    for name in ("g++", "cmake", "ninja", "pkg-config"):
        machine.add(name)
    code, out, errors, calls = machine.run("demo")
    expect(code == 0 and calls == [] and errors == "" and "is no Debian system" in out, code, out, errors)


if __name__ == "__main__":
    globals()[sys.argv[2]](sys.argv[1])
