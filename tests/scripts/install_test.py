"""scripts/install --remove takes away what an installation listed, and nothing else.

usage: install_test.py SCRIPTS_FOLDER
"""
import subprocess
import sys
import tempfile
from pathlib import Path

LIST = "share/gradcoll/installed-files"
FILES = ("bin/gradcoll", "lib/libgradcoll.so.0.1", "lib/python3/gradcoll/_capi.py", "share/gradcoll/a file")


def write(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x\n")


def remove(script, prefix):
    return subprocess.run([script, "--remove", prefix], capture_output=True, text=True, timeout=60, check=False)


def installed(folder, listed):
    for name in (*FILES, "lib/python3/gradcoll/__pycache__/_capi.cpython-311.pyc", "bin/another"):
        write(folder / name)
    (folder / LIST).write_text("\n".join(listed) + "\n")


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def main():
    script = Path(sys.argv[1]).resolve() / "install"
    with tempfile.TemporaryDirectory() as name:
        folder, outside = Path(name) / "prefix", Path(name) / "outside"
        write(outside)
        installed(folder, [*FILES, "../outside"])
        refused = remove(script, folder)
        assert refused.returncode == 1 and "../outside" in refused.stderr, refused
        installed(folder, [*FILES, str(outside)])
        assert remove(script, folder).returncode == 1
        assert outside.exists() and (folder / "bin/gradcoll").exists()
        installed(folder, [*FILES, "bin/was_there_once"])
        done = remove(script, folder)
        assert done.returncode == 0 and "removed 5 files" in done.stdout, done
        assert left_in(folder) == ["bin", "bin/another"], left_in(folder)
        again = remove(script, folder)
        assert again.returncode == 1 and "nothing to remove" in again.stderr, again
    print("removed what was listed")


if __name__ == "__main__":
    main()
