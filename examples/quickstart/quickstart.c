/* quickstart.c - sums a vector over all ranks and compares with MPI_Allreduce.
 * mpicc quickstart.c $(pkg-config --cflags --libs gradcoll) -lm -o quickstart
 * mpirun -n 4 ./quickstart        the exact sum
 * mpirun -n 4 ./quickstart 2:4    2 of 4 adjacent values travel, the others count as 0
 * On one host, where a codec takes longer than it saves, the library would stay exact;
 * gc_compress_if tells it not to. */
#include <gradcoll/gradcoll.h>
#include <math.h>
#include <stdio.h>

enum { count = 1 << 20 };
static float mine[count], ours[count], theirs[count];

static double relative_difference(void) {
    double error = 0, norm = 0;
    for (int i = 0; i < count; ++i) {
        const double difference = (double)ours[i] - (double)theirs[i];
        error += difference * difference;
        norm += (double)theirs[i] * (double)theirs[i];
    }
    return sqrt(error / norm);
}

int main(int argc, char** argv) {
    int rank, ranks;
    GC_Stats stats;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < count; ++i) mine[i] = sinf((float)(i % 9973) + (float)rank);

    if (argc > 1) {
        GC_Comm_set_codec(MPI_COMM_WORLD, argv[1]);
        GC_Comm_set_option(MPI_COMM_WORLD, "gc_compress_if", "always");
    }
    GC_Allreduce(mine, ours, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine, theirs, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);

    GC_Comm_get_stats(MPI_COMM_WORLD, &stats);
    if (rank == 0)
        printf("%d ranks, codec %s: relative difference %.1e, %llu bytes sent instead of %llu\n",
               ranks, argc > 1 ? argv[1] : "exact", relative_difference(), stats.bytes_sent,
               stats.bytes_sent_exact);
    MPI_Finalize();
    return argc > 1 || relative_difference() < 1e-6 ? 0 : 1;
}
