"""The environment of a rank: variables, CPUs, and the bootstrap through the launcher."""
import os
import shutil

from launcher_test import contains, equal, skip


def ranks_know_their_number_and_size(launcher):
    result = launcher.shell(5, "echo $SENNIT_RANK/$SENNIT_SIZE")
    equal(sorted(result.stdout.split()), [f"{i}/5" for i in range(5)])


def env_sets_and_replaces_variables(launcher):
    result = launcher.shell(2, 'echo "$COLOUR|$SHAPE|$EMPTY|$HOME"',
                            options=["--env", "COLOUR=red=blue", "--env", "SHAPE=a b", "--env", "EMPTY="],
                            env={"COLOUR": "green", "EMPTY": "full", "HOME": "/here"})
    equal(result.stdout, "red=blue|a b||/here\n" * 2)
    # Like mpirun and oshrun of other projects.
    result = launcher.shell(2, 'echo "$COLOUR|$SHAPE"', options=["-x", "COLOUR", "-x", "SHAPE=round"], env={"COLOUR": "green"})
    equal(result.stdout, "green|round\n" * 2)
    # A variable that is not set does not prevent the start.
    result = launcher.shell(2, 'echo "${NOT_SET-none}"', options=["-x", "NOT_SET"])
    equal((result.returncode, result.stdout, result.stderr),
          (0, "none\n" * 2, "sennit run: warning: --env NOT_SET: the variable is not set here, so the ranks do not get it\n"))


def ranks_may_be_given_per_node(launcher):
    # Scripts for other launchers give both numbers.
    for words, size in ((["-N", "2"], 2), (["-N", "2", "--nodes", "2"], 4), (["-np", "2", "-N", "2"], 2), (["-N", "4", "-n", "3"], 3)):
        result = launcher.watch.run([launcher.sennit, "run", *words, "sh", "-c", "echo $SENNIT_SIZE"])
        equal((result.returncode, result.stdout), (0, f"{size}\n" * size), result.stderr)
    result = launcher.watch.run([launcher.sennit, "run", "-n", "5", "-N", "2", "--nodes", "2", "true"])
    equal((result.returncode, result.stderr), (2, "sennit run: -n 5 is more than the 4 ranks that -N allows on 2 nodes\n"))


# Broken by printing only the error of PMIx, which is "unreachable" in all these cases.
def an_unreachable_launcher_is_described(launcher):
    if "PMIx" not in launcher.watch.run([launcher.sennit, "info"]).stdout.splitlines()[1]:
        skip("this build has no PMIx")
    other = os.path.join(launcher.watch.folder, "server")
    os.mkdir(other)
    server = {"PMIX_NAMESPACE": "x", "PMIX_RANK": "0", "PMIX_SERVER_URI21": "x.0;tcp4://127.0.0.1:1"}
    cases = [({}, "; PMIX_SERVER_URI21=x.0;tcp4://127.0.0.1:1"), ({"PMIX_SERVER_TMPDIR": other}, "; PMIX_SERVER_URI21=x.0;tcp4://127.0.0.1:1"),
             ({"PMIX_SERVER_TMPDIR": "/no/folder"}, "; the launcher has ended, or is on another host: there is no /no/folder")]
    if os.getuid() == 0:
        os.chown(other, 1234, 1234)
        cases[1] = ({"PMIX_SERVER_TMPDIR": other}, f"; the launcher's server is of uid 1234 ({other}), this process of uid 0")
    for more, text in cases:
        result = launcher.watch.run([launcher.sennit, "info", "--peers"], env={**os.environ, **server, **more})
        contains(result.stderr, "PMIx_Init failed: UNREACHABLE (-25)" + text)
    os.rmdir(other)


