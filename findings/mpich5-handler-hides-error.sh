#!/usr/bin/env bash
# MPICH 5.0.2 (PyPI): a call whose error an error handler of the program's has seen returns MPI_SUCCESS.
#
# Guess, written down first: MPI_Comm_create_errhandler's function is called with the code, and when it returns, so does
# the call that failed, with that code: as in Open MPI 4.1.4 and MPICH 4.0.2 and 4.2.3, and with MPI_ERRORS_RETURN.
# Behaviour, of 4.3.2 too: the handler gets the code, and the call returns MPI_SUCCESS. A program that has a handler only
# to print, and then looks at what its calls return, takes every failure for a success.
# Seen 2026-11-29, mpich 5.0.2, 4.3.2 (as 5.0.2) and 4.2.3 from PyPI, x86-64, one rank, twice:
#   mpich 4.2.3: the handler saw an error, the call returned an error; with MPI_ERRORS_RETURN: an error
#   mpich 5.0.2: the handler saw an error, the call returned success; with MPI_ERRORS_RETURN: an error
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat >"$folder/handler.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int seen = MPI_SUCCESS;
static void note(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    seen = *code;
}
static const char* word(int code) { return code == MPI_SUCCESS ? "success" : "an error"; }
int main(int argc, char** argv) {
    int value = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    const int by_handler = MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD); /* there is no rank 99 */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int by_return = MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD);
    printf("the handler saw %s, the call returned %s; with MPI_ERRORS_RETURN: %s\n", word(seen), word(by_handler),
           word(by_return));
    MPI_Finalize();
    return 0;
}
C
for version in 4.2.3 5.0.2; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "mpich==$version"
  "$folder/$version/bin/mpicc" -O1 "$folder/handler.c" -o "$folder/handler-$version"
  said[${version%%.*}]="$("$folder/$version/bin/mpiexec" -n 1 "$folder/handler-$version")"
  echo "mpich $version: ${said[${version%%.*}]}"
done
[ "${said[4]}" = "the handler saw an error, the call returned an error; with MPI_ERRORS_RETURN: an error" ] &&
  [ "${said[5]}" = "the handler saw an error, the call returned success; with MPI_ERRORS_RETURN: an error" ]
