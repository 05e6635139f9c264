"""What the plots of all studies share."""
import os
import subprocess
import sys

try:
    import matplotlib
except ImportError:
    matplotlib = None

WIDTH_IN, HEIGHT_IN, DPI = 11, 4.4, 110
COLOURS = {None: "#1b6ca8", "openmpi": "#c8553d", "mpich": "#588157"}
NO_MATPLOTLIB = 77


def pyplot():
    """matplotlib without a screen; ends the program with NO_MATPLOTLIB where it is missing."""
    if matplotlib is None:
        print("matplotlib is not there (Debian: python3-matplotlib)")
        sys.exit(NO_MATPLOTLIB)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    return plt


def save(plt, figure, folder, name, tight=True):
    if tight:
        figure.tight_layout()
    figure.savefig(os.path.join(folder, name), dpi=DPI, metadata={"Software": None})
    plt.close(figure)
    print(os.path.join(folder, name))


def run_script(script, *words, python=sys.executable):
    """The exit status of a script; ends this program with any but 0 and NO_MATPLOTLIB."""
    code = subprocess.run([python, script, *words], check=False).returncode
    if code not in (0, NO_MATPLOTLIB):
        sys.exit(code)
    return code


def draw(script, *words):
    """Runs a script that draws, by this Python or by the system's, for which distributions package matplotlib."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and run_script(script, *words, python=python) == 0:
            return
    print("the plots are left out; the rest is done", file=sys.stderr)
