/* osu-bench/mpis/communicator_costs.c - measures the cost of communicators that a program makes.
 *
 * usage: communicator_costs live COMMUNICATORS CALLS BYTES | loop COMMUNICATORS CALLS BYTES
 *
 * live: all communicators exist at the same time; prints the memory of a rank for each of them.
 * loop: each is freed before the next one is made, as some libraries do for every operation.
 * Rank 0 prints medians over communicators, in us: of making one, of CALLS allreduces of BYTES in
 * it, of the longest of these, of freeing it. Plain MPI: run it with and without the preload. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *made, *called, *longest, *freed;
} Times;

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median_us(double* seconds, int count) {
    qsort(seconds, (size_t)count, sizeof *seconds, by_size);
    return seconds[count / 2] * 1e6;
}

/* Reads one of both kinds of memory in /proc/self/status, in KiB. */
static long resident_kib(const char* kind) {
    char line[256];
    long kib = 0;
    FILE* const status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, kind, strlen(kind)) == 0) kib = atol(line + strlen(kind));
    if (status != NULL) fclose(status);
    return kib;
}

static double make(MPI_Comm* comm) {
    const double begin = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    return MPI_Wtime() - begin;
}

static double release(MPI_Comm* comm) {
    const double begin = MPI_Wtime();
    MPI_Comm_free(comm);
    return MPI_Wtime() - begin;
}

static void call(MPI_Comm comm, int calls, int bytes, const float* in, float* out, double* whole,
                 double* longest) {
    const double begin = MPI_Wtime();
    double last = begin;
    *longest = 0;
    for (int i = 0; i < calls; ++i) {
        MPI_Allreduce(in, out, bytes / (int)sizeof *in, MPI_FLOAT, MPI_SUM, comm);
        const double now = MPI_Wtime();
        if (now - last > *longest) *longest = now - last;
        last = now;
    }
    *whole = last - begin;
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int count = argc == 5 ? atoi(argv[2]) : 0;
    const int calls = argc == 5 ? atoi(argv[3]) : 0;
    const int bytes = argc == 5 ? atoi(argv[4]) : 0;
    const int live = argc == 5 && strcmp(argv[1], "live") == 0;
    if (count < 1 || calls < 0 || bytes < 4 || (!live && strcmp(argv[1], "loop") != 0)) {
        if (rank == 0)
            fprintf(stderr, "usage: communicator_costs live|loop COMMUNICATORS CALLS BYTES\n");
        MPI_Finalize();
        return 2;
    }
    const size_t room = (size_t)count * sizeof(double);
    const Times times = {malloc(room), malloc(room), malloc(room), malloc(room)};
    MPI_Comm* const comms = malloc((size_t)count * sizeof *comms);
    float* const in = calloc(1, (size_t)bytes);
    float* const out = calloc(1, (size_t)bytes);
    const long shared_before = resident_kib("RssShmem:"), own_before = resident_kib("RssAnon:");
    for (int i = 0; i < count; ++i) {
        times.made[i] = make(&comms[i]);
        call(comms[i], calls, bytes, in, out, &times.called[i], &times.longest[i]);
        if (!live) times.freed[i] = release(&comms[i]);
    }
    const long shared = resident_kib("RssShmem:") - shared_before;
    const long own = resident_kib("RssAnon:") - own_before;
    for (int i = 0; live && i < count; ++i) times.freed[i] = release(&comms[i]);
    if (rank == 0)
        printf(
            "%s: %d ranks, %d communicators, %d calls of %d bytes: make %.2f, calls %.2f, longest "
            "%.2f, free %.2f us; KiB a communicator: %.1f shared, %.1f own\n",
            argv[1], ranks, count, calls, bytes, median_us(times.made, count),
            median_us(times.called, count), median_us(times.longest, count),
            median_us(times.freed, count), (double)shared / count, (double)own / count);
    MPI_Finalize();
    return 0;
}
