"""The end of a job: exit codes, the order in which ranks are ended, time limits, wrong usage."""
import os
import stat

from launcher_test import contains, equal, skip


def all_ranks_end_well(launcher):
    result = launcher.shell(4, "exit 0")
    equal((result.returncode, result.stdout, result.stderr), (0, "", ""))


def exit_code_is_that_of_the_failing_rank(launcher):
    result = launcher.shell(4, "[ $SENNIT_RANK = 2 ] && exit 3; exit 0")
    equal(result.returncode, 3)
    contains(result.stderr, "rank 2 ")
    contains(result.stderr, "exited with code 3")


def exit_code_is_that_of_the_first_rank_that_fails(launcher):
    # Rank 0 fails later, with the code that a rule "lowest rank wins" would take.
    script = "if [ $SENNIT_RANK = 3 ]; then exit 30; fi; sleep 0.4; exit 40"
    result = launcher.shell(4, script, options=["--keep-going"])
    equal(result.returncode, 30)
    contains(result.stderr, "rank 0 ")


def the_first_rank_that_ended_while_the_launcher_was_stopped_is_named(launcher):
    """Broken by a launcher that uses the order of waitpid, which is the order in which the ranks were started."""
    script = ("if [ $SENNIT_RANK = 1 ]; then sleep 0.3; kill -STOP $PPID; exit 30; fi; "
              "sleep 0.6; (sleep 0.3; kill -CONT $PPID) & exit 40")
    result = launcher.shell(2, script)
    equal(result.returncode, 30, result.stderr)
    contains(result.stderr, "rank 1 ")


def rank_killed_by_a_signal_gives_128_plus_its_number(launcher):
    result = launcher.shell(2, "[ $SENNIT_RANK = 1 ] && kill -SEGV $$; sleep 20")
    equal(result.returncode, 128 + 11)
    contains(result.stderr, "rank 1 ")
    contains(result.stderr, "killed by signal 11")


def a_rank_that_ends_with_0_and_without_finalize_has_failed_with_1(launcher):
    """Broken by a launcher that treats Fortran's `stop`, or exit(0) in the middle of a program, as success."""
    result = launcher.run(3, launcher.rank_program, "leave", "exit")
    equal(result.returncode, 1, result.stderr)
    contains(result.stderr, "rank 1 (process ")
    contains(result.stderr, "ended without sennit_finalize, which counts as a failure; ending the other 2 ranks")
    assert result.seconds < 1.5, result.seconds
    result = launcher.run(3, launcher.rank_program, "leave", "exit", options=["--keep-going"])
    equal(result.returncode, 1, result.stderr)
    contains(result.stderr, "the others go on (--keep-going)")


def a_rank_that_has_left_in_order_ends_with_0_while_others_go_on(launcher):
    for how in ("release", "timeout"):
        result = launcher.run(3, launcher.rank_program, "leave", how)
        equal((result.returncode, result.stderr), (0, ""), how)


def others_are_ended_within_a_second_when_a_rank_is_killed(launcher):
    result = launcher.shell(4, "[ $SENNIT_RANK = 1 ] && kill -KILL $$; sleep 30")
    equal(result.returncode, 128 + 9)
    contains(result.stderr, "ending the other 3 ranks")
    assert result.seconds < 1.5, result.seconds


def ranks_that_ignore_sigterm_are_killed(launcher):
    script = "trap '' TERM; [ $SENNIT_RANK = 0 ] && { sleep 0.2; exit 5; }; while :; do sleep 1; done"
    result = launcher.shell(3, script)
    equal(result.returncode, 5)
    assert 0.5 < result.seconds < 2.0, result.seconds


def ranks_get_the_chance_to_clean_up(launcher):
    script = ("if [ $SENNIT_RANK = 0 ]; then sleep 0.3; exit 5; fi; "
              "trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.05; done")
    result = launcher.shell(3, script)
    equal((result.returncode, result.stdout), (5, "cleaned\ncleaned\n"))


