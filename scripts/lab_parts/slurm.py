"""SLURM in a lab: a controller at the head, a daemon on each host, and configuration files made of the lab's description.

Head and hosts have their own /etc/slurm, which is FOLDER there: files, logs, sockets and spooled jobs are in the lab's
memory file systems and go with it. SLURM talks over the management network; only what jobs send is on the links.
"""
import os
import shutil
import subprocess
import time
from pathlib import Path

from . import kernel, network
from .description import HEAD, LabError, NotHere

FOLDER = Path("/dev/shm/gclab/slurm")
CONFIGURATION = "/etc/slurm"
CORES_PER_HOST = 4
START_SECONDS = 30
LOG = FOLDER / "daemon.log"
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = {"PATH": _PATH}
_KEY = FOLDER / "munge.key"
_MUNGE_SOCKET = FOLDER / "munge.socket"
_PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
_LINES_OF_LOGS = 5


def check_packages():
    """Errors: NotHere naming the Debian packages that are missing."""
    missing = [package for program, package in _PACKAGES.items() if not shutil.which(program, path=_PATH)]
    if missing:
        raise NotHere(f"--slurm needs SLURM; missing are the Debian packages {' '.join(missing)} (scripts/install-deps installs them)")


def slurm_conf(description):
    """Hosts have made-up CPUs, more than the machine may have; nothing needs cgroups."""
    settings = {
        "ClusterName": "lab",
        "SlurmctldHost": f"{HEAD}({network.HEAD_ADDRESS})",
        "SlurmUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={_MUNGE_SOCKET}",
        "TopologyPlugin": "topology/tree",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/affinity",
        "SlurmdParameters": "config_overrides",
        "MpiDefault": "none",
        "ReturnToService": "2",
        "StateSaveLocation": FOLDER,
        "SlurmdSpoolDir": FOLDER / "spool",
        "SlurmctldLogFile": FOLDER / "slurmctld.log",
        "SlurmdLogFile": FOLDER / "slurmd.log",
        "SlurmctldPidFile": FOLDER / "slurmctld.pid",
        "SlurmdPidFile": FOLDER / "slurmd.pid",
        "AccountingStorageType": "accounting_storage/none",
        "JobAcctGatherType": "jobacct_gather/none",
    }
    lines = [f"{name}={value}" for name, value in settings.items()]
    lines += [f"NodeName={host.name} NodeAddr={host.management_address} Sockets=1 CoresPerSocket={CORES_PER_HOST}" for host in description.hosts]
    lines.append("PartitionName=lab Nodes=ALL Default=YES CpuBind=none")
    return "\n".join(lines) + "\n"


def topology_conf(description):
    lines = []
    for switch in description.switches:
        below = description.children(switch.name)
        switches = ",".join(node.name for node in below if not node.is_host)
        hosts = ",".join(node.name for node in below if node.is_host)
        lines.append(f"SwitchName={switch.name}" + (f" Switches={switches}" if switches else "") + (f" Nodes={hosts}" if hosts else ""))
    return "\n".join(lines) + "\n"


# Folders are else in /tmp, where hosts that share a file system are in each other's way. Fences of two kinds, which is the
# default, let some ranks of Open MPI out of MPI_Init too early (docs/gotchas.md).
_MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\nPMIxCollFence=ring\n"


def _become_daemon(pid, files, key, command):
    """In a process of its own: enters what process `pid` holds (None: stays at the head), and becomes the daemon there."""
    if pid is not None:
        kernel.enter(pid, ("uts", "ipc", "net", "mnt"))
    os.setsid()
    FOLDER.mkdir()
    output = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="ascii")
    kernel.bind(str(FOLDER), CONFIGURATION)
    _KEY.touch(mode=0o600)
    _KEY.write_bytes(key)
    munge = ["munged", f"--socket={_MUNGE_SOCKET}", f"--key-file={_KEY}", f"--pid-file={FOLDER}/munged.pid",
             f"--log-file={FOLDER}/munged.log", f"--seed-file={FOLDER}/munged.seed"]
    # It returns when it can be asked.
    subprocess.run(munge, env=_ENVIRONMENT, check=True)
    os.execvpe(command[0], command, _ENVIRONMENT)


def _start_daemon(pid, *what):
    child = os.fork()
    if child == 0:
        try:
            _become_daemon(pid, *what)
        except Exception as error:  # pylint: disable=broad-except
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(1)
    return child


def _last_words(pid):
    """Of the daemon's log, in the file system of process `pid`."""
    try:
        lines = Path(f"/proc/{pid}/root{LOG}").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return str(error)
    return " | ".join(lines[-_LINES_OF_LOGS:])


def _states():
    """{host: state} as the controller has it; empty as long as it does not answer."""
    done = subprocess.run(["sinfo", "--noheader", "--Node", "--format=%N %T"], env=_ENVIRONMENT, capture_output=True, text=True)
    return dict(line.split() for line in done.stdout.splitlines())


def _wait_until_idle(description, daemons, holders):
    """Errors: LabError with the last words of a daemon that ended, or is late."""
    names = {host.name for host in description.hosts}
    late = names
    deadline = time.monotonic() + START_SECONDS
    while late and time.monotonic() < deadline:
        time.sleep(0.1)
        for name, daemon in daemons.items():
            if os.waitpid(daemon, os.WNOHANG)[0] != 0:
                raise LabError(f"SLURM's daemon on {name} ended: {_last_words(holders[name])}")
        states = _states()
        late = {name for name in names if states.get(name) != "idle"}
    if late:
        name = min(late)
        raise LabError(f"SLURM is not ready after {START_SECONDS} s: {name} is {states.get(name, 'unknown')}: {_last_words(holders[name])}; "
                       f"{HEAD}: {_last_words(holders[HEAD])}")


def start(description, pids):
    """By the keeper, in a lab that stands; pids: of the hosts' holders. Returns when all hosts are idle. Errors: LabError."""
    files = {"slurm.conf": slurm_conf(description), "topology.conf": topology_conf(description), "mpi.conf": _MPI_CONF}
    key = os.urandom(1024)
    holders = {HEAD: os.getpid(), **{host.name: pids[host.name] for host in description.hosts}}
    daemons = {HEAD: _start_daemon(None, files, key, ["slurmctld", "-D"])}
    for host in description.hosts:
        daemons[host.name] = _start_daemon(holders[host.name], files, key, ["slurmd", "-D", "-N", host.name])
    _wait_until_idle(description, daemons, holders)
