/* residual_program - makes a residual for a long vector and sums with it; rank 0 prints the tree
 * that the sum went over. Exit status 1 if the sum is wrong. */
#include <gradcoll.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    float* const values = malloc(COUNT * sizeof *values);
    float* const sum = malloc(COUNT * sizeof *sum);
    for (int i = 0; i < COUNT; ++i) values[i] = (float)(i % 7 + rank);
    GC_Residual residual = GC_RESIDUAL_NULL;
    GC_Residual_create(MPI_COMM_WORLD, COUNT, MPI_FLOAT, &residual);
    GC_Allreduce_residual(values, sum, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, residual);
    const int sum_of_ranks = ranks * (ranks - 1) / 2;
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong |= sum[i] != (float)(ranks * (i % 7) + sum_of_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    char text[256];
    size_t length = sizeof text;
    GC_Comm_get_tree(MPI_COMM_WORLD, GC_TREE_EXPRESSION, text, &length);
    if (rank == 0) printf("tree %s\n", text);
    GC_Residual_free(&residual);
    free(sum);
    free(values);
    MPI_Finalize();
    return wrong;
}
