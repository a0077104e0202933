"""Which labs exist: one file each in STATES. A file whose keeper is gone tells of nothing that still exists."""
import contextlib
import fcntl
import json
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from . import description as describe
from . import kernel
from .description import LabError, NotHere

STATES = Path("/run/gclab")
ALL_NAMESPACES = ("uts", "ipc", "net", "pid", "mnt")


def _start_time(pid):
    """What tells a process from a later one of the same number; None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


@dataclass
class Lab:
    name: str
    source: str
    text: str
    keeper: int
    started: str
    with_slurm: bool

    @property
    def alive(self):
        return _start_time(self.keeper) == self.started

    @property
    def description(self):
        return describe.parse(self.text, self.source)

    def enter(self):
        """The caller's next child runs at the head of the lab."""
        kernel.enter(self.keeper, ALL_NAMESPACES)

    def nodes(self):
        """Name -> process that holds the node, as numbered outside."""
        inside = {}
        for pid in Path(f"/proc/{self.keeper}/task/{self.keeper}/children").read_text(encoding="ascii").split():
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            if name.startswith("gclab-"):
                inside[name[len("gclab-"):]] = int(pid)
        return inside


def needs_root():
    if os.geteuid() != 0:
        raise NotHere("a lab needs root: it makes network namespaces and sets rates (sudo scripts/lab ...)")


def check_name(name):
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,8}", name):
        raise LabError(f"--name '{name}': expected up to 9 of a-z, 0-9 and -, beginning with a letter")


@contextlib.contextmanager
def locked():
    """One `up` or `down` at a time."""
    while True:
        STATES.mkdir(exist_ok=True)
        folder = os.open(STATES, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        if STATES.exists() and os.stat(STATES).st_ino == os.fstat(folder).st_ino:
            break
        os.close(folder)  # somebody removed it while we waited
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            STATES.rmdir()  # fails while there is a lab
        os.close(folder)


def _file(name):
    return STATES / f"{name}.json"


def find(name):
    """The lab of that name, alive or dead, or None."""
    try:
        return Lab(**json.loads(_file(name).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise LabError(f"{_file(name)} is damaged ({error}); remove it") from None


def names():
    return sorted(file.stem for file in STATES.glob("*.json")) if STATES.is_dir() else []


def remember(name, source, text, keeper, with_slurm):
    lab = Lab(name, source, text, keeper, _start_time(keeper), with_slurm)
    fresh = STATES / f".{name}.{os.getpid()}"
    fresh.write_text(json.dumps(lab.__dict__), encoding="utf-8")
    fresh.rename(_file(name))


def forget_dead():
    """Removes what tells of labs that are gone."""
    for name in names():
        if not find(name).alive:
            remove(name)


def existing(name):
    """The lab of that name. Errors: LabError if there is none."""
    lab = find(name)
    if lab is None or not lab.alive:
        known = [other for other in names() if other != name]
        raise LabError(f"there is no lab '{name}'" + (f" (but: {', '.join(known)})" if known else "; start one: lab up"))
    return lab


def remove(name):
    """Ends the lab and everything in it. Returns whether there was one."""
    lab = find(name)
    if lab is None:
        return False
    if lab.alive:
        os.kill(lab.keeper, signal.SIGKILL)
        for _ in range(1000):
            if not lab.alive:
                break
            time.sleep(0.01)
        else:
            raise LabError(f"process {lab.keeper}, which holds the lab, does not end")
    _file(name).unlink(missing_ok=True)
    return True
