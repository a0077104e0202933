"""The keeper: one process that holds a lab. It is the first of a PID namespace in which everything of the lab runs,
and its namespaces hold all networks; so the kernel removes the whole lab, whatever state it is in, once the keeper ends.

The keeper's own network is that of the head, where mpirun starts. Its children hold one namespace set a host or switch.
"""
import json
import os
import re
import socket
import stat
import sys
from pathlib import Path

from . import kernel, network, slurm
from .description import HEAD, LabError, NotHere

# Inside: a memory file system of the lab's own, so that hosts share no memory with each other or the outside.
SHARED_MEMORY = "/dev/shm"
LAB_FOLDER = Path(SHARED_MEMORY) / "gclab"
NODES_FILE = LAB_FOLDER / "nodes.json"
AGENT = LAB_FOLDER / "agent"
PROGRAM = Path(__file__).resolve().parent.parent / "lab"


_NOT_HERE = re.compile(r"not permitted|Permission denied|not supported|Unknown device type|unknown qdisc|"
                       r"Function not implemented|No such file or directory: '(ip|tc|nsenter)'", re.IGNORECASE)


def _furnish(lab_name, own_name):
    """What head, hosts and switches have alike. mpirun calls the agent as it would call ssh; daemons, too, look for it."""
    kernel.mount("tmpfs", SHARED_MEMORY, "tmpfs", data="mode=1777,size=2g")
    LAB_FOLDER.mkdir()
    AGENT.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{PROGRAM}' --name '{lab_name}' enter \"$@\"\n", encoding="utf-8")
    AGENT.chmod(stat.S_IRWXU)
    socket.sethostname(own_name)
    network.set_sysctls()


def _leave_everything_else(keep):
    """Closes all files but those: whoever waits for the other end of one must see it closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    low = 3
    for descriptor in sorted(keep):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, 1 << 20)


def _node(lab_name, name, ready):
    """A host or switch: holds its namespaces, does nothing. Never returns."""
    _leave_everything_else({ready})
    kernel.unshare(kernel.OWN_MACHINE)
    kernel.keep_mounts_private()
    _furnish(lab_name, name)
    kernel.set_process_name(f"gclab-{name}")
    os.write(ready, b"+")
    os.close(ready)
    kernel.reap_all()


def _start_nodes(name, description):
    pids = {}
    for node in description.nodes:
        seen, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _node(name, node.name, ready)
            except OSError as error:
                os.write(ready, str(error).encode())
            finally:
                os._exit(1)
        os.close(ready)
        with os.fdopen(seen, "rb") as pipe:
            answer = pipe.read().decode()
        if answer != "+":
            raise LabError(f"host or switch {node.name} did not start: {answer or 'it was killed'}")
        pids[node.name] = pid
    return pids


def _furnish_head(name, description):
    kernel.unshare(kernel.OWN_MACHINE)
    kernel.keep_mounts_private()
    kernel.mount("proc", "/proc", "proc")
    _furnish(name, HEAD)
    names = LAB_FOLDER / "hosts"
    names.write_text(network.names_file(description), encoding="ascii")
    kernel.bind(str(names), "/etc/hosts")


def _build(name, description, with_slurm):
    _furnish_head(name, description)
    pids = _start_nodes(name, description)
    network.build(description, pids)
    NODES_FILE.write_text(json.dumps(pids), encoding="ascii")
    if with_slurm:
        slurm.start(description, pids)


def _keep(name, build, report, permission, owner):
    """The first process. Builds, reports, and stays only if whoever asked for the lab is still there to know of it."""
    kernel.set_process_name(f"gclab-{name}")
    answer = os.readlink("/proc/self")  # our number outside: /proc is still the outside's
    try:
        build()
    except (OSError, LabError) as error:
        answer = str(error)
    os.write(report, answer.encode())
    os.close(report)
    if not answer.isdigit() or os.read(permission, 1) != b"+":
        os._exit(1)
    os.close(permission)
    if owner is None:
        kernel.reap_all()
    kernel.reap_while(owner)
    os._exit(0)


def _start_keeper(name, build, report, permission, owner):
    """In a child of whoever asked; ends at once, so that the keeper has no parent here."""
    try:
        os.setsid()
        _leave_everything_else({report, permission} | ({owner} if owner is not None else set()))
        kernel.unshare(kernel.CLONE_NEWPID)
        if os.fork() == 0:
            _keep(name, build, report, permission, owner)
    except OSError as error:
        os.write(report, str(error).encode())
    finally:
        os._exit(0)


def start(name, description, with_slurm, remember, owner_pid=None):
    """Starts a lab; calls remember(keeper's process number) before it may stay. With an owner it ends when that process
    does. Errors: LabError."""
    owner = None if owner_pid is None else os.pidfd_open(owner_pid)
    seen, report = os.pipe()
    permission, permit = os.pipe()
    helper = os.fork()
    if helper == 0:
        _start_keeper(name, lambda: _build(name, description, with_slurm), report, permission, owner)
    os.close(report)
    os.close(permission)
    with os.fdopen(seen, "rb") as reports, os.fdopen(permit, "wb", buffering=0) as permissions:
        answer = reports.read().decode()
        os.waitpid(helper, 0)
        if not answer.isdigit():
            kind = NotHere if _NOT_HERE.search(answer) else LabError
            raise kind(f"the lab did not start: {answer or 'it was killed'}")
        remember(int(answer))
        permissions.write(b"+")
