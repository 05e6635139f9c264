"""Counts small programs with known numbers of lines and calls: python3 productivity_test.py PROJECT BUILD CASE

Needs libclang for Python, and is skipped without it. The MPI of the small programs is a header with a few declarations.
"""
import json
import os
import subprocess
import sys
import tempfile

PROJECT, BUILD = sys.argv[1:3]
TOOL = os.path.join(PROJECT, "tools", "productivity")
sys.path.insert(0, os.path.join(PROJECT, "tools"))
sys.dont_write_bytecode = True
from counting import categories, paper, sources  # noqa: E402
from reference import headers  # noqa: E402

SHMEM = os.path.join(PROJECT, "frontends", "openshmem", "include")
INCLUDES = [f"-I{folder}" for folder in (SHMEM, os.path.join(PROJECT, "include"), os.path.join(BUILD, "..", "include"))]
MPI_H = """int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_Barrier(int), MPI_Comm_rank(int, int *), MPI_Comm_size(int, int *);
int MPI_Send(void *, int, int), MPI_Recv(void *, int, int), MPI_Win_fence(int, int), MPI_Put(void *, int, int, int);
int MPI_Alloc_mem(int, void *), MPI_Free_mem(void *), MPI_Type_commit(int *), MPI_Comm_free(int *), PMPI_Barrier(int);
int MPI_Own_barrier(int);
double MPI_Wtime(void);
"""

