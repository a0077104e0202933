/* tests/preload/half_types.c - sums of 16-bit floats, by each name that this MPI has for them and
 * sums; knows nothing of Gradcoll. Small whole numbers have exact sums in either format.
 * usage: half_types CODEC: all sums are exact if it is "exact", else those of long vectors are not.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

/* Sums of them end the process in MPICH 4.0.2; what comes before 4.3 has not been tried. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40300000
#undef MPIX_C_FLOAT16
#undef MPI_REAL2
#undef MPIX_BFLOAT16
#endif
#ifndef MPIX_C_FLOAT16
#define MPIX_C_FLOAT16 MPI_DATATYPE_NULL
#endif
#ifndef MPIX_SHORT_FLOAT
#define MPIX_SHORT_FLOAT MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPIX_BFLOAT16
#define MPIX_BFLOAT16 MPI_DATATYPE_NULL
#endif

enum { COUNT = 1 << 18, CALLS = 40 };
static uint16_t in[COUNT], out[COUNT];
static int rank, size, failures;

/* Returns the bits of a whole number from 0 to 15 by halving: both formats have an implied first
 * digit. */
static uint16_t bits_of(int number, int mantissa_bits, int bias) {
    int exponent = 0;
    if (number == 0) return 0;
    while (number >> (exponent + 1) != 0) ++exponent;
    const int mantissa = (number - (1 << exponent)) << (mantissa_bits - exponent);
    return (uint16_t)((exponent + bias) << mantissa_bits | mantissa);
}

static int number_at(int of_rank, int i) {
    return (i * 7 + of_rank * 3 + i / 11) % 3;
}

static void sum(const char* name, MPI_Datatype type, int mantissa_bits, int bias, bool lossy) {
    int bytes = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes != 2) {
        if (rank == 0) printf("%s: this MPI has it not\n", name);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < COUNT; ++i) in[i] = bits_of(number_at(rank, i), mantissa_bits, bias);
    const int code = MPI_Allreduce(in, out, COUNT, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (code != MPI_SUCCESS) {
        if (rank == 0) printf("%s: this MPI does not sum it\n", name);
        return;
    }
    int wrong = 0, all = 0;
    for (int call = 1; call < CALLS; ++call)
        MPI_Allreduce(in, out, COUNT, type, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) {
        int expected = 0;
        for (int r = 0; r < size; ++r) expected += number_at(r, i);
        wrong += out[i] != bits_of(expected, mantissa_bits, bias);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const bool fine = (all != 0) == lossy;
    if (!fine) ++failures;
    if (rank == 0)
        printf("%s: %d of %d differ from the exact sum%s\n", name, all, COUNT * size,
               fine ? "" : "   NOT EXPECTED");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool lossy = argc > 1 && strcmp(argv[1], "exact") != 0;
    sum("MPIX_C_FLOAT16", MPIX_C_FLOAT16, 10, 15, lossy);
    sum("MPIX_SHORT_FLOAT", MPIX_SHORT_FLOAT, 10, 15, lossy);
    sum("MPI_REAL2", MPI_REAL2, 10, 15, lossy);
    sum("MPIX_BFLOAT16", MPIX_BFLOAT16, 7, 127, lossy);
    MPI_Finalize();
    return failures != 0;
}
