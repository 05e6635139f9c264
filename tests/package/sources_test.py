"""Recipes that make packages of the release tarball: sources_test.py SOURCE rpm|debian [--build]. Skipped without the tools.

Broken by a version, an option or a package that the build lists do not have, and by a source package that is not the tarball or
has other bytes the next time. With --build the packages are made: then also broken by an installed file in no package, or by a
file that a package names and nothing installs.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, KIND = sys.argv[1:3]
TOOLS = {"rpm": ("rpmspec", "rpmbuild", "rpm2cpio", "cpio", "git"), "debian": ("dpkg-source", "dpkg-deb", "git")}
BUILDERS = {"rpm": (), "debian": ("dpkg-buildpackage", "dh")}
MAINTAINER = "Some One & Co/Two <some@one.example>"  # characters that sed treats specially


def run(*words, seconds=60, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                          check=False, **more)
    assert done.returncode == 0, f"{words}\n{done.stdout[-6000:]}"
    return done.stdout


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"^ +VERSION ([\d.]+)$", read("CMakeLists.txt"), re.MULTILINE)[1]


def compare_with_the_build_lists(recipe, components):
    """Compares the CMake options that `recipe` sets, and the components that it installs, with the build lists."""
    lists = "".join(read("cmake", os.path.basename(path)) for path in glob.glob(os.path.join(SOURCE, "cmake", "*.cmake")))
    known = set(re.findall(r"(?:option|set)\((SENNIT_\w+)", lists)) | {f"SENNIT_{part}" for parts in re.findall(
        r"foreach\(part ([A-Z ]+)\)", lists) for part in parts.split()}
    options = set(re.findall(r"-D(SENNIT_\w+)=", recipe))
    assert options and options <= known, options - known
    wanted = set(re.findall(r"^sennit_package\((\w+)|^    sennit_package\((\w+)", read("cmake", "SennitPackage.cmake"), re.MULTILINE))
    wanted = {name for pair in wanted for name in pair if name} - {"bench_"}
    assert set(components) == wanted, (components, wanted)


def sennit_info(root, libraries):
    said = run(os.path.join(root, "usr", "bin", "sennit"), "info", env={**os.environ, "LD_LIBRARY_PATH": root + libraries})
    assert re.search(r"mapped +taken", said), said


def rpm(folder, builds):
    spec = os.path.join(SOURCE, "packaging", "sennit.spec")
    expanded = run("rpmspec", "-P", spec)
    assert re.search(r"^Version: +(\S+)$", expanded, re.MULTILINE)[1] == version()
    compare_with_the_build_lists(expanded, re.search(r"for component in (.*); do", expanded)[1].split())
    # Libraries that Sennit opens at run time, which rpmbuild does not find.
    for file in ("runtime/domains_hwloc.cpp", "transport/fabric/library.cpp", "bootstrap/pmix.cpp"):
        opened = re.search(r'"(lib\w+\.so\.\d+)"', read("src", file))[1]
        assert re.search(rf"^(Recommends|Suggests): +{re.escape(opened)}\(\)\(64bit\)$", expanded, re.MULTILINE), opened
    # find_package() reads the targets of all components that it finds, and fails if the command of this one is missing.
    files = dict(re.findall(r"^%files *(\w*)\n((?:(?!%files).*\n?)*)", expanded, re.MULTILINE))
    targets = run("rpm", "--eval", "%{_libdir}").strip() + "/cmake/sennit/sennit-cli-targets*.cmake"
    assert targets in files[""].split("\n") and "%exclude " + targets in files["devel"].split("\n"), files
    if not builds:
        return
    run(os.path.join(SOURCE, "tools", "dist"), folder)
    # Debian's packages are not rpm's: skip the check of dependencies, and make no packages for debuggers.
    run("rpmbuild", "-bb", "--nodeps", "--define", f"_topdir {folder}/top", "--define", f"_sourcedir {folder}", "--define",
        "debug_package %{nil}", spec, seconds=1800)
    packages = glob.glob(os.path.join(folder, "top", "RPMS", "*", "*.rpm"))
    names = {re.sub(r"-\d.*", "", os.path.basename(path)) for path in packages}
    assert names == {"sennit", "sennit-libs", "sennit-devel", "sennit-doc"}, names
    root = os.path.join(folder, "root")
    os.mkdir(root)
    for path in packages:
        holds = run("rpm", "-qpl", path).splitlines()
        assert ("/usr/bin/sennit" in holds) == any("sennit-cli-targets" in name for name in holds), (path, holds)
        run("sh", "-c", 'rpm2cpio "$0" | cpio -idm --quiet', path, cwd=root)
    sennit_info(root, run("rpm", "--eval", "%{_libdir}").strip())


def source_package(folder):
    os.mkdir(folder)
    open(os.path.join(folder, "sennit-0.0.1.tar.gz"), "w", encoding="ascii").close()  # of another version
    run(os.path.join(SOURCE, "tools", "debian-source"), folder, env={**os.environ, "SENNIT_PACKAGE_MAINTAINER": MAINTAINER})
    names = sorted(name for name in os.listdir(folder) if name.startswith("sennit_"))
    assert names == [f"sennit_{version()}{end}" for end in ("-1.debian.tar.xz", "-1.dsc", ".orig.tar.gz")], names
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}


def debian(folder, builds):
    compare_with_the_build_lists(read("packaging", "debian", "rules"), re.findall(r"\S+:(\w+)", re.search(
        r"^PACKAGES = ((?:.*\\\n)*.*)$", read("packaging", "debian", "rules"), re.MULTILINE)[1]))
    first, second = (os.path.join(folder, name) for name in ("first", "second"))
    made = source_package(first)
    assert made == source_package(second), "the same commit gave other bytes"
    tree = os.path.join(folder, "tree")
    run("dpkg-source", "-x", os.path.join(first, f"sennit_{version()}-1.dsc"), tree)
    with open(os.path.join(tree, "debian", "control"), encoding="utf-8") as file:
        control = file.read()
    assert f"Maintainer: {MAINTAINER}\n" in control and "@" not in control.replace(MAINTAINER, ""), control
    if not builds:
        return
    run("dpkg-buildpackage", "-b", "-us", "-uc", cwd=tree, seconds=1800, env={**os.environ, "DEB_BUILD_OPTIONS": "parallel=2"})
    root = os.path.join(folder, "root")
    packages = glob.glob(os.path.join(folder, "*.deb"))
    for path in packages:
        if "-dbgsym_" not in path:
            run("dpkg-deb", "-x", path, root)
    names = {os.path.basename(path).split("_")[0] for path in packages if "-dbgsym_" not in path}
    assert names == set(re.findall(r"^Package: (.*)$", control, re.MULTILINE)), names
    sennit_info(root, "/" + os.path.dirname(os.path.relpath(glob.glob(f"{root}/usr/lib/*/libsennit.so.*")[0], root)))


def main():
    builds = "--build" in sys.argv
    tools = TOOLS[KIND] + (BUILDERS[KIND] if builds else ())
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing or subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        print("skipped: this is no clone, or not here:", *missing, "(apt-get install rpm cpio dpkg-dev debhelper git)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="sennit-sources-") as folder:
        {"rpm": rpm, "debian": debian}[KIND](folder, builds)


main()