# Files of a program; number of its lines; its calls in the order of categories.CATEGORIES.
PROGRAMS = {
    # Init, finalize and the clock are not counted, rank and size are; a call in a loop counts once.
    "two_sided": ({"two_sided.c": """/* head */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, x = 0; // said
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(0, &rank);
    MPI_Comm_size(0, &size);
    for (int i = 0; i < 3; ++i)
        if (rank == 0) MPI_Send(&x, 1, 1); else MPI_Recv(&x, 1, 0);
    /* MPI_Barrier(0); */
    const char *text = "MPI_Barrier(0); // no comment";
    double end = MPI_Wtime();
    MPI_Finalize();
    return text[0] + (int)end;
}
"""}, 14, ["", "MPI_Send MPI_Recv", "", "MPI_Comm_rank MPI_Comm_size"]),
    # A print is left out together with the if and the braces around it, and the calls in it. Not left out: a print that is used as
    # a value, a print into a file, and anything on the same line as other code. Under a condition that calls something, only the
    # print is left out.
    "prints": ({"prints.c": r"""#include <mpi.h>
#include <stdio.h>
#define SAY(...) do { fprintf(stderr, __VA_ARGS__); fflush(stderr); } while (0)
#define TRY(x) do { if ((x) != 0) printf("failed\n"); } while (0)
int work(FILE *out, int rank) {
    printf("rank %d, %d\n",
           rank, MPI_Barrier(0));
    if (rank == 0) {
        puts("first");
        SAY("%d\n", rank);
    } else
        fputs("other\n", stderr);
    for (int i = 0; i < rank; ++i)
        printf("%d\n", i);
    int letters = printf("x\n");
    fprintf(out, "result\n");
    if (MPI_Barrier(0) != 0)
        perror("barrier");
    TRY(MPI_Barrier(1));
    letters += 1; printf("y\n");
#ifdef DEBUG
    MPI_Barrier(2);
#endif
    return letters;
}
"""}, 12, ["MPI_Barrier MPI_Barrier", "", "", ""]),
    # A call in a macro counts at each use, a call in a function once. The profiling name is the same call. A function of the
    # program is not a call of the library. Headers count if they are given.
    "one_sided": ({"one_sided.c": """#include "own.h"
#define MEET() MPI_Barrier(0)
static int MPI_Own_barrier_of(int x) { return x; }
int main(void) {
    void *memory; int team = 0;
    MPI_Alloc_mem(8, &memory);
    MEET();
    MEET();
    put(memory); put(memory);
    PMPI_Barrier(MPI_Own_barrier_of(1));
    MPI_Type_commit(&team);
    int (*later)(int) = MPI_Barrier;
    later(0);
    MPI_Comm_free(&team);
    return MPI_Free_mem(memory);
}
""", "own.h": """#include <mpi.h>
static void put(void *memory) {
    MPI_Put(memory, 1, 1, 0);
    MPI_Win_fence(0, 0);
}
"""}, 21, ["MPI_Barrier MPI_Barrier MPI_Barrier MPI_Win_fence", "MPI_Type_commit MPI_Put", "MPI_Alloc_mem MPI_Free_mem", "MPI_Comm_free"]),
    # Typed calls and calls whose type C11 chooses are the same call, also in a macro.
    "symmetric": ({"symmetric.c": """#include <shmem.h>
#define BOTH(p) shmem_put(p, p, 1, 0); shmem_get(p, p, 1, 0)
int main(void) {
    shmem_init();
    long *x = shmem_malloc(8);
    shmem_put(x, x, 1, shmem_n_pes() - 1);
    shmem_long_put(x, x, 1, shmem_my_pe());
    shmem_ctx_long_put(SHMEM_CTX_DEFAULT, x, x, 1, 0);
    BOTH(x);
    shmem_putmem(x, x, 8, 0);
    shmem_quiet();
    shmem_long_wait_until(x, SHMEM_CMP_EQ, 1);
    shmem_atomic_inc(x, 0);
    shmem_free(x);
    shmem_finalize();
}
"""}, 16, ["shmem_quiet shmem_wait_until", "shmem_put shmem_put shmem_put shmem_put shmem_get shmem_putmem shmem_atomic_inc",
           "shmem_malloc shmem_free", "shmem_n_pes shmem_my_pe"]),
    # Also in C++: templates that are not used yet, lambdas, destructors, streams; structs of the library are not calls.
    "braid": ({"braid.cpp": """#include <shmem.h>
#include <sennit/atomic.h>
#include <sennit/coll.h>
#include <iostream>
template <typename T> void send(T *x, sennit_gptr to) {
    std::cout << *x << "\\n";
    sennit_put(to, x, sizeof(T));
    shmem_put(x, x, 1, 0);
    (void)sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
}
struct Memory {
    ~Memory() { (void)sennit_free(memory); }
    sennit_gptr memory = SENNIT_GPTR_NULL;
};
int main() {
    Memory made;
    sennit_gptr copy(made.memory);
    auto add = [&] { return sennit_atomic_add_i64(copy, 1); };
    if (add() != 0) { std::cerr << "failed" << std::endl; }
    for (int i = 0; i < 2; ++i) std::clog << i;
    return sennit_rank();
}
"""}, 20, ["sennit_barrier", "sennit_put shmem_put sennit_atomic_add", "sennit_free", "sennit_rank"]),
}

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def need(true, text):
    if not true:
        sys.exit(text)


def write(folder, files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def run_tool(*words):
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)


@case
def lines_and_calls_of_small_programs_are_known(folder):
    """Breaks when something is counted that a reader would not count, or the other way round."""
    for name, (files, lines, calls) in PROGRAMS.items():
        write(folder, {"mpi.h": MPI_H, **files})
        paths = ",".join(os.path.join(folder, file) for file in files)
        run = run_tool("--json", f"{name}={paths}", "--", f"-I{folder}", *INCLUDES)
        need(run.returncode == 0 and not run.stderr, f"{name}: {run.returncode}\n{run.stderr}")
        found = json.loads(run.stdout)[0]
        expected = {}
        for call in " ".join(calls).split():
            expected[call] = expected.get(call, 0) + 1
        need(found["calls"] == expected, f"{name}: {found['calls']}\nexpected {expected}")
        numbers = [len(names.split()) for names in calls]
        need([found[kind] for kind in categories.CATEGORIES] == numbers, f"{name}: {found}\nexpected {numbers}")
        need((found["total"], found["distinct"]) == (sum(numbers), len(expected)), f"{name}: {found}")
        need(found["lines"] == lines, f"{name}: {found['lines']} lines, expected {lines}")


