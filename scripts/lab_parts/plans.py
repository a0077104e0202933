"""What measurements in the lab share: labs of their own, and what gradcoll plan foresees on their links."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
NOT_PERMITTED_HERE = 77


class Failure(Exception):
    pass


def captured(command, environment=None, timeout=600):
    """What a command says. Ends this program with status 77 if labs are not permitted here."""
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    if done.returncode == NOT_PERMITTED_HERE and command[0] == str(SCRIPTS / "lab"):
        print(f"skipped: {done.stderr.strip()}")
        sys.exit(NOT_PERMITTED_HERE)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def lab_command(prefix):
    """scripts/lab with a name that no other process has."""
    return [str(SCRIPTS / "lab"), "--name", f"{prefix}{os.getpid()}"]


def environment_for(build, topology):
    """This process's own, with no settings of the library but the tree's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GC_")}
    environment.update(GC_TOPOLOGY=topology, GRADCOLL_BUILD=str(build))
    return environment


def family_of(build):
    return re.search(r"^family='(.*)'$", (build / "launcher").read_text(encoding="utf-8"), re.MULTILINE)[1]


def expand(text):
    """'0-2,5' -> {0, 1, 2, 5}"""
    numbers = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def ranks_below(tree, found):
    """Fills {name of host or switch: its ranks} from the JSON of `lab tree`."""
    ranks = frozenset([tree["rank"]]) if "rank" in tree else frozenset()
    for child in tree.get("children", ()):
        ranks |= ranks_below(child, found)
    if "name" in tree:
        found[tree["name"]] = ranks
    return ranks


def planned_bytes(build, tree_file, size, codec):
    """{ranks below a link: (up, down)}"""
    plan = json.loads(captured([str(build / "libexec/gradcoll/gradcoll-plan"), "--tree", f"json:{tree_file}", "--bytes", str(size),
                                "--codec", codec, "--links", "--json"]))
    if not plan["exact"]:
        raise Failure("gradcoll plan estimates the bytes only")
    return {expand(link["ranks"]): (link["bytes_up"], link["bytes_down"]) for link in plan["links"]}