def stopped_ranks_are_ended_too(launcher):
    script = "[ $SENNIT_RANK = 0 ] && { sleep 0.2; exit 5; }; kill -STOP $$; sleep 30"
    result = launcher.shell(3, script)
    equal(result.returncode, 5)
    assert result.seconds < 1.7, result.seconds


def keep_going_lets_the_others_finish(launcher):
    script = "[ $SENNIT_RANK = 1 ] && exit 7; sleep 0.6; echo finished $SENNIT_RANK"
    result = launcher.shell(3, script, options=["--keep-going"])
    equal(result.returncode, 7)
    equal(sorted(result.stdout.split("\n")), ["", "finished 0", "finished 2"])
    contains(result.stderr, "--keep-going")


def timeout_ends_the_job_with_124(launcher):
    result = launcher.run(2, "sleep", 30, options=["--timeout", "0.5"])
    equal(result.returncode, 124)
    contains(result.stderr, "--timeout")
    assert 0.5 <= result.seconds < 1.7, result.seconds


def timeout_ends_ranks_that_ignore_sigterm(launcher):
    result = launcher.shell(2, "trap '' TERM; while :; do sleep 1; done", options=["--timeout", "0.3"])
    equal(result.returncode, 124)
    assert result.seconds < 2.0, result.seconds


def timeout_does_not_delay_a_faster_job(launcher):
    result = launcher.run(2, "true", options=["--timeout", "30"])
    equal((result.returncode, result.stderr), (0, ""))
    assert result.seconds < 5, result.seconds


def missing_program_gives_127_and_starts_nothing(launcher):
    result = launcher.run(2, "no-such-program-here")
    equal((result.returncode, result.stdout), (127, ""))
    contains(result.stderr, "no-such-program-here")
    result = launcher.run(2, "./no-such-program-here")
    equal(result.returncode, 127)
    contains(result.stderr, "No such file")


def program_that_can_not_be_executed_gives_126(launcher):
    folder = launcher.watch.folder
    plain = os.path.join(folder, "plain")
    with open(plain, "w", encoding="ascii") as file:
        file.write("text\n")
    for name, why in ((plain, "not executable"), (folder, "directory")):
        result = launcher.run(2, name)
        equal((result.returncode, result.stdout), (126, ""))
        contains(result.stderr, why)
    os.chmod(plain, stat.S_IRWXU)
    result = launcher.run(2, plain)
    equal(result.returncode, 126, "a text file with the permission set")
    contains(result.stderr, "xec format")
    os.remove(plain)


def missing_interpreter_is_named_as_such(launcher):
    script = os.path.join(launcher.watch.folder, "script")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/no/such/interpreter\n")
    os.chmod(script, stat.S_IRWXU)
    result = launcher.run(2, script)
    equal(result.returncode, 127)
    contains(result.stderr, "interpreter")
    os.remove(script)


def a_limit_on_open_files_is_reported_and_nothing_is_started(launcher):
    command = " ".join(launcher.command(40, "echo", "started"))
    result = launcher.watch.run(["sh", "-c", f"ulimit -n 64; exec {command}"])
    equal((result.returncode, result.stdout), (125, ""))
    contains(result.stderr, "open files")
    contains(result.stderr, "64")


def a_small_limit_of_stacks_is_enough(launcher):
    # Broken by a buffer of 64 KiB on the stack.
    command = " ".join(launcher.command(2, "echo", "here"))
    result = launcher.watch.run(["sh", "-c", f"ulimit -s 64; exec {command}"])
    if "Sanitizer" in result.stderr:
        skip(result.stderr)  # its stack frames are larger
    equal((result.returncode, result.stdout), (0, "here\nhere\n"), result.stderr)


def an_unreadable_limit_does_not_count_as_zero(launcher):
    result = launcher.watch.run([launcher.rank_program, "without_limits", *launcher.command(2, "sh", "-c", "echo here")])
    if result.returncode == 77 or "Sanitizer" in result.stderr:
        skip(result.stderr)  # a sanitizer reads the limits itself
    equal((result.returncode, result.stdout), (0, "here\nhere\n"), result.stderr)


