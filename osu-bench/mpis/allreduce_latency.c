/* allreduce_latency MAX_BYTES: the time of MPI_Allreduce of floats, from 4 bytes on, in two loops:
 * OSU's (one call after another) and with a barrier before each call, which is not timed. Plain
 * MPI, so that it compiles for every library. Prints rows of rank 0:
 * size_bytes,loop,median_us,lower_quartile_us,upper_quartile_us over batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { batches = 21, warm_up_calls = 200 };

static float *in, *out;

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void call(int count) {
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static double osu_loop(int count, int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(count);
    return (MPI_Wtime() - begin) / calls;
}

static double barrier_loop(int count, int calls) {
    double sum = 0;
    for (int i = 0; i < calls; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        call(count);
        sum += MPI_Wtime() - begin;
    }
    return sum / calls;
}

static int calls_for(long bytes) {
    if (bytes <= 4096) return 1000;
    if (bytes <= 65536) return 200;
    return bytes <= 1048576 ? 20 : 3;
}

static void measure(long bytes, const char* loop, double (*time_of)(int, int), int rank) {
    double times[batches];
    const int count = (int)(bytes / (long)sizeof(float));
    for (int i = 0; i < batches; ++i) {
        for (int warm = 0; warm < (bytes <= 65536 ? 20 : 1); ++warm) call(count);
        times[i] = 1e6 * time_of(count, calls_for(bytes));
    }
    qsort(times, batches, sizeof *times, by_value);
    if (rank == 0)
        printf("%ld,%s,%.4f,%.4f,%.4f\n", bytes, loop, times[batches / 2], times[batches / 4],
               times[3 * batches / 4]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long most = argc > 1 ? atol(argv[1]) : 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (most < 4) {
        if (rank == 0) fprintf(stderr, "usage: allreduce_latency MAX_BYTES (at least 4)\n");
        MPI_Finalize();
        return 2;
    }
    in = calloc((size_t)most, 1);
    out = calloc((size_t)most, 1);
    if (in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < warm_up_calls; ++i) call(1);
    for (long bytes = 4; bytes <= most; bytes *= 4) {
        measure(bytes, "osu", osu_loop, rank);
        measure(bytes, "barrier", barrier_loop, rank);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