def declared(text, flags, of_library):
    """The names of the functions that the includes declare."""
    unit = sources.Unit("all.c", ["-x", "c", "-std=c11", "-w", *flags], text)
    need(not unit.errors(), str(unit.errors()[:3]))
    kind = sources.cindex.CursorKind.FUNCTION_DECL
    return {part.spelling for part in unit.unit.cursor.get_children()
            if part.kind == kind and of_library(part)}


@case
def every_function_of_the_headers_has_a_category(_folder):
    """Breaks when a function is added without a category, and when the table has a word for no function."""
    functions = headers.functions(headers.read_headers(os.path.join(PROJECT, "include", "sennit")))
    names = {function.name for function in functions} | declared(
        "#include <shmem.h>\n#include <shmemx.h>\n#include <pshmem.h>\n", INCLUDES, lambda part: "shmem" in part.location.file.name)
    need(len(names) > 3000, f"only {len(names)} functions")
    for mpi in ("ompi-c", "mpich"):
        asked = subprocess.run(["pkg-config", "--cflags-only-I", mpi], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            names |= declared("#include <mpi.h>\n", asked.stdout.split(), lambda part: part.spelling.startswith(("MPI_", "PMPI_")))
    forgotten = sorted(name for name in names if (categories.category(name) or ("", ""))[1] in ("", categories.UNKNOWN))
    need(not forgotten, f"in no category of tools/counting/categories.py: {forgotten}")
    used = {categories.word_for(categories.plain(name)) for name in names}
    ours = (categories.SHMEM, categories.SENNIT)
    unused = sorted(word for word, (library, _) in categories.WORDS.items() if library in ours and word not in used)
    need(not unused, f"words for no function: {unused}")
    words = [word for kinds in categories.TABLE.values() for text in kinds.values() for word in text.split()]
    twice = sorted({word for word in words if words.count(word) > 1})
    need(not twice, f"in two categories: {twice}")
    for library, kinds in paper.TABLE_1.items():
        for kind, text in kinds.items():
            wrong = [name for name in text.split() if categories.category(name)[1] != kind]
            need(not wrong, f"{library}: not {kind}, as in the paper: {wrong}")


@case
def wrong_sources_and_arguments_are_refused_with_a_reason(folder):
    """Breaks when a half-understood source gives numbers, or an error has no reason."""
    write(folder, {"mpi.h": MPI_H, "a.c": "#include <mpi.h>\nint f(void) { return MPI_Own_barrier(0); }\n",
                   "b.c": "int f(void) { return 1 }\n"})
    a, b = (os.path.join(folder, name) for name in ("a.c", "b.c"))
    for words, code, text in (([f"x={a}"], 1, "'mpi.h' file not found"), ([f"x={b}"], 1, "expected ';'"),
                              ([f"x={folder}/none.c"], 2, "none.c"), ([a], 2, "NAME=FILE"),
                              (["--table", "3", f"x={a}"], 2, "invalid choice"),
                              (["--kernels", folder], 2, "KERNEL_LIBRARY"), ([f"x={a}", "--", "-std=wrong"], 1, "a.c")):
        run = run_tool(*words)
        need((run.returncode, run.stdout) == (code, "") and text in run.stderr, f"{words}: {run.returncode} {run.stdout}{run.stderr}")
    unbuilt = os.path.join(folder, "unbuilt")
    os.mkdir(unbuilt)
    for name in ("tools", "apps", "bench"):
        os.symlink(os.path.join(PROJECT, name), os.path.join(unbuilt, name))
    write(unbuilt, {"own_sennit.c": "#include <sennit/sennit.h>\n"})
    run = subprocess.run([sys.executable, os.path.join(unbuilt, "tools", "productivity"), "--kernels", unbuilt], capture_output=True, text=True,
                         check=False)
    need((run.returncode, run.stdout) == (1, "") and "version.h is missing: tools/build" in run.stderr, f"{run.returncode} {run.stderr}")
    run = run_tool("--json", f"x={a}", "--", f"-I{folder}")
    need(run.returncode == 0 and json.loads(run.stdout)[0]["calls"] == {}, run.stdout)
    need("MPI_Own_barrier is in no category" in run.stderr, run.stderr)


@case
def kernels_are_listed_with_the_numbers_of_the_paper(folder):
    """Breaks when a version is mistaken for another, or a number of the paper is at the wrong place."""
    text = "int put(int);\nint f(int x) { return put(x); }\n"
    write(folder, {f"{name}.c": text for name in (
        "daxpy_rma", "daxpy_shmem_async", "daxpy_sennit_pipelined", "summa_mpi", "sort_shmem", "own_mpi", "versions", "summa_without_teams")})
    run = run_tool("--kernels", folder)
    need(run.returncode == 0, run.stderr)
    rows = [line.strip("| ").split(" | ") for line in run.stdout.splitlines() if line.startswith("|")]
    for row in (["DAXPY", "MPI-RMA", "2 (282)", "0 (22)", "0"], ["DAXPY", "OpenSHMEM async", "2 (269)", "0 (14)", "0"],
                ["DAXPY", "Sennit pipelined", "2", "0", "0"], ["SUMMA", "MPI", "2 (353)", "0 (15)", "0"],
                ["Integer Sort", "OpenSHMEM", "2 (1029)", "0 (11)", "0"], ["own", "MPI", "2", "0", "0"],
                ["MPI-RMA", "0", "0", "0 (10)", "0", "0 (22)", "``"]):
        need(row in rows, f"{row} is not in\n{run.stdout}")
    need("without" not in run.stdout, run.stdout)
    need([line for line in run.stdout.splitlines() if line.startswith("Figure")] ==
         ["Figure 7: DAXPY", "Figure 17: SUMMA", "Figure 22: Integer Sort"], run.stdout)
    need("MPI_Alloc_mem MPI_Free_mem MPI_Win_create MPI_Win_free" in run.stdout, run.stdout)


@case
def every_kernel_is_counted_with_each_library(_folder):
    """Breaks when the tool no longer understands the kernels, or a version is not counted."""
    run = run_tool("--json")
    need(run.returncode == 0 and not run.stderr, run.stderr)
    found = {(row["kernel"], row["version"]) for row in json.loads(run.stdout) if row["lines"] > 20 and row["total"] > 0}
    missing = {(kernel, library) for kernel in paper.KERNELS for library in categories.LIBRARIES} - found
    need(not missing, f"not counted: {sorted(missing)}")
    need(set(paper.TABLE_2) <= found, f"the paper has these too: {sorted(set(paper.TABLE_2) - found)}")


@case
def no_library_writes_a_kernel_in_fewer_lines_or_calls_than_sennit(_folder):
    """Breaks when a Sennit version grows, or Sennit's interface needs more than another library's."""
    counted = json.loads(run_tool("--json").stdout)
    for kernel in paper.KERNELS:
        def least(is_sennit, what):
            return min(row[what] for row in counted if row["kernel"] == kernel and row["version"].startswith("Sennit") == is_sennit)
        for what, name in (("lines", "lines"), ("total", "calls")):
            ours, others = least(True, what), least(False, what)
            need(ours <= others, f"{kernel}: {ours} {name}, another has {others}")


def main():
    try:
        sources.index()
    except sources.NoParser as problem:
        print(problem)
        return 77
    with tempfile.TemporaryDirectory(prefix="sennit-productivity-") as folder:
        CASES[sys.argv[3]](folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