def a_missing_dev_null_is_named(launcher):
    inside = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh"]
    try:
        possible = launcher.watch.run([*inside, "true"]).returncode == 0
    except FileNotFoundError:
        possible = False
    if not possible:
        skip("no namespace of mounts can be made here")
    result = launcher.watch.run([*inside, *launcher.command(2, "/bin/true")])
    equal(result.returncode, 125)
    contains(result.stderr, "cannot open /dev/null")
    contains(result.stderr, "No such file or directory")


def closed_standard_descriptors_do_no_harm(launcher):
    command = " ".join(launcher.command(2, "sh", "-c", "'echo out; echo err >&2; cat'"))
    result = launcher.watch.run(["sh", "-c", f"{command} <&- >&-"])
    equal((result.returncode, result.stderr), (0, "err\nerr\n"))
    result = launcher.watch.run(["sh", "-c", f"{command} <&- 2>&-"])
    equal((result.returncode, result.stdout), (0, "out\nout\n"))


def wrong_usage_gives_2_and_a_hint(launcher):
    for words in (["run", "true"], ["run", "-n", "0", "true"], ["run", "-n", "x", "true"],
                  ["run", "-n", "2"], ["run", "-n", "2", "--bind", "socket", "true"],
                  ["run", "-n", "2", "--timeout", "-1", "true"],
                  ["run", "-n", "2", "-N", "1", "true"], ["run", "-n", "2", "--env", "=x", "true"], ["walk"], []):
        result = launcher.watch.run([launcher.sennit, *words])
        equal(result.returncode, 2, f"{words}: {result.stdout} {result.stderr}")
        assert result.stderr, f"{words}: says nothing"


def options_of_the_program_are_left_to_it(launcher):
    result = launcher.run(1, "echo", "--tag", "-n", "3", "--", "--env", "x")
    equal((result.returncode, result.stdout), (0, "--tag -n 3 -- --env x\n"))
    result = launcher.run(1, "--", "echo", "-n", "x")
    equal((result.returncode, result.stdout), (0, "x"))


def several_programs_with_colons_are_refused(launcher):
    for words in (["-n", "1", "echo", "a", ":", "-n", "1", "echo", "b"], ["-n", "2", "true", ":", "true"]):
        said = _wrong(launcher, "run", *words)
        contains(said, f'several programs in one job (":" before "{words[words.index(":") + 1]}") are not supported')
        contains(said, f"sennit run -n 2 -- {words[2]} ...")
    result = launcher.run(1, "--", "echo", "a", ":", "b")
    equal((result.returncode, result.stdout), (0, "a : b\n"))
    result = launcher.run(1, "echo", "a", ":")
    equal((result.returncode, result.stdout), (0, "a :\n"))


def _wrong(launcher, *words):
    """The output of `sennit` for wrong usage: one line."""
    result = launcher.watch.run([launcher.sennit, *words])
    equal((result.returncode, result.stdout), (2, ""), f"{words}: {result.stderr}")
    return result.stderr.removesuffix("\n")


def an_unknown_option_is_named_and_starts_nothing(launcher):
    rest = "; sennit run --help lists the options"
    for words, wrong, hint in ((["--foo", "-n", "2", "echo"], "--foo", ""), (["-n", "2", "-v", "echo"], "-v", ""),
                               (["-n", "2", "--tagg", "echo"], "--tagg", " (did you mean --tag?)"),
                               (["-n", "2", "-tag", "echo"], "-tag", " (did you mean --tag?)"),
                               (["--rank=2", "echo"], "--rank=2", " (did you mean --ranks?)"),
                               (["-n", "2", "--tag=x", "echo"], "--tag=x", " (did you mean --tag?)")):
        equal(_wrong(launcher, "run", *words), f'sennit run: unknown option "{wrong}"{hint}{rest}')


