"""Which files of a checkout are code of the library."""
import re
import subprocess

FOLDERS = ("include", "topology", "compress", "collectives", "src")
CODE = re.compile(r"\.(cpp|hpp|h|c|cu|cuh)$")


def code_files(root, *more_folders):
    """Paths below `root`, sorted: what git knows, and what it would if it were added."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *FOLDERS, *more_folders],
                            cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted({name for name in listed if CODE.search(name) and (root / name).is_file()})
