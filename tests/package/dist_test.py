"""The release tarball: dist_test.py SOURCE [--build]

Broken by bytes that depend on the clock, the folder or the user's settings, by a missing file, or by a build or test that needs a
clone. With --build the quick conformance tests are built and run from the tarball.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

SOURCE = sys.argv[1]


def run(*words, seconds=60, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                          check=False, **more)
    assert done.returncode == 0, f"{words}\n{done.stdout[-6000:]}"
    return done.stdout


def git(*words):
    return run("git", "-C", SOURCE, *words)


def made_in(folder, **environment):
    """The tarball, after its checksum was checked."""
    run(os.path.join(SOURCE, "tools", "dist"), folder, env={**os.environ, **environment})
    (path,) = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".tar.gz")]
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(path + ".sha256", encoding="utf-8") as file:
        assert file.read() == f"{digest}  {os.path.basename(path)}\n"
    run("sha256sum", "--check", os.path.basename(path) + ".sha256", cwd=folder)
    return path, digest


def look_at(folder):
    path, first = made_in(os.path.join(folder, "first"))
    time.sleep(1.1)  # a time stamp in seconds would now differ
    settings = os.path.join(folder, "gitconfig")
    with open(settings, "w", encoding="utf-8") as file:
        file.write('[tar]\n\tumask = 0077\n[tar "tar.gz"]\n\tcommand = gzip -1\n')
    _, second = made_in(os.path.join(folder, "second"), GIT_CONFIG_GLOBAL=settings, TZ="Pacific/Auckland", GZIP="-1")
    assert first == second, "the same commit gave other bytes"
    with tarfile.open(path) as tarball:
        top = os.path.basename(path).removesuffix(".tar.gz")
        names = {member.name.removeprefix(top + "/") for member in tarball if not member.isdir()}
        assert all(member.name.split("/")[0] == top for member in tarball)
        tarball.extractall(folder)
    assert names == set(git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")) - {""}
    return os.path.join(folder, top)


def build_and_test(tree):
    """Builds as a user without a clone: git finds no repository above the folder, and no build of this machine is used."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(tree)}
    run("cmake", "--preset", "release", cwd=tree, env=environment, seconds=120)
    run("cmake", "--build", "build/release", "--target", "sennit_cli", "conformance_suite", "sennit_leftovers", cwd=tree, env=environment,
        seconds=1500)
    said = run("ctest", "--test-dir", "build/release", "-R", r"^conformance\.[a-z_]+\.(processes\.default|inproc)\.[24]$", "-L", "quick",
               "--no-tests=error", "-j", "2", "--timeout", "120", "--output-on-failure", cwd=tree, env=environment, seconds=600)
    print(said[-300:])
    run(os.path.join(tree, "build", "bin", "sennit"), "info")


def main():
    if not shutil.which("git") or subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        print("skipped: this is no clone: a tarball is made from a commit")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="sennit-dist-") as folder:
        tree = look_at(folder)
        if "--build" in sys.argv:
            build_and_test(tree)


main()
