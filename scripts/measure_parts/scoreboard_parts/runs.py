"""The parts that are measured: commands, what of them is still missing, and where the rows go."""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from shared_parts.progress import Progress, clear_line

from . import machine
from .arithmetic import FAMILIES, read_rows

ROOT = Path(__file__).resolve().parents[3]
NOT_PERMITTED_HERE = 77
SKIPPED = "skipped.txt"
MAX_RUN_S = 300
OUT_OF_TIME = 124
END_PATIENCE_S = 5


@dataclass(frozen=True)
class Extent:
    """How much is measured: everything, or what three minutes allow. One round of an MPI is an mpirun of it."""

    rounds: int
    repeats: int
    host_sizes: tuple
    codec_sizes: tuple
    peer_sizes: tuple
    lab_sizes: str
    lab_repeats: int
    kernel_repetitions: int
    learning: tuple  # presets, ranks a host


FULL = Extent(3, 5, tuple(4 << i for i in range(25)), (256 << 10, 4 << 20, 64 << 20), (1 << 10, 64 << 10, 1 << 20, 16 << 20),
              "1M,4M,16M,64M", 3, 9, ("pair,star,lopsided", "1,2"))
QUICK = Extent(1, 3, tuple(4 << i for i in range(0, 25, 2)), (4 << 20,), (64 << 10, 4 << 20), "1M,16M", 1, 3, ("lopsided", "1"))


def launcher_facts(build):
    """{launcher, family, yield_library} as the build wrote them down for scripts/mpirun."""
    path = build / "launcher"
    return dict(re.findall(r"^(\w+)='(.*)'$", path.read_text(encoding="utf-8"), re.MULTILINE)) if path.exists() else {}


def lacks(build):
    """Why a build cannot be measured, or nothing. Ranks of MPICH that spin would take a hundred times as long where they outnumber cores."""
    if not benchmark_of(build).exists():
        return f"{build} has no gc_bench allreduce"
    library = launcher_facts(build).get("yield_library")
    return f"{build} has no {library}" if library and not Path(library).exists() else ""


def benchmark_of(build):
    return build / "libexec/gradcoll/gc_bench-allreduce"


def say(text):
    clear_line(sys.stderr)
    print(f"scoreboard: {text}", file=sys.stderr, flush=True)


class Board:
    """The folder of results, the builds by family, and how much is wanted."""

    def __init__(self, folder, builds, extent, sync="none"):
        self.folder, self.extent, self.sync = Path(folder), extent, sync
        self.builds = {launcher_facts(build)["family"]: build for build in builds if not lacks(build)}
        self.lacking = [why for why in map(lacks, builds) if why]

    def part(self, name):
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def fingerprint(self):
        """Other libraries or another extent make other results."""
        hashes = {}
        for family, build in self.builds.items():
            libraries = sorted(build.glob("src/api/libgradcoll.so*"))
            hashes[family] = hashlib.sha256(libraries[0].read_bytes()).hexdigest() if libraries else ""
        return {"libraries": hashes, "sync": self.sync, "repeats": self.extent.repeats, "rounds": self.extent.rounds}

    def begin(self, fresh):
        """Results of an interrupted run are kept if they are of the same libraries; others are removed."""
        path = self.folder / "state.json"
        state = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if fresh or state.get("fingerprint") != self.fingerprint():
            if self.folder.exists() and state:
                say(f"results in {self.folder} are of other libraries or settings, or are not wanted: measuring anew")
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            state = {"fingerprint": self.fingerprint(), "load_before": machine.load(), "seconds": 0,
                     "machine": machine.describe(ROOT, {family: launcher_facts(build)["launcher"] for family, build in self.builds.items()})}
        self.save(state)
        return state

    def end(self, state, seconds):
        state.update(load_after=machine.load(), seconds=state["seconds"] + seconds)
        self.save(state)

    def save(self, state):
        (self.folder / "state.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")


