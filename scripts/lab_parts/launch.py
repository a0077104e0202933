"""Programs in the lab: mpirun at the head, its daemons on the hosts through `lab enter`."""
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from . import kernel, network
from .description import LabError
from .keeper import AGENT, LAB_FOLDER, NODES_FILE, SHARED_MEMORY

ROOT = Path(__file__).resolve().parent.parent.parent
MAX_RANKS = 256
OUT_OF_TIME = 124
INTERRUPTED = 130
_SECONDS_TO_END = 10


def ranks_by_host(description, ranks, per_host):
    """[(host, ranks)], hosts in the order of the description, without hosts that get none."""
    hosts = description.hosts
    total = per_host * len(hosts) if ranks is None else ranks
    if not 1 <= total <= MAX_RANKS:
        raise LabError(f"{total} ranks; allowed are 1 to {MAX_RANKS}")
    share, more = divmod(total, len(hosts))
    counts = [share + (index < more) for index in range(len(hosts))]
    return [(host, count) for host, count in zip(hosts, counts) if count > 0]


def _recorded_launcher(build):
    """{launcher, family, ...} as the build wrote it down; empty without a build."""
    try:
        text = (Path(build) / "launcher").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(re.findall(r"^(\w+)='(.*)'$", text, re.MULTILINE))


def choose_build(wanted):
    """(build folder or None, 'openmpi' or 'mpich'). Without a wish that of $GRADCOLL_BUILD, or of the build build/release."""
    build = os.environ.get("GRADCOLL_BUILD") or str(ROOT / "build" / "release")
    family = _recorded_launcher(build).get("family")
    if family in ("openmpi", "mpich") and wanted in (None, family):
        return os.path.abspath(build), family
    return None, wanted or "openmpi"


def _launcher_without_build(family):
    """A folder that tells scripts/mpirun which launcher to take. Inside the lab, so it goes with it."""
    folder = LAB_FOLDER / f"launcher-{family}"
    folder.mkdir(exist_ok=True)
    (folder / "launcher").write_text(f"launcher='mpirun.{family}'\nfamily='{family}'\nyield_library=''\n", encoding="ascii")
    return str(folder)


# What ranks of Open MPI and of MPICH need in every lab, whoever launches them: data on the links that are counted.
_OPENMPI_PARAMETERS = {"pml": "ob1", "btl_tcp_if_include": network.DATA_SUBNET}
_MPICH_ENVIRONMENT = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}

# By what Debian's MPIs find each other under srun: each knows this one alone.
_SLURM_MPI_TYPES = {"openmpi": "pmix", "mpich": "pmi2"}


class _OpenMpi(NamedTuple):
    """How one generation of Open MPI is told what it needs beside the ranks' parameters: all but data goes beside the links."""
    option: str  # of mpirun, for parameters of the launcher
    prefix: str  # of variables that have them
    folder: str
    interfaces: str
    agent: str
    no_tree_spawn: str
    memory: str  # BTL of ranks on one host
    binding: tuple

    def of_ranks(self):
        return {**_OPENMPI_PARAMETERS, "btl": f"self,{self.memory},tcp"}

    def of_launcher(self):
        # Each run has its own folder: its mpirun always has process number 2, by which PRRTE names what a killed one leaves.
        return {self.folder: f"{SHARED_MEMORY}/run{os.getpid()}", self.interfaces: network.MANAGEMENT_SUBNET}


_OPENMPI_4 = _OpenMpi("--mca", "OMPI_MCA_", "orte_tmpdir_base", "oob_tcp_if_include", "plm_rsh_agent", "plm_rsh_no_tree_spawn",
                      "vader", ("--bind-to", "none"))
# Its launcher is PRRTE. scripts/mpirun has it bind nothing, and it takes no option twice.
_OPENMPI_5 = _OpenMpi("--prtemca", "PRTE_MCA_", "prte_tmpdir_base", "prte_if_include", "plm_ssh_agent", "plm_ssh_no_tree_spawn", "sm", ())


