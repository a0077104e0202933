/* tests/preload/special_values.c - what NaN and zeros give in MPI_MIN and MPI_MAX, and integers
 * that overflow in MPI_SUM, call by call from the first; knows nothing of Gradcoll.
 * usage: special_values [CALLS [kept]]
 * Rank 0 prints what the elements of the result are over all ranks, and from which call on. With
 * "kept" every element of every call must follow the rule of docs/special-values.md. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_count = 1 << 16, outcome_count = 5 };
/* An outcome is a set of these. */
enum { is_nan = 1, is_number = 2, is_minus_zero = 4, is_zero = 8, is_unlike = 16 };
static const char* const outcome_names[outcome_count] = {"NaN", "number", "-0", "+0",
                                                         "ranks differ"};
static const int counts[] = {1, 16, 67, 1000, 16384, most_count};

static int rank, size, failures, calls = 100;
static bool kept;
static union {
    double f64[most_count];
    float f32[most_count];
    int8_t i8[most_count];
} in, out, first;

enum Special { nan_of_first, nan_of_last, minus_zero_of_first, minus_zero_of_last };
static const char* const special_names[] = {"NaN on rank 0", "NaN on the last rank",
                                            "-0 on rank 0, +0 elsewhere",
                                            "-0 on the last rank, +0 elsewhere"};

static double input_of(enum Special special) {
    const bool is_here =
        special == nan_of_first || special == minus_zero_of_first ? rank == 0 : rank == size - 1;
    if (special <= nan_of_last) return is_here ? (double)NAN : 1.0 + rank;
    return is_here ? -0.0 : 0.0;
}

static int outcome_of(double value) {
    if (isnan(value)) return is_nan;
    if (value != 0) return is_number;
    return signbit(value) ? is_minus_zero : is_zero;
}

/* Returns what rank 0's result has, and whether other ranks have other bits. */
static int outcome_of_call(MPI_Datatype type, int count, size_t bytes) {
    int outcome = 0, unlike = 0, any_unlike = 0;
    for (int i = 0; i < count; ++i)
        outcome |= outcome_of(type == MPI_FLOAT ? (double)out.f32[i] : out.f64[i]);
    memcpy(&first, &out, bytes);
    MPI_Bcast(&first, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    unlike = memcmp(&first, &out, bytes) != 0;
    MPI_Reduce(&unlike, &any_unlike, 1, MPI_INT, MPI_BOR, 0, MPI_COMM_WORLD);
    return outcome | (any_unlike != 0 ? is_unlike : 0);
}

static int wanted_of(MPI_Op op, enum Special special) {
    if (special <= nan_of_last) return is_nan;
    return op == MPI_MIN ? is_minus_zero : is_zero;
}

static void print_outcome(int from_call, int outcome) {
    const char* between = "";
    printf(" from call %d: ", from_call);
    for (int i = 0; i < outcome_count; ++i)
        if ((outcome & 1 << i) != 0) {
            printf("%s%s", between, outcome_names[i]);
            between = " and ";
        }
    printf(";");
}

static void fail(const char* what, int call) {
    ++failures;
    printf("\nNOT EXPECTED: %s in call %d", what, call);
}

static void try_extreme(MPI_Datatype type, MPI_Op op, enum Special special, int count) {
    const size_t bytes = (size_t)count * (type == MPI_FLOAT ? sizeof(float) : sizeof(double));
    const double value = input_of(special);
    MPI_Comm comm = MPI_COMM_NULL;
    int before = 0;
    for (int i = 0; i < count; ++i)
        if (type == MPI_FLOAT)
            in.f32[i] = (float)value;
        else
            in.f64[i] = value;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        printf("%s of %s, %d, %s:", op == MPI_MIN ? "MIN" : "MAX",
               type == MPI_FLOAT ? "float" : "double", count, special_names[special]);
    for (int call = 1; call <= calls; ++call) {
        MPI_Allreduce(&in, &out, count, type, op, comm);
        const int outcome = outcome_of_call(type, count, bytes);
        if (rank != 0) continue;
        if (outcome != before) print_outcome(call, outcome);
        if (kept && outcome != wanted_of(op, special)) fail("another result", call);
        before = outcome;
    }
    if (rank == 0) printf("\n");
    MPI_Comm_free(&comm);
}

/* Each rank contributes 100. */
static void try_overflow(int count) {
    const int wrapped = (int8_t)(uint8_t)(100 * size);
    MPI_Comm comm = MPI_COMM_NULL;
    int lowest_before = 0, highest_before = 0;
    memset(&in, 100, (size_t)count);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) printf("SUM of int8, %d, 100 on each rank:", count);
    for (int call = 1; call <= calls; ++call) {
        MPI_Allreduce(&in, &out, count, MPI_INT8_T, MPI_SUM, comm);
        int lowest = out.i8[0], highest = out.i8[0];
        for (int i = 1; i < count; ++i) {
            if (out.i8[i] < lowest) lowest = out.i8[i];
            if (out.i8[i] > highest) highest = out.i8[i];
        }
        if (rank != 0) continue;
        if (call == 1 || lowest != lowest_before || highest != highest_before)
            printf(lowest == highest ? " from call %d: %d;" : " from call %d: %d and %d;", call,
                   lowest, highest);
        if (kept && (lowest != wrapped || highest != wrapped)) fail("no wrapped sum", call);
        lowest_before = lowest;
        highest_before = highest;
    }
    if (rank == 0) printf("\n");
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) calls = atoi(argv[1]);
    kept = argc > 2 && strcmp(argv[2], "kept") == 0;
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; ++n) {
        for (enum Special special = nan_of_first; special <= minus_zero_of_last; ++special) {
            try_extreme(MPI_FLOAT, MPI_MIN, special, counts[n]);
            try_extreme(MPI_FLOAT, MPI_MAX, special, counts[n]);
            try_extreme(MPI_DOUBLE, MPI_MAX, special, counts[n]);
        }
        try_overflow(counts[n]);
    }
    MPI_Bcast(&failures, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