def end_group(process):
    """mpirun first gets the chance to end its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_PATIENCE_S)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def run(command, build=None, seconds=MAX_RUN_S, settings=None):
    """Exit status and what was said; a run that does not end, or whose caller is ended, is ended with all its processes.
    `settings` are the GC_ variables that it gets; those of the caller do not reach it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GC_")} | (settings or {})
    if build:
        environment["GRADCOLL_BUILD"] = str(build)
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = OUT_OF_TIME
        finally:
            if process.poll() is None:
                end_group(process)
        said.seek(0)
        return status, said.read() + (f"not done after {seconds} s\n" if status == OUT_OF_TIME else "")


def without_torn_row(path):
    """What an interruption cut off is measured again."""
    if path.exists():
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")


def sizes_argument(sizes):
    # A single number would be the largest of a doubling series.
    return ",".join(map(str, sizes)) if len(sizes) > 1 else f"{sizes[0]}:{sizes[0]}"


def allreduce(board, family, path, ranks, sizes, codecs=("exact",), extra=()):
    """Adds the sizes that `path` lacks for any of the codecs, in one mpirun. Returns whether all are there."""
    without_torn_row(path)
    present = {(row["codec"], int(row["size_bytes"])) for row in read_rows(path)}
    missing = [size for size in sizes if any((codec, size) not in present for codec in codecs)]
    if not missing:
        return True
    build = board.builds[family]
    status, said = run([str(ROOT / "scripts/mpirun"), "--as-installed", "-n", str(ranks), str(benchmark_of(build)), "-m", sizes_argument(missing),
                        "--codec", ",".join(codecs), "--repeats", str(board.extent.repeats), "--sync", board.sync, "--csv", str(path),
                        *extra], build)
    if status != 0:
        say(f"{family}, {ranks} ranks: exit status {status}\n{said}")
    return status == 0


def in_turns(board, folder, measure):
    """Every round runs every family once, in swapped order; `measure(family, path, ranks)`."""
    good = True
    families = [family for family in FAMILIES if family in board.builds]
    progress = Progress(2 * board.extent.rounds * len(families))
    for number in range(board.extent.rounds):
        for ranks in (2, 4):
            for family in families if number % 2 == 0 else reversed(families):
                progress.begin(f"{folder.name}: {family}, {ranks} ranks")
                good = measure(family, folder / f"{family}-{ranks}-{number}.csv", ranks) and good
    progress.end()
    return good


def measure_host(board):
    return in_turns(board, board.part("host"),
                    lambda family, path, ranks: allreduce(board, family, path, ranks, board.extent.host_sizes))


def measure_codecs(board):
    folder = board.part("codecs")
    return all([allreduce(board, family, folder / f"{family}-{ranks}-0.csv", ranks, board.extent.codec_sizes, ("exact", "bf16", "2:4"))
                for family in board.builds for ranks in (2, 4)])


def peers_in(build):
    """{name: why it is not there, or ""} but for mpi."""
    _, said = run([str(benchmark_of(build)), "--help"], build, 30)
    found = re.search(r"what is measured beside: (.*)", said)
    there, _, missing = (found[1] if found else "").partition("; not in this build: ")
    peers = {name: "" for name in there.split(", ") if name and name != "mpi"}
    return peers | dict(re.findall(r"(\w+) \(([^)]*)\)", missing))


def measure_peers(board):
    folder = board.part("peers")
    good, reasons = True, {}
    for family, build in board.builds.items():
        for peer, reason in peers_in(build).items():
            if reason:
                reasons[f"{peer} under {family}"] = reason
            for ranks in (2, 4) if not reason else ():
                path = folder / f"{peer}-{family}-{ranks}.csv"
                good = allreduce(board, family, path, ranks, board.extent.peer_sizes, extra=["--peer", peer, "-c"]) and good
    (folder / SKIPPED).write_text("".join(f"{what}: {why}\n" for what, why in reasons.items()), encoding="utf-8")
    return good


def store_once(path, command, build=None):
    """The output of a command in a file, unless it is there. 77 leaves a note in its folder."""
    if path.exists():
        return True
    status, said = run(command, build, 2 * MAX_RUN_S)
    if status == NOT_PERMITTED_HERE:
        return leave_note(path.parent, said.strip().splitlines()[-1] if said.strip() else "not permitted here")
    if status != 0:
        say(f"{' '.join(map(str, command))}: exit status {status}\n{said}")
        return False
    if not path.exists():
        path.write_text(said, encoding="utf-8")
    return True


