/* A user's program: sums one vector and fails if the sum is wrong. */
#include <gradcoll.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { count = 100000 };
    int ranks = 0, wrong = 0;
    double* values = malloc(count * sizeof *values);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < count; ++i) values[i] = i;
    GC_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) wrong += values[i] != (double)i * ranks;
    free(values);
    MPI_Finalize();
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
