/* call_series BYTES CALLS: how long each of a job's first allreduces of floats takes, in order.
 * Plain MPI, so that it compiles for every library. A call's time is that of the rank for which it
 * took longest; ranks start calls as they come out of the one before. Rank 0 prints rows at the
 * end: call,ms. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int run(int count, int calls) {
    float* in = calloc((size_t)count, sizeof *in);
    float* out = calloc((size_t)count, sizeof *out);
    double* took_ms = calloc((size_t)calls, sizeof *took_ms);
    double* longest_ms = calloc((size_t)calls, sizeof *longest_ms);
    int rank = 0;
    if (in == NULL || out == NULL || took_ms == NULL || longest_ms == NULL) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < calls; ++i) {
        const double begin = MPI_Wtime();
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        took_ms[i] = 1e3 * (MPI_Wtime() - begin);
    }
    MPI_Reduce(took_ms, longest_ms, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < calls; ++i) printf("%d,%.3f\n", i + 1, longest_ms[i]);
    fflush(stdout);
    free(in);
    free(out);
    free(took_ms);
    free(longest_ms);
    return 0;
}

int main(int argc, char** argv) {
    const long bytes = argc == 3 ? atol(argv[1]) : 0;
    const long calls = argc == 3 ? atol(argv[2]) : 0;
    if (bytes < 4 || bytes > 1 << 30 || calls < 1 || calls > 1000000) {
        fprintf(stderr, "usage: call_series BYTES (4 to 1073741824) CALLS (1 to 1000000)\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    const int failed = run((int)(bytes / 4), (int)calls);
    MPI_Finalize();
    return failed;
}
