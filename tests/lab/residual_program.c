/* residual_program - makes long sums or gathers in a way that finds out what the network looks
 * like; rank 0 prints the tree that they went over in the end. Exit status 1 if a result is wrong.
 * usage: residual_program vector|blocks|gathers|between|attach */
#include <gradcoll.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 18, MOST_GATHERS = 200, SUMS_BETWEEN = 20 };

static int rank = 0, ranks = 1;
static float *values, *result;

static int sum_of(int i) {
    return ranks * (i % 7) + ranks * (ranks - 1) / 2;
}

/* Returns 1 if the first `count` elements of the result are not the sums from element `first` on.
 */
static int are_wrong(int first, int count) {
    for (int i = 0; i < count; ++i)
        if (result[i] != (float)sum_of(first + i)) return 1;
    return 0;
}

static int sum_vector(void) {
    GC_Residual residual = GC_RESIDUAL_NULL;
    GC_Residual_create(MPI_COMM_WORLD, ranks * BLOCK, MPI_FLOAT, &residual);
    GC_Allreduce_residual(values, result, ranks * BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                          residual);
    GC_Residual_free(&residual);
    return are_wrong(0, ranks * BLOCK);
}

static int sum_blocks(void) {
    GC_Residual residual = GC_RESIDUAL_NULL;
    GC_Residual_create_for_blocks(MPI_COMM_WORLD, BLOCK, MPI_FLOAT, &residual);
    GC_Reduce_scatter_block_residual(values, result, BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                                     residual);
    GC_Residual_free(&residual);
    return are_wrong(rank * BLOCK, BLOCK);
}

/* Makes long exact sums, under other settings, between the making of two residuals and their use.
 */
static int sum_between(void) {
    const int counts[] = {1000, ranks * BLOCK};
    GC_Residual residuals[2];
    int wrong = 0;
    for (int i = 0; i < 2; ++i)
        GC_Residual_create(MPI_COMM_WORLD, counts[i], MPI_FLOAT, &residuals[i]);
    GC_Comm_set_option(MPI_COMM_WORLD, "gc_compress_bytes", "1K");
    for (int i = 0; i < SUMS_BETWEEN; ++i)
        GC_Allreduce(values, result, ranks * BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
        memset(result, 0, sizeof(float) * (size_t)counts[i]);
        GC_Allreduce_residual(values, result, counts[i], MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                              residuals[i]);
        wrong |= are_wrong(0, counts[i]);
        GC_Residual_free(&residuals[i]);
    }
    return wrong;
}

/* Returns values that packing without loss makes hardly shorter. */
static float noise(unsigned seed) {
    return (float)(seed * 2654435761U >> 8);
}

static int gather(void) {
    int wrong = 0;
    for (unsigned i = 0; i < BLOCK; ++i) values[i] = noise((unsigned)rank * BLOCK + i);
    for (int call = 0; call < MOST_GATHERS; ++call) {
        memset(result, 0, sizeof(float) * BLOCK * (size_t)ranks);
        GC_Allgather(values, BLOCK, MPI_FLOAT, result, BLOCK, MPI_FLOAT, MPI_COMM_WORLD);
        for (unsigned i = 0; i < (unsigned)ranks * BLOCK; ++i) wrong |= result[i] != noise(i);
    }
    return wrong;
}

/* Makes one long sum after the communicator was attached by name: none before it can have told of
 * the network. */
static int sum_attached(void) {
    GC_Comm_attach(MPI_COMM_WORLD);
    GC_Allreduce(values, result, ranks * BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return are_wrong(0, ranks * BLOCK);
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "vector";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    values = malloc(sizeof(float) * BLOCK * (size_t)ranks);
    result = malloc(sizeof(float) * BLOCK * (size_t)ranks);
    for (int i = 0; i < ranks * BLOCK; ++i) values[i] = (float)(i % 7 + rank);
    int wrong = strcmp(what, "gathers") == 0   ? gather()
                : strcmp(what, "blocks") == 0  ? sum_blocks()
                : strcmp(what, "between") == 0 ? sum_between()
                : strcmp(what, "attach") == 0  ? sum_attached()
                                               : sum_vector();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    char text[256];
    size_t length = sizeof text;
    GC_Comm_get_tree(MPI_COMM_WORLD, GC_TREE_EXPRESSION, text, &length);
    if (rank == 0) printf("%s: tree %s\n", what, text);
    free(result);
    free(values);
    MPI_Finalize();
    return wrong;
}
