"""The recipe of docs/packaging.md on a clean Debian: clean_test.py SOURCE.

debootstrap makes a Debian in a folder; the lines of the page are run there unchanged, and then those that uninstall. Skipped
where that is impossible: without debootstrap, without the rights of root, without Debian's mirror.

Broken by a package that the build needs and the page does not name, a wrong line, or an installed part that needs something
that the page does not name.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]
MIRROR = "http://deb.debian.org/debian"


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def blocks_of(page):
    """The lines of code of "Installing by hand": one block that installs, one that removes."""
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
        section = file.read().split("\n## Installing by hand\n")[1].split("\n## ")[0]
    found = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    installing = next(text for text in found if "apt-get install" in text)
    removing = next(text for text in found if "uninstall" in text)
    return installing, removing


class Clean:
    def __init__(self, root):
        self.root = root

    def run(self, script):
        """Runs a script by a shell in the folder /src of the clean system; returns output and errors."""
        inside = f"mount -t proc proc {self.root}/proc && exec chroot {self.root} sh -exc \"$0\""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/opt", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
        done = subprocess.run(["unshare", "--mount", "sh", "-c", inside, "cd /src\n" + script], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout[-8000:]
        return done.stdout

    def own_files(self):
        return [os.path.join(where, name) for where, _, files in os.walk(os.path.join(self.root, "opt/sennit")) for name in files]


def main():
    for tool in ("debootstrap", "unshare", "git"):
        if not shutil.which(tool):
            skip(f"no {tool} here")
    if os.geteuid() != 0:
        skip("only root can make a system in a folder")
    installing, removing = blocks_of("packaging.md")
    # make treats --parallel without a number as no limit: 180 compilers at once with more than 9 GB.
    assert re.search(r"--parallel (?:\d|\$\(nproc\))", installing) or "--parallel" not in installing, installing
    with tempfile.TemporaryDirectory(prefix="sennit-clean-") as folder:
        root = os.path.join(folder, "root")
        made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, MIRROR], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            skip("debootstrap could not make a system: " + made.stdout[-500:])
        # Copies all files that are or would be committed, but no build of this machine.
        names = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               capture_output=True, check=True).stdout.split(b"\0")
        for name in filter(None, map(os.fsdecode, names)):
            target = os.path.join(root, "src", name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, name), target, follow_symlinks=False)
        system = Clean(root)
        said = system.run("apt-get update\n" + installing.replace("sudo ", "").replace("apt-get install ", "apt-get install -y "))
        assert "Paths, best first" in said and "mapped    taken" in said, said[-3000:]
        assert "left out: Python is missing" in said, "a clean system has no Python"
        assert "ranks start and reach each other" in system.run("$HOME/sennit/bin/sennit doctor || true")
        assert len(system.own_files()) > 50
        system.run(removing)
        assert system.own_files() == [], system.own_files()


main()
