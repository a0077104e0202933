"""Which of the builds in a wheel is for the MPI of this process. Functions, and even files, of two MPIs may have the same
names where handles and constants have other values."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, NamedTuple, Optional, Tuple


class Abi(NamedTuple):
    folder: str  # below builds/, as scripts/wheel makes it
    name: str
    soname: str  # of the MPI library, with which the build is linked
    beginnings: Tuple[str, ...]  # of what MPI_Get_library_version tells


ABIS = (
    Abi("abi1", "the standard ABI 1 of MPI 5", "libmpi_abi.so.1", ("",)),
    Abi("mpich", "MPICH 3.4 to 5 and Intel MPI", "libmpi.so.12",
        ("MPICH Version:", "Intel(R) MPI Library", "MVAPICH", "MPI VERSION    : CRAY MPICH")),
    Abi("openmpi4", "Open MPI 4", "libmpi.so.40", ("Open MPI v4.",)),
    Abi("openmpi5", "Open MPI 5", "libmpi.so.40", ("Open MPI v5.",)),
)


def builds_in(package: Path, library: str) -> List[Abi]:
    """Those that the package has: none if it was made for one MPI."""
    return [abi for abi in ABIS if (package / "builds" / abi.folder / library).exists()]


def build_for(abis: List[Abi], version: str, is_loaded: Callable[[str], bool]) -> Optional[Abi]:
    """The one of `abis` for the MPI that tells `version`; `is_loaded` says whether it is the library of that soname."""
    fitting = [abi for abi in abis if version.startswith(abi.beginnings) and is_loaded(abi.soname)]
    return fitting[0] if fitting else None


def complaint(abis: List[Abi], mpi: str) -> str:
    """What an ImportError says where no build is for `mpi`."""
    has = ", ".join(f"{abi.name} ({abi.soname})" for abi in abis)
    return f"gradcoll: mpi4py uses {mpi}, but this package has libraries for these alone: {has}"