def the_error_for_an_option_of_mpirun_names_its_replacement(launcher):
    for words, wrong, answer in ((["--map-by=core", "-n", "2", "echo"], "--map-by=core", "use --bind "),
                                 (["-mca", "btl", "self", "-n", "2", "echo"], "-mca", "it sets a parameter of Open MPI; Sennit's settings are variables"),
                                 (["--hostfile", "h", "echo"], "--hostfile", "ranks start on this machine only"),
                                 (["-n", "2", "-wdir", "/", "echo"], "-wdir", "ranks start in the current folder; use cd before"),
                                 (["-n", "2", "-ppn", "2", "echo"], "-ppn", "use -N"), (["-npernode", "2", "echo"], "-npernode", "use -N"),
                                 (["--prefix", "/opt", "echo"], "--prefix", "it names the folder of Open MPI on other machines"),
                                 (["--report-bindings", "echo"], "--report-bindings", "sennit run -n 2 --tag grep Cpus_allowed_list"),
                                 (["-output-filename", "o", "echo"], "-output-filename", "a shell can open files: ")):
        said = _wrong(launcher, "run", *words)
        contains(said, f'sennit run: there is no option "{wrong}": {answer}')
        contains(said, "; sennit run --help lists the options")
    elsewhere = "ranks start on this machine only; use mpirun or srun for several"
    equal(_wrong(launcher, "run", "-host", "localhost:2,node.elsewhere", "-n", "2", "echo"),
          f"sennit run: -host localhost:2,node.elsewhere: {elsewhere}")
    equal(_wrong(launcher, "run", "--bind-to", "socket", "-n", "2", "echo"),
          "sennit run: --bind-to socket: use --bind share, core or none")
    equal(_wrong(launcher, "run", "-n", "2", "--host"), "sennit run: --host needs a value")


def options_of_mpirun_for_default_behaviour_are_accepted(launcher):
    words = ["--oversubscribe", "--allow-run-as-root", "-quiet", "--host", "localhost:2", "-H", os.uname().nodename, "--bind-to", "none",
             "-genv", "A=1", "-env", "B", "2 3", "--tag-output", "-np", "2", "sh", "-c", 'echo "$A|$B|$0"', "-quiet"]
    result = launcher.watch.run([launcher.sennit, "run", *words])
    equal((result.returncode, sorted(result.stdout.splitlines())), (0, ["[0] 1|2 3|-quiet", "[1] 1|2 3|-quiet"]), result.stderr)


def the_error_for_options_without_a_command_suggests_run(launcher):
    equal(_wrong(launcher, "-n", "2", "./prog"),
          'sennit: which command? "-n" is no option of sennit; to start a program: sennit run -n N PROGRAM')