def variables_of_other_launchers_do_not_reach_the_ranks(launcher):
    outer = {
        "PMI_RANK": "7", "PMI_SIZE": "9", "PMI_FD": "33", "PMI2_RANK": "1", "PMIX_RANK": "7",
        "PMIX_NAMESPACE": "x", "OMPI_COMM_WORLD_RANK": "7", "OMPI_COMM_WORLD_SIZE": "9",
        "OMPI_UNIVERSE_SIZE": "9", "OMPI_MCA_orte_jobid": "1", "OMPI_MCA_ess_base_jobid": "1",
        "SLURM_PROCID": "7", "SLURM_NTASKS": "9", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "7",
        "PALS_RANKID": "7", "FLUX_TASK_RANK": "7", "MPI_LOCALRANKID": "7", "HYDI_CONTROL_FD": "5",
        "JSM_NAMESPACE_RANK": "7", "JSM_NAMESPACE_SIZE": "9", "FLUX_JOB_SIZE": "9",
        "SENNIT_RANK": "7", "SENNIT_SIZE": "9", "SENNIT_CONTROL_FD": "33", "SENNIT_JOB": "1-00",
    }
    kept = {"OMPI_MCA_btl": "self", "OMPI_ALLOW_RUN_AS_ROOT": "1", "SLURM_JOB_ID": "12",
            "SLURM_CPUS_PER_TASK": "4", "SENNIT_LOG": "info", "PMI": "x", "FLUX_URI": "local"}
    result = launcher.run(1, "env", env={**outer, **kept})
    found = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    for name, value in outer.items():
        assert found.get(name) != value, f"{name} reached the rank"
        assert name in ("SENNIT_RANK", "SENNIT_SIZE", "SENNIT_CONTROL_FD", "SENNIT_JOB") \
            or name not in found, f"{name} is set anew"
    for name, value in kept.items():
        equal(found.get(name), value, name)


def ranks_inherit_no_descriptor_but_their_own(launcher):
    result = launcher.shell(3, "for f in /proc/self/fd/*; do readlink $f; done; true")
    lines = [line for line in result.stdout.splitlines() if line.startswith(("socket", "pipe", "anon"))]
    # Each rank has the control socket and two pipes, for output and errors.
    equal(sum(line.startswith("socket") for line in lines), 3, result.stdout)
    equal(sum(line.startswith("anon") for line in lines), 0, result.stdout)
    equal(sum(line.startswith("pipe") for line in lines), 6, result.stdout)


def ranks_get_their_signals_and_limits_back(launcher):
    script = "grep -E 'SigBlk|SigIgn' /proc/self/status; ulimit -n"

    def read(text):
        # 32 and 33 belong to the C library: posix_spawn leaves them ignored, the thread sanitizer uses them, and no program can set
        # them.
        own = 0b11 << 31
        blocked, ignored, files = (line.split()[-1] for line in text.splitlines())
        return int(blocked, 16) & ~own, int(ignored, 16) & ~own, files

    plain = launcher.watch.run(["sh", "-c", script])
    ranks = launcher.shell(1, script)
    equal(read(ranks.stdout), read(plain.stdout), ranks.stderr)


def ranks_are_in_process_groups_of_their_own_in_the_same_session(launcher):
    result = launcher.shell(2, "cut -d' ' -f1,5,6 /proc/self/stat; cut -d' ' -f1,5,6 /proc/$$/stat")
    sessions = set()
    for line in result.stdout.splitlines():
        _, _, session = line.split()
        sessions.add(int(session))
    equal(sessions, {os.getsid(0)})
    groups = {line.split()[1] for line in result.stdout.splitlines()}
    equal(len(groups), 2)


def _allowed(launcher, ranks, *options):
    result = launcher.shell(ranks, "echo $SENNIT_RANK $(grep Cpus_allowed_list /proc/self/status)",
                            options=options)
    equal(result.returncode, 0, result.stderr)
    rows = sorted(line.split() for line in result.stdout.splitlines())
    return [row[-1] for row in rows]


