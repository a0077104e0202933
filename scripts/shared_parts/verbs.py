"""Scripts of one group behind one front: scripts/GROUP NAME starts the executable file scripts/GROUP_parts/NAME.

A file has its own interpreter, arguments, help and exit status. The text of its second line is what the list says of it.
"""
import os
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def members(group):
    """{name: what its file says first}, by name."""
    files = [path for path in (SCRIPTS / f"{group}_parts").iterdir() if path.is_file() and os.access(path, os.X_OK)]
    return {path.name: path.read_text(encoding="utf-8").splitlines()[1].strip('#" ') for path in sorted(files)}


def listing(group):
    lines = members(group)
    width = max(map(len, lines))
    return "".join(f"  {name:<{width}}  {line}\n" for name, line in lines.items())


def start(group, name, arguments):
    """The script takes the place of this process."""
    path = SCRIPTS / f"{group}_parts" / name
    os.execv(path, [path, *arguments])


def front(group, kind, text):
    """All that scripts/GROUP does. `kind` is what one of its scripts is called, `text` what the help begins with."""
    name, arguments = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if name in ("", "-h", "--help"):
        print(f"{text}\n{listing(group)}", end="", file=sys.stdout if name else sys.stderr)
        return 0 if name else 2
    if name not in members(group):
        print(f"scripts/{group}: no {kind} is called '{name}': {', '.join(members(group))}", file=sys.stderr)
        return 2
    return start(group, name, arguments)
