#!/usr/bin/env bash
# Intel MPI 2021.19 (PyPI): MPI_Allgather gives wrong data where each rank sends n bytes and receives one element of a
# contiguous datatype of n bytes, with three ranks or more.
#
# Guess, written down first: `MPI_Allgather(a, n, MPI_SIGNED_CHAR, b, 1, block, comm)`, where block is
# MPI_Type_contiguous(n, MPI_SIGNED_CHAR), is the same as receiving n of MPI_SIGNED_CHAR: the type signatures are equal, which
# is all that MPI asks for. If ours differed from plain Intel MPI, ours would be wrong.
# Behaviour: plain Intel MPI delivers wrong blocks in all of 20 calls on every rank, with 3 and 4 ranks; with 2 ranks, and
# where both sides use the block, all are right. MPICH 5.0.2, from which Intel's is derived, is right in all of these.
# (Other lengths do worse than that; they are not tried here.)
# Seen 2026-11-29, impi-rt and impi-devel 2021.19.0 and mpich 5.0.2 from PyPI, x86-64, two cores, twice: see the last lines.
#   impi  2 ranks: bytes into a block 0 wrong of 40, a block into a block 0
#   impi  3 ranks: bytes into a block 60 wrong of 60, a block into a block 0
#   mpich 3 ranks: bytes into a block 0 wrong of 60, a block into a block 0
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for each in impi mpich; do python3 -m venv "$folder/$each"; done
"$folder/impi/bin/pip" -q install --no-deps impi-rt==2021.19.0 impi-devel==2021.19.0 # they ask for a libfabric that is not there
"$folder/mpich/bin/pip" -q install mpich==5.0.2
cat >"$folder/gather.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
enum { bytes = 5, calls = 20 };
static signed char of(int rank, int call, int i) { return (signed char)(i * 7 + rank * 31 + call); }
/* Counts the calls of 20 in which this rank gets something wrong. */
static int wrong_calls(int by_block, int rank, int ranks, MPI_Datatype block) {
    int wrong = 0;
    for (int call = 0; call < calls; ++call) {
        static signed char mine[1 << 16], all[1 << 16];
        int bad = 0;
        for (int i = 0; i < bytes; ++i) mine[i] = of(rank, call, i);
        memset(all, 0, sizeof all);
        MPI_Allgather(mine, by_block ? 1 : bytes, by_block ? block : MPI_SIGNED_CHAR, all, 1, block, MPI_COMM_WORLD);
        for (int r = 0; r < ranks; ++r)
            for (int i = 0; i < bytes; ++i) bad += all[r * bytes + i] != of(r, call, i);
        wrong += bad > 0;
    }
    return wrong;
}
int main(int argc, char** argv) {
    int rank, ranks, counts[2], sums[2];
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(bytes, MPI_SIGNED_CHAR, &block);
    MPI_Type_commit(&block);
    for (int by_block = 0; by_block < 2; ++by_block) counts[by_block] = wrong_calls(by_block, rank, ranks, block);
    MPI_Reduce(counts, sums, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d %d\n", sums[0], sums[1]);
    MPI_Type_free(&block);
    MPI_Finalize();
    return 0;
}
C
export I_MPI_ROOT="$folder/impi" I_MPI_FABRICS=shm
run() { # run PACKAGE RANKS: prints the two numbers
  LD_LIBRARY_PATH="$folder/$1/lib" "$folder/$1/bin/mpiexec" -n "$2" "$folder/gather.$1"
}
for each in impi mpich; do "$folder/$each/bin/mpicc" -O1 "$folder/gather.c" -o "$folder/gather.$each"; done
read -r two two_blocks < <(run impi 2)
read -r three three_blocks < <(run impi 3)
read -r other other_blocks < <(run mpich 3)
echo "impi  2 ranks: bytes into a block $two wrong of 40, a block into a block $two_blocks"
echo "impi  3 ranks: bytes into a block $three wrong of 60, a block into a block $three_blocks"
echo "mpich 3 ranks: bytes into a block $other wrong of 60, a block into a block $other_blocks"
[ "$two" -eq 0 ] && [ "$three" -eq 60 ] && [ "$((two_blocks + three_blocks + other + other_blocks))" -eq 0 ]
