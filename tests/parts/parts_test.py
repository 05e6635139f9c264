#!/usr/bin/env python3
"""Builds the library and one example without any optional part, in a separate folder, and runs the example.

    tests/parts/parts_test.py CMAKE SOURCE SENNIT

Every part that cmake/SennitOptional.cmake looks for is switched off or hidden, and adoption is left out. SENNIT is the program of
a tree with all parts, which starts the ranks. Broken by a core that needs a part that it calls optional, a replacement that does
not link or says nothing, documents whose links to headers are dead, a launcher protocol that depends on the library's parts.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
sys.dont_write_bytecode = True
import links  # noqa: E402

CMAKE, SOURCE, SENNIT = sys.argv[1:4]
EXAMPLE = "ring"


def switches():
    """Options that leave out each part, including parts for which Sennit has no switch."""
    with open(os.path.join(SOURCE, "cmake", "SennitOptional.cmake"), encoding="utf-8") as file:
        text = file.read()
    parts = re.search(r"foreach\(part ((?:[A-Z]+ ?)+)\)\n\s+set\(SENNIT_\$\{part\} AUTO", text)[1].split()
    return [f"-DSENNIT_{part}=OFF" for part in parts] + ["-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON", "-DSENNIT_MAN=OFF",
                                                               "-DSENNIT_ADOPTION=OFF"]


def run(command, seconds, environment=None):
    """The command's output; ends the test if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                          env={**os.environ, **(environment or {})}, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def check_documents(tree):
    """Links to headers lead to copies of the headers, since no header pages are made."""
    prefix = os.path.join(tree, "prefix")
    run([CMAKE, "--install", tree, "--prefix", prefix, "--component", "documents"], 60)
    pages = [os.path.join(path, name) for path, _, files in os.walk(prefix) for name in files if name.endswith(".md")]
    found = {(page, link) for page in pages for link in links.links_in(page) if "include/sennit" in link[1]}
    wrong = [f"{page}: {links.fault(page, *link)}" for page, link in found if links.fault(page, *link)]
    if wrong or len(found) < 8:
        sys.exit("\n".join(wrong) or f"{len(found)} links to headers")


def main():
    with tempfile.TemporaryDirectory(prefix="sennit-parts-") as tree:
        said = run([CMAKE, "-S", SOURCE, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_C_FLAGS_RELEASE=-O0", "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DSENNIT_BUILD_TESTS=OFF",
                    "-DSENNIT_FOLDERS_TOGETHER=ON", *switches()], 120)
        report = said.split("optional parts:", 1)[1].split("-- Configuring", 1)[0]
        found = [line for line in report.splitlines()[1:] if not re.search("not found|left out", line)]
        if found:
            sys.exit("found all the same:\n" + "\n".join(found))
        run([CMAKE, "--build", tree, "-j", "2", "--target", "sennit", f"example_{EXAMPLE}"], 540)
        program = os.path.join(tree, "bin", "examples", EXAMPLE)
        with open(os.path.join(tree, "build.ninja"), encoding="utf-8") as file:
            if "memory/adopt/" in file.read():
                sys.exit("adoption is built although it is switched off")
        run([program], 30)
        run([SENNIT, "run", "-n", "2", "--timeout", "30", program], 40)
        # Under a launcher that the build does not know, the library must not silently run alone.
        with open(os.path.join(tree, "lib", "libsennit.so"), "rb") as file:
            if b"this build of Sennit has no PMIx" not in file.read():
                sys.exit("the library was built with PMIx")
        check_documents(tree)
    print("without optional parts the library is built, and runs")


if __name__ == "__main__":
    main()