def widest_instruction_set():
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return "avx512" if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags) else "avx2" if "avx2" in flags else "scalar"


def measure_kernels(board):
    folder = board.part("kernels")
    program = next((path for build in board.builds.values() if (path := build / "libexec/gradcoll/gc_bench-kernels").exists()), None)
    if program is None:
        return leave_note(folder, "gc_bench kernels is not built")
    return store_once(folder / "kernels.md", [str(program), "--table", "--type", "fp32", "--size", str(64 << 20), "--isa",
                                              widest_instruction_set(), "--repetitions", str(board.extent.kernel_repetitions)])


def leave_note(folder, text):
    (folder / SKIPPED).write_text(text + "\n", encoding="utf-8")
    return True


def measure_in_labs(board, part, verb, arguments):
    """What a verb of scripts/lab that takes --build and --csv says, in the part's own CSV file."""
    builds = [word for build in board.builds.values() for word in ("--build", str(build))]
    path = board.part(part) / f"{part}.csv"
    return store_once(path, [str(ROOT / "scripts/lab"), verb, *builds, *arguments, "--csv", str(path)])


def measure_lab(board):
    return measure_in_labs(board, "lab", "bench", ["--sizes", board.extent.lab_sizes, "--repeats", str(board.extent.lab_repeats)])


def measure_learning(board):
    presets, ranks = board.extent.learning
    return measure_in_labs(board, "learning", "learn", ["--presets", presets, "--ppn", ranks, "--rounds", "1"])


def traced(build, path, ranks, settings):
    """The trace of rank 0 of exact allreduces from 64 KiB to 64 MiB, unless it is there."""
    found = path.with_name(f"{path.name}.r0.json")
    if not found.exists():
        status, said = run([str(ROOT / "scripts/mpirun"), "-n", str(ranks), str(benchmark_of(build)), "-m", "64K:64M"], build,
                           settings=settings | {"GC_TRACE": f"{path}.r%r.json"})
        if status != 0:
            say(f"trace of {ranks} ranks: exit status {status}\n{said}")
    return found


def measure_model(board):
    """Tunes this machine, and compares what is predicted from that with traces, through shared memory and over messages."""
    folder = board.part("model")
    build = board.builds.get("openmpi", next(iter(board.builds.values())))
    tuning = folder / "tuning.json"
    if not (build / "libexec/gradcoll/gradcoll-tune").exists():
        return leave_note(folder, "gradcoll tune is not built")
    if not store_once(tuning, [str(ROOT / "scripts/tune"), "--out", str(tuning)], build):
        return False
    ways = {"memory": {}, "messages": {"GC_SHM_BYTES": "0"}}
    traces = [traced(build, folder / f"{way}-{ranks}", ranks, settings | {"GC_TUNING_FILE": str(tuning)})
              for way, settings in ways.items() for ranks in (2, 4)]
    return store_once(folder / "model.txt", [str(ROOT / "scripts/measure"), "model-error", *map(str, traces)])


def measure_warm(board):
    """The tests that count what a warm call allocates, locks and asks of the system."""
    folder = board.part("warm")
    build = board.builds.get("openmpi", next(iter(board.builds.values())))
    programs = [path for name in ("call.allocation", "call.warm_call") if (path := build / "tests/api" / name).exists()]
    if not programs:
        return leave_note(folder, "tests/api/api.allocation and call.warm_call are not built")
    return all([store_once(folder / f"{program.name}.txt",
                           [str(ROOT / "scripts/mpirun"), "-n", "3", str(program), "--gtest_color=no"], build)
                for program in programs])


PARTS = {"host": measure_host, "codecs": measure_codecs, "peers": measure_peers, "kernels": measure_kernels, "warm": measure_warm,
         "model": measure_model, "lab": measure_lab, "learning": measure_learning}


def measure_parts(board, names):
    """Returns the names of the parts that failed."""
    failed = []
    progress = Progress(len(names))
    for name in names:
        progress.begin(name)
        start = time.monotonic()
        if not PARTS[name](board):
            failed.append(name)
        say(f"{name}: {time.monotonic() - start:.0f} s{' FAILED' if name in failed else ''}")
    return failed
