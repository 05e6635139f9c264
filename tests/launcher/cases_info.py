"""`sennit info`: its output is correct, can be parsed, and is the same under every launcher."""
import json
import os
import re
import shutil
import socket
import tempfile

from launcher_test import contains, equal, skip

PATHS = ["self", "inproc", "mapped", "cma", "fabric", "mpi", "sim"]


def _info(launcher, *words, ranks=0, **more):
    command = [launcher.sennit, "info", *words]
    result = launcher.run(ranks, *command, **more) if ranks else launcher.watch.run(command, **more)
    equal(result.returncode, 0, result.stderr)
    return result.stdout


def all_sections_are_there(launcher):
    text = _info(launcher)
    for part in ("Sennit 0.", "Launchers", "launcher  no:", "alone     yes:", "Paths", "mapped", "Network", "interfaces", "Topology",
                 "NUMA node", "Levels of locality"):
        contains(text, part)


def json_says_the_same_for_programs(launcher):
    report = json.loads(_info(launcher, "--json"))
    equal(list(report), ["build", "launchers", "paths", "network", "topology", "levels"])
    equal([path["name"] for path in report["paths"]], PATHS)
    (taken,) = [path["name"] for path in report["paths"] if path["taken_on_this_node"]]
    equal(taken, "mapped")
    for path in report["paths"]:
        assert path["reason"], f"{path['name']} gives no reason"
        # SENNIT_PATHS is not set, so no path is left out.
        assert "left out" not in path["reason"], path
    equal(report["topology"]["cpus"] >= len(os.sched_getaffinity(0)), True)


def the_network_section_has_a_reason_for_each_provider(launcher):
    """Broken by a provider that is left out or has no reason, or by a missing library that is not reported."""
    network = json.loads(_info(launcher, "--json"))["network"]
    lo = [one for one in network["interfaces"] if one["name"] == "lo"]
    equal([(one["address"], one["prefix"]) for one in lo], [("127.0.0.1", 8)])
    if "error" in network:
        equal(network["providers"], [])
        contains(_info(launcher), network["error"])
        return
    taken = [one["name"] for one in network["providers"] if one["taken"]]
    assert len(taken) <= 1, network["providers"]
    if taken:
        equal(network["providers"][0]["name"], taken[0])
    names = [one["name"] for one in network["providers"]]
    equal(len(names), len(set(names)))
    assert all(one["reason"] for one in network["providers"]), network
    assert network["libfabric"].count(".") == 2, network
    contains(_info(launcher), f"libfabric {network['libfabric']}")


def the_bits_and_the_level_of_each_provider_are_reported(launcher):
    """In the form of tables I and II of the UNR paper. Broken by bits that the provider does not have, swapped columns, or a level
    that does not follow from the bits."""
    network = json.loads(_info(launcher, "--json"))["network"]
    found = [one for one in network["providers"] if one["put_local_bits"] != 0]
    if not found:
        skip("no provider is here")
    lines = _info(launcher).splitlines()
    head = next(at for at, line in enumerate(lines) if line.split()[:4] == ["local", "put", "remote", "put"])
    equal(lines[head].split(), "local put remote put local get remote get level".split())
    rows = {line.split()[0]: line.split()[1:] for line in lines[head + 1:head + 1 + len(found)]}
    for one in found:
        bits = [one[key] for key in ("put_local_bits", "put_remote_bits", "get_local_bits", "get_remote_bits")]
        equal(bits[0], 64)  # the context of an operation, a pointer
        assert bits[1] % 8 == 0 and 0 <= bits[1] <= 64, one  # the bits of fi_writedata
        equal(bits[2:], [64, 0])  # libfabric reports a get only to its caller
        level = 3 if bits[1] >= 64 else 2 if bits[1] >= 32 else 1 if bits[1] >= 8 else 0
        equal(one["level"], level)
        equal(rows[one["name"]], [str(each) for each in [*bits, level]])


