/* collective_latency CALL BYTES...: the time of one collective of floats of each size, in three
 * loops: OSU's (one call after another), with a barrier before each call, which is not timed, and
 * with an input that is written anew before that, as programs do: who reads the memory of another
 * process may else find in its own cache what it read in the call before.
 * CALL: allreduce, iallreduce (started and waited for at once), barrier (one row), bcast, reduce,
 * allgather, reduce_scatter_block; bytes are of the vector, of a block for the last two. The root
 * is rank 0. Plain MPI, so that it compiles for every library. The time of a loop is that of the
 * rank for which it took longest: roots and givers may be done before the others. Prints rows of
 * rank 0: size_bytes,loop,median_us,lower_quartile_us,upper_quartile_us over batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batches = 21, warm_up_calls = 200 };

static float *in, *out;
static int input_blocks = 1; /* how many blocks of so many elements the input has */

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* It is defined in one_allreduce.c or one_allreduce.f90. */
void one_allreduce(const float* in, float* out, int count);

static void allreduce(int count) {
    one_allreduce(in, out, count);
}

static void iallreduce(int count) {
    MPI_Request request;
    MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void barrier(int count) {
    (void)count;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int count) {
    MPI_Bcast(in, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void reduce(int count) {
    MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allgather(int count) {
    MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
}

static void reduce_scatter_block(int count) {
    MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct collective {
    const char* name;
    void (*call)(int count);
    int has_blocks;
} collectives[] = {{"allreduce", allreduce, 0},
                   {"iallreduce", iallreduce, 0},
                   {"barrier", barrier, 0},
                   {"bcast", bcast, 0},
                   {"reduce", reduce, 0},
                   {"allgather", allgather, 1},
                   {"reduce_scatter_block", reduce_scatter_block, 1}};
enum { collective_count = sizeof collectives / sizeof collectives[0] };

static void (*call)(int count);

static double osu_loop(int count, int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(count);
    return (MPI_Wtime() - begin) / calls;
}

static double timed_after_barriers(int count, int calls, int writes) {
    double sum = 0;
    for (int i = 0; i < calls; ++i) {
        for (int k = 0; writes && k < count * input_blocks; ++k) in[k] = (float)i;
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        call(count);
        sum += MPI_Wtime() - begin;
    }
    return sum / calls;
}

static double barrier_loop(int count, int calls) {
    return timed_after_barriers(count, calls, 0);
}

static double fresh_loop(int count, int calls) {
    return timed_after_barriers(count, calls, 1);
}

static int most_calls_for(long bytes) {
    if (bytes <= 4096) return 1000;
    if (bytes <= 65536) return 200;
    return bytes <= 1048576 ? 20 : 3;
}

static int warm_calls_for(long bytes) {
    return bytes <= 65536 ? 20 : 1;
}

/* Returns the calls of a batch: fewer if calls are slow (ranks that outnumber cores), so that no
 * batch takes more than 20 ms; the same on all ranks. */
static int calls_for(long bytes, double (*time_of)(int, int)) {
    const double batch_s = 0.02;
    double mine = time_of((int)(bytes / (long)sizeof(float)), warm_calls_for(bytes)), slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const int most = most_calls_for(bytes);
    const double fit = batch_s / slowest;
    return fit >= most ? most : fit <= 3 ? 3 : (int)fit;
}

static void measure(long bytes, const char* loop, double (*time_of)(int, int), int rank) {
    double times[batches];
    const int count = (int)(bytes / (long)sizeof(float));
    const int calls = calls_for(bytes, time_of);
    for (int i = 0; i < batches; ++i) {
        for (int warm = 0; warm < warm_calls_for(bytes); ++warm) call(count);
        const double mine = 1e6 * time_of(count, calls);
        MPI_Allreduce(&mine, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    qsort(times, batches, sizeof *times, by_value);
    if (rank == 0)
        printf("%ld,%s,%.4f,%.4f,%.4f\n", bytes, loop, times[batches / 2], times[batches / 4],
               times[3 * batches / 4]);
}

static const struct collective* collective_named(const char* name) {
    for (int i = 0; i < collective_count; ++i)
        if (strcmp(name, collectives[i].name) == 0) return &collectives[i];
    return NULL;
}

/* Returns the largest of the sizes; 0 if there are none, or one is below 4. */
static long most_of(char** sizes, int count) {
    long most = 0;
    for (int i = 0; i < count; ++i) {
        const long bytes = atol(sizes[i]);
        if (bytes < 4) return 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

static int usage(int rank) {
    if (rank == 0) {
        fprintf(stderr, "usage: collective_latency CALL BYTES... (at least 4); CALL:");
        for (int i = 0; i < collective_count; ++i) fprintf(stderr, " %s", collectives[i].name);
        fprintf(stderr, "\n");
    }
    MPI_Finalize();
    return 2;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const struct collective* const chosen = collective_named(argc > 1 ? argv[1] : "");
    const long most = most_of(argv + 2, argc - 2);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (chosen == NULL || most == 0) return usage(rank);
    call = chosen->call;
    const size_t room = (size_t)most * (size_t)(chosen->has_blocks ? size : 1);
    if (call == reduce_scatter_block) input_blocks = size;
    in = calloc(room, 1);
    out = calloc(room, 1);
    if (in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < warm_up_calls; ++i) call(1);
    for (int i = 2; i < argc; ++i) {
        const long bytes = atol(argv[i]);
        measure(bytes, "osu", osu_loop, rank);
        measure(bytes, "barrier", barrier_loop, rank);
        measure(bytes, "fresh", fresh_loop, rank);
        if (call == barrier) break;
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
