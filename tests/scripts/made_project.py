"""A project of a few files, to run a script of ours on."""
import subprocess
import tempfile
from pathlib import Path


def look(program, files):
    """Exit status and output of `program --root` for a project of these files: path -> text."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        subprocess.run(["git", "init", "-q", folder], check=True)
        run = subprocess.run([program, "--root", folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout
