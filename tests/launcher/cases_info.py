"""`sennit info`: what it says is there, is parsed, and is the same under every launcher."""
import json
import os
import shutil

from launcher_test import contains, equal, skip

PATHS = ["self", "inproc", "mapped", "cma", "fabric", "mpi", "sim"]


def _info(launcher, *words, ranks=0, **more):
    command = [launcher.sennit, "info", *words]
    result = launcher.run(ranks, *command, **more) if ranks else launcher.watch.run(command, **more)
    equal(result.returncode, 0, result.stderr)
    return result.stdout


def all_sections_are_there(launcher):
    text = _info(launcher)
    for part in ("Sennit 0.", "Launchers", "launcher  no:", "alone     yes:", "Paths", "mapped", "Topology",
                 "NUMA node"):
        contains(text, part)


def json_says_the_same_for_programs(launcher):
    report = json.loads(_info(launcher, "--json"))
    equal(list(report), ["build", "launchers", "paths", "topology"])
    equal([path["name"] for path in report["paths"]], PATHS)
    (taken,) = [path["name"] for path in report["paths"] if path["taken_on_this_node"]]
    equal(taken, "mapped")
    for path in report["paths"]:
        assert path["reason"], f"{path['name']} gives no reason"
    equal(report["topology"]["cpus"] >= len(os.sched_getaffinity(0)), True)


def the_build_line_names_the_optional_parts_that_were_found(launcher):
    line = json.loads(_info(launcher, "--json"))["build"]["description"]
    contains(line, "; found: ")
    parts = line.split("; found: ", 1)[1].split(", ")
    assert any(part.startswith("Python 3.") for part in parts), line  # this test was added because it is there
    for part, needs in (("Open MPI", "mpicc.openmpi"), ("MPICH", "mpicc.mpich")):
        if shutil.which(needs):
            assert any(found.startswith(part + " ") for found in parts), line
    contains(_info(launcher), line)


def knobs_show_what_is_set(launcher):
    knobs = {knob["name"]: knob for knob in json.loads(_info(launcher, "--knobs", "--json",
                                                             env={"SENNIT_INIT_TIMEOUT": "7"}))["knobs"]}
    equal((knobs["SENNIT_INIT_TIMEOUT"]["set"], float(knobs["SENNIT_INIT_TIMEOUT"]["value"])), (True, 7.0))
    equal(knobs["SENNIT_PATHS"]["set"], False)
    for knob in knobs.values():
        assert knob["help"], knob
    contains(_info(launcher, "--knobs", env={"SENNIT_INIT_TIMEOUT": "7"}), "* SENNIT_INIT_TIMEOUT=7")
    result = launcher.watch.run([launcher.sennit, "info", "--knobs"], env={"SENNIT_INIT_TIMEOUT": "soon"})
    equal(result.returncode, 1)
    contains(result.stderr, "SENNIT_INIT_TIMEOUT=soon")


def peers_prints_the_path_of_every_pair_once(launcher):
    text = _info(launcher, "--peers", ranks=4)
    equal(text.count("from \\ to"), 1)
    for rank in range(4):
        contains(text, f"rank {rank}: process")
    equal(text.count("mapped  mapped"), 4)
    contains(text, "not taken: ")


def peers_as_json_gives_every_reason(launcher):
    peers = json.loads(_info(launcher, "--peers", "--json", ranks=3))["peers"]
    equal([(pair["from"], pair["to"]) for pair in peers["pairs"]], [(i, j) for i in range(3) for j in range(3)])
    for pair in peers["pairs"]:
        equal(pair["path"], "self" if pair["from"] == pair["to"] else "mapped")
        equal(list(pair["reasons"]), PATHS)
        assert all(pair["reasons"].values()), pair
    equal({rank["started_by"] for rank in peers["ranks"]}, {"launcher"})


def one_rank_alone_is_told_how_to_get_peers(launcher):
    contains(_info(launcher, "--peers"), "sennit run -n 4 sennit info --peers")


def a_rank_is_recognised_as_one(launcher):
    text = _info(launcher, ranks=1)
    contains(text, "launcher  yes:")


def peers_works_under_mpirun_too(launcher):
    mpirun = shutil.which("mpiexec.hydra")
    if mpirun is None:
        skip("mpiexec.hydra is not installed")
    result = launcher.watch.run([mpirun, "-n", "2", launcher.sennit, "info", "--peers", "--json"])
    equal(result.returncode, 0, result.stderr)
    equal({rank["started_by"] for rank in json.loads(result.stdout)["peers"]["ranks"]}, {"pmi1"})


def a_closed_launcher_socket_is_an_error_not_a_lone_rank(launcher):
    result = launcher.run(2, "env", "SENNIT_CONTROL_FD=99", launcher.sennit, "info", "--peers")
    equal(result.returncode, 1)
    contains(result.stderr, "BOOTSTRAP")
