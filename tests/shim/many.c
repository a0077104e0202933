/* shim/many.c - many small allreduces of one rank, for callgrind: it counts inside measured() only.
 */
#include <mpi.h>
#include <stdlib.h>

void measured(int calls);

__attribute__((noinline)) void measured(int calls) {
    float one = 1, sum = 0;
    for (int i = 0; i < calls; ++i)
        MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    float one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD); /* finds and loads everything */
    MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    measured(argc > 1 ? atoi(argv[1]) : 1000);
    MPI_Finalize();
    return sum == 1 ? 0 : 1;
}
