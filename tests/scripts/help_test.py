"""Every script says what it is for when it is asked, with status 0, and does nothing else.

usage: help_test.py SCRIPTS_FOLDER
"""
import os
import subprocess
import sys
from pathlib import Path

# What they are given is another program's.
NOT_ASKED = {"mpirun"}


def complaint(script):
    done = subprocess.run([script, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        return f"{script.name} --help: status {done.returncode}: {done.stderr[-300:]}"
    return "" if done.stdout.strip() else f"{script.name} --help says nothing on standard output"


def main():
    scripts = [path for path in sorted(Path(sys.argv[1]).iterdir()) if path.is_file() and os.access(path, os.X_OK)]
    asked = [path for path in scripts if path.name not in NOT_ASKED]
    found = [each for each in map(complaint, asked) if each]
    if not asked:
        found = [f"no scripts in {sys.argv[1]}"]
    print("\n".join(found) or f"{len(asked)} scripts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