def _openmpi(build):
    """The generation that a build is for, or that of the system's mpirun."""
    launcher = (_recorded_launcher(build) if build else {}).get("launcher", "mpirun.openmpi")
    try:
        said = subprocess.run([launcher, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    except OSError as error:
        raise LabError(f"{launcher}: {error.strerror}") from None
    return _OPENMPI_4 if " 4." in said.partition("\n")[0] else _OPENMPI_5


def _openmpi_arguments(places, openmpi):
    arguments = ["--host", places, *openmpi.binding]
    for name, value in {openmpi.agent: str(AGENT), openmpi.no_tree_spawn: "1", **openmpi.of_launcher()}.items():
        arguments += [openmpi.option, name, value]
    for name, value in openmpi.of_ranks().items():
        arguments += ["--mca", name, value]
    return arguments


def _mpich_arguments(places):
    os.environ.update(_MPICH_ENVIRONMENT)
    return ["-launcher", "rsh", "-launcher-exec", str(AGENT), "-iface", network.MANAGEMENT_DEVICE, "-hosts", places]


def mpirun_command(build, family, where, arguments):
    """The command line for the head. `where`: ranks_by_host()."""
    places = ",".join(f"{host.name}:{count}" for host, count in where)
    family_arguments = _openmpi_arguments(places, _openmpi(build)) if family == "openmpi" else _mpich_arguments(places)
    ours, theirs = [str(ROOT / "scripts" / "mpirun")], list(arguments)
    if theirs[:1] == ["--preload"]:
        ours += theirs[:2]
        theirs = theirs[2:]
    return [*ours, *family_arguments, "-n", str(sum(count for _, count in where)), *theirs]


def _at_head(lab, command, prepare):
    """In a process of its own: enters the lab. Its child, being in the lab's PID namespace, can make one below that."""
    lab.enter()
    if prepare:
        prepare()
    inside = kernel.fork_tied()
    if inside == 0:
        os._exit(kernel.run_as_first_process(command, leave_with_command=True))
    return kernel.exit_status(os.waitpid(inside, 0)[1])


def run_at_head(lab, command, time_limit_s, prepare=None):
    """Runs a command at the head and returns its exit status. prepare: is called there before. All that the command
    started ends with it, with this process, with the lab, or after time_limit_s (then the status is 124)."""
    # mpirun gets Ctrl-C, too, and ends its ranks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    session = kernel.fork_tied()
    if session == 0:
        status = 1
        try:
            status = _at_head(lab, command, prepare)
        except OSError as error:
            print(f"lab: {error}", file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(status)
    return _wait(session, time_limit_s)


def _out_of_time(time_limit_s):
    return f"lab: ended after {time_limit_s} s (--time-limit)"


def _wait(session, time_limit_s):
    expired, interrupted = [], []

    def end(*_):
        expired.append(True)
        os.kill(session, signal.SIGKILL)

    signal.signal(signal.SIGINT, lambda *_: interrupted.append(True))
    signal.signal(signal.SIGALRM, end)
    signal.alarm(time_limit_s)
    status = kernel.exit_status(os.waitpid(session, 0)[1])
    signal.alarm(0)
    if expired:
        print(_out_of_time(time_limit_s), file=sys.stderr)
        return OUT_OF_TIME
    return status or (INTERRUPTED if interrupted else 0)


def run(lab, wanted_mpi, where, arguments, time_limit_s):
    """`lab run`: returns mpirun's exit status."""
    build, family = choose_build(wanted_mpi)

    def choose_launcher():
        os.environ["GRADCOLL_BUILD"] = build or _launcher_without_build(family)

    return run_at_head(lab, mpirun_command(build, family, where, arguments), time_limit_s, choose_launcher)


def _slurm_environment(build, family):
    """What srun, and mpirun where salloc runs it, hand on to the ranks of this MPI; and how those find each other."""
    shared = {"HYDRA_IFACE": network.MANAGEMENT_DEVICE, "SLURM_MPI_TYPE": _SLURM_MPI_TYPES[family]}
    if family == "mpich":
        return {**_MPICH_ENVIRONMENT, **shared}
    openmpi = _openmpi(build)
    ranks = {**openmpi.of_ranks(), "mpi_yield_when_idle": "1"}
    return {**{f"OMPI_MCA_{name}": value for name, value in ranks.items()},
            **{f"{openmpi.prefix}{name}": value for name, value in openmpi.of_launcher().items()}, **shared}


def run_under_slurm(lab, wanted_mpi, command, time_limit_s):
    """`lab slurm`: a command at the head of a lab with SLURM. Returns its exit status."""
    if not lab.with_slurm:
        raise LabError(f"lab '{lab.name}' was started without SLURM; start one with it: lab up --slurm")
    build, family = choose_build(wanted_mpi)

    def choose():
        os.environ.update(_slurm_environment(build, family), GRADCOLL_BUILD=build or _launcher_without_build(family))

    # An srun that is asked to end takes its job along; a job outlives one that is killed.
    ask = ["timeout", f"--kill-after={_SECONDS_TO_END}"] + (["--foreground"] if sys.stdin.isatty() else [])
    asked = [*ask, str(time_limit_s), *command]
    status = run_at_head(lab, asked, time_limit_s + 2 * _SECONDS_TO_END, choose)
    if status == OUT_OF_TIME:
        print(_out_of_time(time_limit_s), file=sys.stderr)
    return status


def enter(arguments):
    """`lab enter HOST COMMAND...`, in the lab: runs a command on a host or switch, in a PID namespace of its own."""
    try:
        pids = json.loads(NODES_FILE.read_text(encoding="ascii"))
    except OSError:
        raise LabError("'lab enter' is for programs that `lab run` started; use: lab exec HOST COMMAND...") from None
    name, *command = arguments
    if name not in pids:
        raise LabError(f"there is no host '{name}'; there are {', '.join(pids)}")
    # As ssh does: one text for the shell.
    shell = ["/bin/sh", "-c", " ".join(command)]
    return _run_on(pids[name], shell)


def _run_on(pid, command):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.enter(pid, ("uts", "ipc", "net", "mnt"))
    kernel.unshare(kernel.CLONE_NEWNS)

    def own_processes():
        kernel.mount("proc", "/proc", "proc")

    return kernel.run_as_first_process(command, leave_with_command=False, prepare=own_processes)


def start_on(lab, node, command, **options):
    """subprocess.Popen of a command on a host or switch, in its network alone; for measurements from outside."""
    return subprocess.Popen(["nsenter", f"--net=/proc/{lab.nodes()[node]}/ns/net", *command], **options)
