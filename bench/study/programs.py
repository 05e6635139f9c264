"""Programs that a study compares, and how each is started at its best."""
import os

import runs
from runs import cores


class Program:
    """A program; with `mpi` that MPI's launcher starts it, else `sennit run`, or nobody (`alone`)."""

    def __init__(self, key, name, program, mpi=None, alone=False):
        self.key, self.name, self.program, self.mpi, self.alone = key, name, program, mpi, alone

    def words(self, arguments, ranks):
        """What starts it on so many ranks or threads, or None where it is not there."""
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
        """Threads, and with more ranks than processors what lets each MPI give processors away."""
        words = {"OMP_NUM_THREADS": str(ranks), "OMP_PROC_BIND": "true" if ranks <= cores() else "false"}
        if ranks > cores():
            words.update(runs.yielding(ranks), OMPI_MCA_hwloc_base_binding_policy="none")
        return words
