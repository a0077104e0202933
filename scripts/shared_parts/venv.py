"""Virtual environments of packages that pip installs, kept in build/."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def made(name, *rounds):
    """Returns the Python of build/venv-NAME, which is made with `rounds` of packages if it is not there. Takes minutes then."""
    folder = ROOT / "build" / f"venv-{name}"
    python = folder / "bin" / "python"
    if not python.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            for packages in rounds:
                subprocess.run([python, "-m", "pip", "install", "--quiet", *os.environ.get("PIP_ARGUMENTS", "").split(), *packages], check=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(folder, ignore_errors=True)  # half of it would be taken for the whole next time
            raise
    return str(python)
