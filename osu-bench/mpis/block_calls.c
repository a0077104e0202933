/* osu-bench/mpis/block_calls.c - reduce-scatters and allgathers, as sharded training makes them,
 * beside those of the MPI library.
 *
 * usage: block_calls [ELEMENTS [CALLS [CODEC...]]]
 *
 * ELEMENTS of fp32 are a block (340787); each rank has a block of every rank. The library's calls
 * with each CODEC (exact, bf16, int8) and the MPI library's take turns, CALLS (15) times, behind as
 * many that are not counted, in which the library learns the network; each begins behind a barrier.
 * Rank 0 prints medians and quartiles of the slowest rank's time, and how many times as long the
 * MPI library takes. */
#include <gradcoll.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CALLS = 1000, MOST_WAYS = 8 };

typedef struct {
    const char* codec; /* NULL: the MPI library */
    MPI_Comm comm;
    double scatter_ms[MOST_CALLS], gather_ms[MOST_CALLS];
} Way;

static float *vector, *block, *sums, *gathered;
static int rank, elements = 340787;

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double slowest_ms(double begin) {
    double ms = (MPI_Wtime() - begin) * 1e3;
    MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ms;
}

static double scatter(const Way* way) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (way->codec == NULL)
        MPI_Reduce_scatter_block(vector, sums, elements, MPI_FLOAT, MPI_SUM, way->comm);
    else
        GC_Reduce_scatter_block(vector, sums, elements, MPI_FLOAT, MPI_SUM, way->comm);
    return slowest_ms(begin);
}

static double gather(const Way* way) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (way->codec == NULL)
        MPI_Allgather(block, elements, MPI_FLOAT, gathered, elements, MPI_FLOAT, way->comm);
    else
        GC_Allgather(block, elements, MPI_FLOAT, gathered, elements, MPI_FLOAT, way->comm);
    return slowest_ms(begin);
}

/* Prints the times, and returns their median. */
static double print_times(const char* what, double* ms, int calls, double mpis_ms) {
    qsort(ms, (size_t)calls, sizeof *ms, by_size);
    const double median = ms[calls / 2];
    if (rank == 0)
        printf("  %-14s %8.2f ms (%.2f to %.2f)  %.2f\n", what, median, ms[calls / 4],
               ms[calls * 3 / 4], mpis_ms > 0 ? mpis_ms / median : 1);
    return median;
}

int main(int argc, char** argv) {
    const char* const usual[] = {"exact", "bf16", "int8"};
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) elements = atoi(argv[1]);
    const int calls = argc > 2 ? atoi(argv[2]) : 15;
    const int codecs = argc > 3 ? argc - 3 : 3;
    if (elements < 1 || calls < 1 || calls > MOST_CALLS || codecs >= MOST_WAYS) {
        if (rank == 0) fprintf(stderr, "usage: block_calls [ELEMENTS [CALLS [CODEC...]]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const size_t count = (size_t)elements * (size_t)ranks;
    vector = malloc(count * sizeof *vector);
    sums = malloc((size_t)elements * sizeof *sums);
    gathered = malloc(count * sizeof *gathered);
    /* Uniform values of 24 bits, of which packing without loss saves little. */
    for (size_t i = 0; i < count; ++i)
        vector[i] =
            (float)(((unsigned)i + (unsigned)rank * 7919U) * 2654435761U >> 8) * 0x1p-23F - 1;
    block = vector + (size_t)rank * (size_t)elements;

    static Way ways[MOST_WAYS];
    for (int w = 0; w <= codecs; ++w) {
        ways[w].codec = w == 0 ? NULL : argc > 3 ? argv[w + 2] : usual[w - 1];
        MPI_Comm_dup(MPI_COMM_WORLD, &ways[w].comm);
        if (w > 0) GC_Comm_set_option(ways[w].comm, "gc_codec", ways[w].codec);
    }
    for (int call = -calls; call < calls; ++call)
        for (int w = 0; w <= codecs; ++w) {
            const int at = call < 0 ? 0 : call;
            ways[w].scatter_ms[at] = scatter(&ways[w]);
            ways[w].gather_ms[at] = gather(&ways[w]);
        }
    if (rank == 0) printf("%d ranks, blocks of %d fp32\n", ranks, elements);
    double mpis[2] = {0, 0};
    for (int w = 0; w <= codecs; ++w) {
        if (rank == 0) printf("%s\n", w == 0 ? "MPI" : ways[w].codec);
        const double scattered = print_times("reduce-scatter", ways[w].scatter_ms, calls, mpis[0]);
        const double gathered = print_times("allgather", ways[w].gather_ms, calls, mpis[1]);
        if (w == 0) mpis[0] = scattered, mpis[1] = gathered;
        MPI_Comm_free(&ways[w].comm);
    }
    free(gathered);
    free(sums);
    free(vector);
    MPI_Finalize();
    return 0;
}