def the_distance_of_a_card_on_another_domain_is_reported(launcher):
    """On a machine that hwloc reads from a file. Broken by the distance of another card or of another domain."""
    if 0 not in os.sched_getaffinity(0) or not shutil.which("taskset"):
        skip("this test may not use processor 0, or there is no taskset")
    here = os.path.dirname(os.path.abspath(__file__))
    command = ["taskset", "-c", "0", launcher.sennit, "info"]
    env = {"HWLOC_XMLFILE": os.path.join(here, "two_domains.xml"), "HWLOC_THISSYSTEM": "1"}
    result = launcher.watch.run([*command, "--json"], env=env)
    equal(result.returncode, 0, result.stderr)
    cards = {one["name"]: one for one in json.loads(result.stdout)["network"]["interfaces"]}
    equal([cards["lo"].get(key) for key in ("numa_node", "numa_node_of_process", "numa_distance")], [1, 0, 21])
    assert all("numa_node" not in card for name, card in cards.items() if name != "lo"), cards
    contains(launcher.watch.run(command, env=env).stdout, "on NUMA node 1, this process on 0, distance 21")


def the_levels_of_locality_match_the_machine(launcher):
    """Broken by a level that is reported although no rank can be at it, or the other way round."""
    here = os.path.dirname(os.path.abspath(__file__))
    env = {"HWLOC_XMLFILE": os.path.join(here, "two_domains.xml"), "HWLOC_THISSYSTEM": "1"}
    for more, domains in (({}, None), ({"env": env}, 2)):
        report = json.loads(_info(launcher, "--json", **more))
        levels = {level["name"]: level for level in report["levels"]}
        equal(list(levels), ["process", "numa", "node", "network"])
        found = len(report["topology"]["numa_nodes"])
        equal(found, domains or found)
        equal((levels["numa"]["here"], levels["node"]["here"]), (found != 0, found != 1))
        equal(levels["network"]["here"], any(one["taken"] for one in report["network"]["providers"]))
        text = _info(launcher, **more)
        for level in levels.values():
            contains(text, level["text"])
        if domains:
            contains(levels["numa"]["text"], f"its {domains} NUMA domains")


def peers_are_counted_at_each_level_of_locality(launcher):
    """Broken by a rank that counts itself, or counts a rank of another node at a level of this node."""
    options = ("--nodes", "2")
    peers = json.loads(_info(launcher, "--peers", "--json", ranks=4, options=options))["peers"]
    for rank in peers["ranks"]:
        at = rank["peers_at"]
        # Without libfabric the ranks of the other node are not asked.
        if at.get("unknown", 0) == 0:
            equal((at["process"], at["numa"] + at["node"], at["network"]), (0, 1, 2), rank)
        equal(sum(at.values()), 3, rank)
    equal(peers["ranks"][0]["peers_at"].get("unknown", 0), 0)
    contains(_info(launcher, "--peers", ranks=2), "peers at each level of locality\n    of ranks 0, 1: 1 ")


def the_build_line_names_the_built_in_optional_parts(launcher):
    line = json.loads(_info(launcher, "--json"))["build"]["description"]
    contains(line, "; built with: ")
    parts = line.split("; built with: ", 1)[1].split(", ")
    assert any(part.startswith("hwloc 2.") for part in parts), line  # programs need it
    # Broken by a library that differs only because Python differs, which no option can fix.
    assert not any(part.startswith("Python") for part in parts), line
    for part, needs in (("Open MPI", "mpicc.openmpi"), ("MPICH", "mpicc.mpich")):
        if shutil.which(needs):
            assert any(found.startswith(part + " ") for found in parts), line
    contains(_info(launcher), line)


def knobs_show_set_values(launcher):
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


def knobs_say_where_each_value_comes_from(launcher):
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("SENNIT_INIT_TIMEOUT 7\nSENNIT_TIMEOUT=8\n")
        file.flush()
        env = {"SENNIT_CONFIG": file.name, "SENNIT_TIMEOUT": "9"}
        knobs = {knob["name"]: knob for knob in json.loads(_info(launcher, "--knobs", "--json", env=env))["knobs"]}
        for name, value, source in (("SENNIT_INIT_TIMEOUT", "7", file.name), ("SENNIT_TIMEOUT", "9", "environment"),
                                    ("SENNIT_FINALIZE_TIMEOUT", "0", "default")):
            equal((knobs[name]["value"], knobs[name]["source"]), (value, source))
        text = _info(launcher, "--knobs", env=env)
        for name, source in (("INIT_TIMEOUT", file.name), ("TIMEOUT", "environment")):
            (after,) = re.findall(rf"^\* SENNIT_{name}=.*\n(.*)", text, re.MULTILINE)
            assert after.endswith(f"; set by {source}"), after
        contains(text, "  SENNIT_FINALIZE_TIMEOUT=0")
        file.write("SENNIT_LOG\n")
        file.flush()
        result = launcher.watch.run([launcher.sennit, "info", "--knobs"], env=env)
        equal(result.returncode, 1)
        contains(result.stderr, f"{file.name}:3: ")


