"""Finding and loading libgradcoll.so, and making sure that it speaks to mpi4py's MPI."""

from __future__ import annotations

import ctypes
import os
import warnings
from pathlib import Path
from typing import Any, List, Optional

from mpi4py import MPI

from ._builds import Abi, build_for, builds_in, complaint
from ._version import __version__

_NAME = "libgradcoll.so." + ".".join(__version__.split(".")[:2])  # each minor version has its own
_PACKAGE = Path(__file__).resolve().parent
_VARIABLE = "GRADCOLL_LIBRARY"
_VERSION_CALL = "PMPI_Get_library_version"
_UNKNOWN = "an unknown MPI"  # how GC_Build calls one that the library cannot tell apart
_MPICHS_ABI = ("MPICH", "Intel MPI", "MVAPICH", "Cray MPICH")


def load(path: Optional[str] = None) -> ctypes.CDLL:
    """The library at `path`, else where GRADCOLL_LIBRARY says, else as installed, else the loader's.

    mpi4py has loaded MPI before, and keeps its names global where MPI's components need that; the
    library itself is loaded with local names. Errors: ImportError.
    """
    library = _open(path or os.environ.get(_VARIABLE) or None)
    _check_mpi(library)
    _check_version(library)
    return library


def _open(path: Optional[str]) -> ctypes.CDLL:
    if path is not None:
        return _open_named(path)
    for candidate in _installed():
        if candidate.exists():
            return _open_named(str(candidate))
    abis = builds_in(_PACKAGE, _NAME)
    if abis:
        return _open_named(str(_of_mpi(abis)))
    try:
        return ctypes.CDLL(_NAME)
    except OSError as error:
        raise ImportError(
            f"gradcoll: the library {_NAME} was not found ({error}); set {_VARIABLE} to its path, "
            "or install it where the dynamic loader looks"
        ) from None


def _open_named(path: str) -> ctypes.CDLL:
    file = Path(path)
    if file.is_dir():
        file = file / _NAME
    if not file.exists():
        raise ImportError(
            f"gradcoll: {_VARIABLE} is {path!r}, but there is no such file; allowed is the path of {_NAME}"
        )
    try:
        return ctypes.CDLL(str(file.resolve()))
    except OSError as error:
        raise ImportError(f"gradcoll: {path} cannot be loaded: {error}") from None


def _installed() -> List[Path]:
    """Where the installation that this package belongs to has put the library."""
    places = [_PACKAGE / _NAME]
    try:
        from ._installed import LIBRARY_FOLDER  # written when CMake installs the package
    except ImportError:
        return places
    return [*places, _PACKAGE / LIBRARY_FOLDER / _NAME]


def _of_mpi(abis: List[Abi]) -> Path:
    """Where that one of several builds is which is for the MPI that mpi4py uses. ImportError if none is."""
    text = MPI.Get_library_version()
    address = _address(ctypes.CDLL(MPI.__file__), _VERSION_CALL)

    def is_loaded(soname: str) -> bool:
        try:
            library = ctypes.CDLL(soname, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
        except OSError:
            return False
        return address in (None, _address(library, _VERSION_CALL))

    abi = build_for(abis, text, is_loaded)
    if abi is None:
        file = f" ({_file_at(address)})" if address else ""
        raise ImportError(
            f"{complaint(abis, _first_line(text.encode()) + file)}; use one of these, such as that of "
            f"pip install gradcoll[mpich], or set {_VARIABLE} to a build for that MPI"
        )
    return _PACKAGE / "builds" / abi.folder / _NAME


def _address(library: ctypes.CDLL, name: str) -> Optional[int]:
    """Of what `library` itself, or a library that it was linked with, defines as `name`."""
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None


def _file_at(address: int) -> str:
    """The name of the file that is mapped there: one version of MPI may bring libraries of two ABIs."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            begin, end = (int(word, 16) for word in line.split()[0].split("-"))
            if begin <= address < end:
                return os.path.basename(line.split()[-1])
    return "an unknown file"


def _mpi_version(library: ctypes.CDLL) -> str:
    """Of the MPI that `library` was linked with. Allowed before MPI_Init."""
    text = ctypes.create_string_buffer(8192)  # no MPI's MPI_MAX_LIBRARY_VERSION_STRING is longer
    length = ctypes.c_int()
    if library.PMPI_Get_library_version(text, ctypes.byref(length)) != 0:
        return "an MPI library that does not tell its version"
    return _first_line(text.value)


def _check_mpi(library: ctypes.CDLL) -> None:
    """A handle's own libraries are searched for a name before anything else: if both find the same
    function, both use the same MPI."""
    mpi4py = ctypes.CDLL(MPI.__file__)  # loaded already
    ours, theirs = _address(library, _VERSION_CALL), _address(mpi4py, _VERSION_CALL)
    if ours is None:
        raise ImportError(f"gradcoll: {library._name} is not linked with an MPI library")
    if theirs is None or ours == theirs:
        return  # an mpi4py that does not show its MPI cannot be compared
    raise ImportError(
        f"gradcoll: {library._name} was built for {_mpi_version(library)} ({_file_at(ours)}), but mpi4py uses "
        f"{_mpi_version(mpi4py)} ({_file_at(theirs)}); build Gradcoll with the MPI of mpi4py (-DMPI_C_COMPILER=...), or set "
        f"{_VARIABLE} to such a build"
    )


def check_built_for(library: ctypes.CDLL, build: Any) -> None:
    """ImportError if the library was built for another MPI, or another major version of it, than the one that it has
    found: names of functions may be the same where handles and constants are not. `build` is a GC_Build, to be filled."""
    library.GC_Get_build(ctypes.byref(build))
    built, found = build.mpi_built.decode(), build.mpi_seen.decode()
    if build.mpi_matches or built == _UNKNOWN:
        return
    is_known = found != _UNKNOWN
    complaint = (
        f"gradcoll: {library._name} was built for {built}, but mpi4py uses "
        f"{found if is_known else repr(_first_line(build.mpi_text))}; build Gradcoll with the MPI of mpi4py "
        f"(-DMPI_C_COMPILER=...), or set {_VARIABLE} to such a build"
    )
    if is_known and not (built.startswith(_MPICHS_ABI) and found.startswith(_MPICHS_ABI)):
        raise ImportError(complaint)
    warnings.warn(f"{complaint}, unless they have one ABI", RuntimeWarning, stacklevel=2)


def _first_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip("\0 \n").splitlines()
    return " ".join(lines[0].split(",")[0].split()) if lines else "an MPI library without a version"


def _check_version(library: ctypes.CDLL) -> None:
    numbers = [ctypes.c_int() for _ in range(3)]
    try:
        library.GC_Get_version(*map(ctypes.byref, numbers))
    except AttributeError:
        raise ImportError(f"gradcoll: {library._name} is not Gradcoll's library") from None
    found = ".".join(str(number.value) for number in numbers)
    if found.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError(
            f"gradcoll: {library._name} has version {found}, but this package needs "
            f"{'.'.join(__version__.split('.')[:2])}"
        )