def a_program_whose_name_begins_with_a_dash_follows_two_dashes(launcher):
    for name in ("--tagg", "--tag", "-n"):
        program = os.path.join(launcher.watch.folder, name)
        with open(program, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "$@"\n')
        os.chmod(program, stat.S_IRWXU)
        result = launcher.run(1, "--", name, "--", "--env",
                              env={"PATH": f"{launcher.watch.folder}:{os.environ['PATH']}"})
        os.remove(program)
        equal((result.returncode, result.stdout), (0, "-- --env\n"), f"{name}: {result.stderr}")


def the_number_of_ranks_is_taken_as_mpirun_writes_it_too(launcher):
    for words in (["-n", "3"], ["-n3"], ["-np", "3"], ["-np3"], ["-np=3"], ["--np", "3"], ["--np=3"], ["--ranks", "3"], ["--ranks=3"]):
        result = launcher.watch.run([launcher.sennit, "run", *words, "sh", "-c", "echo $SENNIT_SIZE"])
        equal((result.returncode, result.stdout), (0, "3\n" * 3), f"{words}: {result.stderr}")


def an_invalid_number_of_ranks_is_quoted(launcher):
    for number in ("two", "0", "4097", "-1", "2.5", "", "99999999999999999999"):
        for option in ("-n", "-np", "--ranks"):
            equal(_wrong(launcher, "run", option, number, "true"),
                  f'sennit run: -n must be a number from 1 to 4096, not "{number}"')


def a_number_of_ranks_after_the_program_does_not_count(launcher):
    for words in (["true", "-n", "2"], ["--tag", "true"], ["--", "true"]):
        equal(_wrong(launcher, "run", *words), "sennit run: how many ranks? -n N, before the program")
    for words in (["-n", "2"], ["-n", "2", "--tag"], ["-n", "2", "--"]):
        equal(_wrong(launcher, "run", *words), "sennit run: which program? See sennit run --help")


def the_error_for_an_unknown_command_lists_the_commands(launcher):
    equal(_wrong(launcher, "frobnicate", "-n", "2"), 'sennit: unknown command "frobnicate"; there are run, info, doctor, trace, stats, bench, map, report')
    equal(_wrong(launcher, ""), 'sennit: unknown command ""; there are run, info, doctor, trace, stats, bench, map, report')
    measurements = _wrong(launcher, "bench", "foo").removeprefix('sennit bench: unknown measurement "foo"; there are ')
    equal(measurements.split(", ")[:4], ["pingpong", "put", "get", "rate"])


def the_error_for_a_missing_command_lists_the_commands(launcher):
    equal(_wrong(launcher), "sennit: which command? There are run, info, doctor, trace, stats, bench, map, report; see sennit --help")
    answer = _wrong(launcher, "bench")
    contains(answer, "sennit bench: which measurement? There are pingpong, put, get, rate, ")
    contains(answer, "; see sennit bench --help")


def a_wrong_value_is_quoted_after_the_name_of_the_command(launcher):
    for seconds in ("0", "-1", "soon", "nan", "inf", "1e300", "5 s"):
        equal(_wrong(launcher, "run", "-n", "2", f"--timeout={seconds}", "true"),
              f'sennit run: --timeout: must be a number of seconds above 0, not "{seconds}"; '
              "sennit run --help lists the options")
    rest = "; sennit bench put --help lists the options"
    for size in ("7", "0", "abc", "2G", "99999999999999999999", "8X", "-8"):
        equal(_wrong(launcher, "bench", "put", f"--bytes={size}"),
              f'sennit bench put: --bytes: must be multiples of 8 from 8 to 1G, such as 64K, not "{size}"{rest}')
    equal(_wrong(launcher, "bench", "get", "--seconds", "0"),
          'sennit bench get: --seconds: must be a number of seconds above 0, not "0"'
          "; sennit bench get --help lists the options")
    for words in (["info", "--nonsense"], ["bench", "barrier", "--nonsense"], ["bench", "start", "--rounds", "0"]):
        answer = _wrong(launcher, *words)
        name = " ".join(["sennit", *(word for word in words[:2] if not word.startswith("-"))])
        assert answer.startswith(f"{name}: ") and answer.endswith(f"; {name} --help lists the options"), answer
        assert len(answer) < 200, answer


def a_measurement_with_a_wrong_number_of_ranks_starts_nothing(launcher):
    for what, ranks in (("put", "1"), ("get", "3"), ("put", "2,4"), ("pingpong", "3"), ("pingpong", "1")):
        answer = _wrong(launcher, "bench", what, "-n", ranks)
        contains(answer, f"sennit bench {what}: -n must be ")


def usage_lines_name_the_whole_command(launcher):
    for words, usage in (([], "COMMAND [OPTIONS]"), (["run"], "run -n N [OPTIONS] [--] PROGRAM [ARGUMENTS]"),
                         (["info"], "info [OPTIONS]"), (["bench"], "bench WHAT [OPTIONS]"),
                         (["bench", "put"], "bench put [OPTIONS]")):
        result = launcher.watch.run([launcher.sennit, *words, "--help"])
        equal((result.returncode, result.stderr), (0, ""))
        assert f"Usage: sennit {usage}" in result.stdout.splitlines(), result.stdout


def help_teaches_with_examples(launcher):
    result = launcher.watch.run([launcher.sennit, "run", "--help"])
    equal(result.returncode, 0)
    for part in ("Examples", "sennit run -n 4", "--keep-going", "124", "Standard input", "SIGINT",
                 "Each rank has SENNIT_RANK and SENNIT_SIZE in its environment."):
        contains(result.stdout, part)