def peers_prints_the_path_of_every_pair_once(launcher):
    text = _info(launcher, "--peers", ranks=4)
    equal(text.count("from \\ to"), 1)
    for rank in range(4):
        contains(text, f"rank {rank}: process")
    equal(text.count("mapped  mapped"), 4)
    contains(text, "not taken: ")


def ranks_with_another_mechanism_are_listed_separately(launcher):
    """Broken by naming one rank as several."""
    script = f"[ $SENNIT_RANK != 1 ] || export SENNIT_REGISTER=cma; exec {launcher.sennit} info --peers"
    result = launcher.shell(3, script)
    equal(result.returncode, 0, result.stderr)
    contains(result.stdout, "memory that ranks 0, 2 register\n")
    contains(result.stdout, "memory that rank 1 registers\n")


def lines_of_the_log_name_their_rank(launcher):
    """Broken by lines of many ranks on one standard error without the number of the rank."""
    result = launcher.run(3, launcher.sennit, "info", "--peers", env={"SENNIT_LOG": "info"})
    equal(result.returncode, 0, result.stderr)
    lines = [line for line in result.stderr.splitlines() if ": info: " in line]
    equal({line.split(": info: ")[0] for line in lines}, {f"sennit: rank {rank}" for rank in range(3)}, result.stderr)


def peers_counts_pairs(launcher):
    contains(_info(launcher, "--peers", ranks=1), "\n  pair 0-0\n")
    contains(_info(launcher, "--peers", ranks=2), "\n  pairs 0-0, 1-1\n")


def peers_as_json_gives_every_reason(launcher):
    peers = json.loads(_info(launcher, "--peers", "--json", ranks=3))["peers"]
    equal([(pair["from"], pair["to"]) for pair in peers["pairs"]], [(i, j) for i in range(3) for j in range(3)])
    for pair in peers["pairs"]:
        equal(pair["path"], "self" if pair["from"] == pair["to"] else "mapped")
        equal(list(pair["reasons"]), PATHS)
        assert all(pair["reasons"].values()), pair
    equal({rank["started_by"] for rank in peers["ranks"]}, {"launcher"})
    assert all(pair["rails"] == [] for pair in peers["pairs"]), "a job on one node has no rails"


def a_rank_that_no_path_reaches_is_shown_on_its_node(launcher):
    """Broken by showing a rank of this node as one of another node, because its own report cannot be read."""
    env = {"SENNIT_PATHS": "self"}
    for options, where in (((), socket.gethostname()), (("--nodes", "2"), "another node")):
        contains(_info(launcher, "--peers", ranks=2, env=env, options=options), f"\n  rank 1: on {where}, no path from rank 0\n")
        ranks = json.loads(_info(launcher, "--peers", "--json", ranks=2, env=env, options=options))["peers"]["ranks"]
        equal(ranks[1]["host"], where)


def the_reason_why_no_path_was_tried_is_shown_once(launcher):
    text = launcher.watch.run(["sh", "-c", 'ulimit -f 1000; exec "$0" info', launcher.sennit]).stdout
    contains(text, "\n  none taken: two ranks could not be started to try the paths: ")
    equal(text.count("two ranks could not be started"), 1)


def one_rank_alone_gets_a_hint_how_to_get_peers(launcher):
    contains(_info(launcher, "--peers"), "sennit run -n 4 sennit info --peers")


def info_recognises_that_it_is_a_rank(launcher):
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


def output_on_standard_error_does_not_hide_the_paths(launcher):
    """Broken by reading the two ranks' answer together with their other output, here lines of the log."""
    report = json.loads(_info(launcher, "--json", env={"SENNIT_LOG": "info"}))
    taken = [path["name"] for path in report["paths"] if path["taken_on_this_node"]]
    equal(len(taken), 1, report["paths"])