def _cpus(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def cpus_are_shared_out_among_ranks_by_default(launcher):
    mine = os.sched_getaffinity(0)
    if len(mine) < 2:
        skip("one CPU only")
    sets = [_cpus(text) for text in _allowed(launcher, 2)]
    assert not sets[0] & sets[1], sets
    equal(sets[0] | sets[1], mine)
    equal(_cpus(_allowed(launcher, 1)[0]), mine, "one rank keeps all")


def more_ranks_than_cpus_are_not_bound_by_default(launcher):
    mine = os.sched_getaffinity(0)
    if len(mine) > 63:
        skip("more CPUs than ranks to start here")
    for text in _allowed(launcher, len(mine) + 1):
        equal(_cpus(text), mine)


def bind_core_and_bind_none_work(launcher):
    mine = os.sched_getaffinity(0)
    for text in _allowed(launcher, 2, "--bind", "none"):
        equal(_cpus(text), mine)
    sets = [_cpus(text) for text in _allowed(launcher, 2, "--bind", "core")]
    for one in sets:
        assert one <= mine and (len(mine) == 1 or len(one) < len(mine)), sets
    if len(mine) == 2:
        equal(sets[0] | sets[1], mine)


def only_allowed_cpus_are_given_out(launcher):
    mine = os.sched_getaffinity(0)
    if len(mine) < 2:
        skip("one CPU only")
    one = {max(mine)}
    os.sched_setaffinity(0, one)
    try:
        for text in _allowed(launcher, 2, "--bind", "core"):
            equal(_cpus(text), one)
    finally:
        os.sched_setaffinity(0, mine)


def the_bootstrap_exchanges_among_1_2_3_and_8_ranks(launcher):
    for ranks in (1, 2, 3, 8):
        result = launcher.run(ranks, launcher.rank_program, "exchange", 3, 1000, 5)
        equal((result.returncode, result.stderr), (0, ""), f"{ranks} ranks")


def ranks_that_start_and_leave_many_times_never_meet_another_round(launcher):
    result = launcher.run(4, launcher.rank_program, "exchange", 300, 8, 1)
    equal((result.returncode, result.stderr), (0, ""))


def large_parts_are_exchanged(launcher):
    result = launcher.run(3, launcher.rank_program, "exchange", 1, 4_000_000, 2)
    equal((result.returncode, result.stderr), (0, ""))
    result = launcher.run(2, launcher.rank_program, "exchange", 1, 0, 2)
    equal((result.returncode, result.stderr), (0, ""), "parts of no bytes")


def a_shell_may_stand_between_launcher_and_rank(launcher):
    program = launcher.rank_program
    result = launcher.shell(3, f"{program} exchange 1 8 1 && {program} exchange 1 8 1")
    equal((result.returncode, result.stderr), (0, ""))


def a_program_started_by_a_rank_is_refused_with_the_reason(launcher):
    program = launcher.rank_program
    result = launcher.run(2, program, "start_another", program, "exchange", 1, 8, 1)
    equal(result.returncode, 11)
    contains(result.stderr, "started by a rank")


def a_rank_is_claimed_once_only(launcher):
    program = launcher.rank_program
    script = f"{program} hold > /dev/null & sleep 0.5; {program} exchange 1 8 1; code=$?; kill %1; exit $code"
    result = launcher.run(1, "bash", "-c", script)
    equal(result.returncode, 12, result.stderr)
    contains(result.stderr, "claimed already, by process")


def a_wrong_cookie_is_refused(launcher):
    script = f"job=$SENNIT_JOB; SENNIT_JOB=${{job%%-*}}-{'0' * 32} {launcher.rank_program} exchange 1 8 1"
    result = launcher.shell(1, script)
    equal(result.returncode, 12, result.stderr)
    contains(result.stderr, "cookie")


def a_descriptor_of_something_else_is_refused(launcher):
    program = launcher.rank_program
    for number, why in (("0", "not the control socket"), ("77", "not open")):
        result = launcher.shell(1, f"SENNIT_CONTROL_FD={number} {program} exchange 1 8 1")
        equal(result.returncode, 11, result.stderr)
        contains(result.stderr, why)
    result = launcher.watch.run([program, "exchange", "1", "8", "1"])
    equal(result.returncode, 11)
    contains(result.stderr, "not started by")


def a_rank_that_goes_away_is_reported_to_the_others_at_once(launcher):
    for how, code in (("release", 0), ("exit", 1), ("kill", 137), ("unequal", 0)):
        result = launcher.run(4, launcher.rank_program, "missing", how, options=["--keep-going"])
        equal(result.returncode, code, f"{how}: {result.stderr}")
        assert "wrong" not in result.stderr, result.stderr
        assert result.seconds < 3, result.seconds


def waiting_ends_at_its_timeout(launcher):
    result = launcher.run(3, launcher.rank_program, "late")
    equal((result.returncode, result.stderr), (0, ""))


def a_launcher_inside_a_launcher_serves_its_own_ranks(launcher):
    inner = launcher.command(3, launcher.rank_program, "exchange", 2, 8, 2)
    result = launcher.run(2, *inner)
    equal((result.returncode, result.stderr), (0, ""))
    result = launcher.run(2, *launcher.command(3, "sh", "-c", "echo $SENNIT_SIZE"))
    equal(result.stdout, "3\n" * 6)


def the_innermost_launcher_wins_under_mpirun(launcher):
    mpirun = shutil.which("mpiexec.hydra")
    if mpirun is None:
        skip("mpiexec.hydra is not installed")
    result = launcher.watch.run([mpirun, "-n", "2", *launcher.command(2, "sh", "-c",
                                 "echo ${PMI_RANK-none} $SENNIT_SIZE")])
    equal((result.returncode, result.stdout), (0, "none 2\n" * 4))


def sixty_four_ranks_start_exchange_and_end_again_and_again(launcher):
    for _ in range(5):
        result = launcher.run(64, launcher.rank_program, "exchange", 1, 64, 2)
        equal((result.returncode, result.stderr), (0, ""))
