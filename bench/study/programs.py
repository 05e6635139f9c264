"""Programs that a study compares, and the best way to start each."""
import os

import runs
from runs import cores


class Program:
    """A program. With `mpi` that MPI's launcher starts it, otherwise `sennit run`, or no launcher
    (`alone`)."""

    def __init__(self, key, name, program, mpi=None, alone=False):
        self.key, self.name, self.program, self.mpi, self.alone = key, name, program, mpi, alone

    def words(self, arguments, ranks):
        """The words that start it on so many ranks or threads, or None if it is missing."""
        if not self.alone:
            words = runs.launch_words(arguments, self.mpi, ranks, self.program)
            if words is not None and self.mpi == "mpich" and ranks <= cores():
                place = words.index("-n")
                words[place:place] = ["-bind-to", "core"]
            return words
        path = os.path.join(arguments.bin, self.program)
        if not os.path.exists(path) or (self.key == "serial" and ranks > 1):
            return None
        return [*runs.quiet_words(arguments, ranks), path]

    def environment(self, ranks):
        """The number of threads; and with more ranks than processors the settings that make each MPI
        yield processors."""
        words = {"OMP_NUM_THREADS": str(ranks), "OMP_PROC_BIND": "true" if ranks <= cores() else "false"}
        if ranks > cores():
            words.update(runs.yielding(ranks), OMPI_MCA_hwloc_base_binding_policy="none")
        return words
