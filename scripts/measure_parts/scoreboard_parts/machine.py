"""The machine a run was made on, in one paragraph without a date."""
import os
import re
import subprocess
from pathlib import Path


def output_of(command):
    try:
        text = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return text.strip()


def first_line(command):
    return output_of(command).partition("\n")[0]


def mpi_version(launcher):
    """In one line. MPICH's launcher writes a page: HYDRA build details, then its version."""
    text = output_of([launcher, "--version"])
    hydra = re.search(r"^HYDRA.*?Version:\s*(\S+)", text, re.DOTALL)
    return f"MPICH {hydra[1]}" if hydra else text.partition("\n")[0]


def processor():
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "unknown processor"


def system():
    path = Path("/etc/os-release")
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', path.read_text(encoding="utf-8"), re.MULTILINE) if path.exists() else None
    return found[1] if found else os.uname().sysname


def revision(root):
    """The commit, and whether the work tree was as committed."""
    commit = first_line(["git", "-C", str(root), "rev-parse", "--short", "HEAD"])
    changed = first_line(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    return (commit or "unknown") + (" with changes" if changed else "")


def describe(root, launchers):
    """Lines of Markdown. launchers: {family: mpirun of the build}."""
    mpis = [version for version in map(mpi_version, launchers.values()) if version]
    cores = len(os.sched_getaffinity(0))
    return [f"{cores} cores of {processor()}, {system()}, kernel {os.uname().release}, {first_line(['c++', '--version'])}.",
            f"MPI: {'; '.join(mpis) or 'none'}. Gradcoll at {revision(root)}."]


def load():
    """The load average of the last minute."""
    return os.getloadavg()[0]
