"""Where a build's interposer is, what surroundings a program gets with or without it, and what its report says."""
import json
import os
from pathlib import Path


def interposer(build):
    """Path of the library to preload; None if it is not built."""
    found = sorted(Path(build).glob("src/shim/libgradcoll_pmpi.so*"))
    return found[0] if found else None


def environment(build, settings=None):
    """This process's without our settings and preloads, and with those given; one thread a rank."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GC_") and name != "LD_PRELOAD"}
    return clean | {"GRADCOLL_BUILD": str(build), "OMP_NUM_THREADS": "1", **(settings or {})}


def calls_in(report):
    """Of the JSON report at this path, over all communicators: kind of call -> (calls, served, {reason to pass: calls})."""
    sums = {}
    for comm in json.loads(Path(report).read_text())["communicators"]:
        for cell in comm["calls"]:
            calls, served, reasons = sums.get(cell["call"], (0, 0, {}))
            for reason, count in cell["pass_reasons"].items():
                reasons[reason] = reasons.get(reason, 0) + count
            sums[cell["call"]] = (calls + cell["calls"], served + cell["on_tree"], reasons)
    return sums
