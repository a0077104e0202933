"""Every script says what it is for when it is asked, with status 0, and does nothing else.

usage: help_test.py SCRIPTS_FOLDER
"""
import os
import re
import subprocess
import sys
from pathlib import Path

# What they are given is another program's.
NOT_ASKED = {"mpirun"}
GROUPS = ("check", "draw", "lab", "measure")  # fronts of the executable files in GROUP_parts


def executables(folder):
    return [path for path in sorted(folder.iterdir()) if path.is_file() and os.access(path, os.X_OK)]


def help_of(script, *names):
    wide = dict(os.environ, COLUMNS="300")
    return subprocess.run([script, *names, "--help"], cwd="/", env=wide, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)


def complaint(command):
    done = help_of(*command)
    said = " ".join([command[0].name, *command[1:], "--help"])
    if done.returncode != 0:
        return f"{said}: status {done.returncode}: {done.stderr[-300:]}"
    return "" if done.stdout.strip() else f"{said} says nothing on standard output"


def missing_in_list(front, names):
    """A front lists each of its scripts with a sentence."""
    listed = help_of(front).stdout
    return [f"{front.name} --help has no sentence about {name}" for name in names
            if not re.search(rf"^ +{re.escape(name)}  +[A-Z].*\.$", listed, re.MULTILINE)]


def main():
    folder = Path(sys.argv[1]).resolve()
    asked = [[path] for path in executables(folder) if path.name not in NOT_ASKED]
    found = [] if asked else [f"no scripts in {folder}"]
    for group in GROUPS:
        names = [path.name for path in executables(folder / f"{group}_parts")]
        asked += [[folder / group, name] for name in names]
        found += missing_in_list(folder / group, names)
    found += filter(None, map(complaint, asked))
    print("\n".join(found) or f"{len(asked)} scripts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
