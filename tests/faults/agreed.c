/* tests/faults/agreed.c - ranks sum again and again under GC_FAULT=survive until some of them are
 * killed. Each survivor says in a line which sums were made, for tests/faults/survive to compare;
 * where the MPI library has ULFM, the survivors go on with GC_Comm_shrink, and say in a line what
 * their next 20 sums are.
 * Arguments: KIND VICTIMS DELAY_US COUNT: one of `kinds`; how many of the last ranks are killed;
 * when, after all have begun; elements.
 * Run with a launcher that does not end the job when a rank dies. */
#define _GNU_SOURCE
#include <gradcoll/gradcoll.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "at_time.h"

enum { window = 4 }; /* nonblocking sums under way at once */
static int rank, ranks, count;
static float *in[window], *out[window], *copy;

/* What a rank tells of its sums: how many were made, and a hash of their bits. */
static int made;
static uint64_t digest;

static float value(int of, int step, int element) {
    return (float)((element * 7 + step * 3 + of * 5) % 13 - 6);
}

static void fill(float* vector, int of, int step) {
    for (int i = 0; i < count; ++i) vector[i] = value(of, step, i);
}

static void note_made(const float* result) {
    ++made;
    for (int i = 0; i < count; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, &result[i], sizeof bits);
        digest = (digest ^ bits) * 1099511628211u;
    }
}

static GC_Request request;
static GC_Residual residual;

static int blocking(MPI_Comm comm, int step) {
    fill(in[0], rank, step);
    const int code = GC_Allreduce(in[0], out[0], count, MPI_FLOAT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) note_made(out[0]);
    return code;
}

static int in_place(MPI_Comm comm, int step) {
    fill(out[0], rank, step);
    const int code = GC_Allreduce(MPI_IN_PLACE, out[0], count, MPI_FLOAT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) note_made(out[0]);
    return code;
}

/* All are completed, whatever becomes of the first; those that were made are noted in order. */
static int nonblocking(MPI_Comm comm, int step) {
    MPI_Request started[window];
    int first_error = MPI_SUCCESS;
    for (int i = 0; i < window; ++i) {
        started[i] = MPI_REQUEST_NULL;
        fill(in[i], rank, step * window + i);
        const int code = GC_Iallreduce(in[i], out[i], count, MPI_FLOAT, MPI_SUM, comm, &started[i]);
        if (code == MPI_SUCCESS) continue;
        if (first_error == MPI_SUCCESS) first_error = code;
        started[i] = MPI_REQUEST_NULL;
        in[i][0] = -1000; /* it did not begin */
    }
    for (int i = 0; i < window; ++i) {
        if (in[i][0] == -1000) continue;
        const int code = MPI_Wait(&started[i], MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS) note_made(out[i]);
        if (first_error == MPI_SUCCESS) first_error = code;
    }
    return first_error;
}

static int persistent(MPI_Comm comm, int step) {
    if (request == GC_REQUEST_NULL) {
        const int code = GC_Allreduce_init(in[0], out[0], count, MPI_FLOAT, MPI_SUM, comm,
                                           MPI_INFO_NULL, &request);
        if (code != MPI_SUCCESS) return code;
    }
    fill(in[0], rank, step);
    int code = GC_Start(&request);
    if (code == MPI_SUCCESS) code = GC_Wait(&request);
    if (code == MPI_SUCCESS) note_made(out[0]);
    return code;
}

static int with_residual(MPI_Comm comm, int step) {
    if (residual == GC_RESIDUAL_NULL) {
        const int code = GC_Residual_create(comm, count, MPI_FLOAT, &residual);
        if (code != MPI_SUCCESS) return code;
    }
    fill(in[0], rank, step);
    const int code =
        GC_Allreduce_residual(in[0], out[0], count, MPI_FLOAT, MPI_SUM, comm, residual);
    if (code == MPI_SUCCESS) note_made(out[0]);
    return code;
}

static GC_Engine engine;
static MPI_Comm engine_comm = MPI_COMM_NULL;

/* An engine that goes with its communicator. */
static int prepare_engine(MPI_Comm comm) {
    if (comm == engine_comm) return MPI_SUCCESS;
    engine_comm = comm;
    return engine == GC_ENGINE_NULL ? GC_Engine_create(comm, MPI_INFO_NULL, &engine)
                                    : GC_Engine_reconfigure(engine, comm);
}

/* Each rank hands in gradients in an order of its own, now and then with a pause. */
static int by_engine(MPI_Comm comm, int step) {
    static const char* const names[window] = {"a", "b", "c", "d"};
    GC_Handle handles[window] = {GC_HANDLE_NULL};
    int codes[window];
    int first_error = prepare_engine(comm);
    for (int k = 0; k < window; ++k) {
        const int i = (k + rank + step) % window;
        fill(in[i], rank, step * window + i);
        codes[i] =
            GC_Submit(engine, names[i], in[i], out[i], count, MPI_FLOAT, MPI_SUM, i, &handles[i]);
        if ((step + rank) % 3 == k) usleep(100);
    }
    for (int i = 0; i < window; ++i) {
        if (codes[i] == MPI_SUCCESS) codes[i] = GC_Handle_wait(&handles[i]);
        if (codes[i] == MPI_SUCCESS) note_made(out[i]);
        if (first_error == MPI_SUCCESS) first_error = codes[i];
    }
    return first_error;
}

static const struct kind {
    const char* name;
    int (*run)(MPI_Comm comm, int step);
    int sums;
} kinds[] = {{"blocking", blocking, 1},
             {"in_place", in_place, 1},
             {"nonblocking", nonblocking, window},
             {"persistent", persistent, 1},
             {"residual", with_residual, 1},
             {"engine", by_engine, window}};

static void end_handles(void) {
    if (request != GC_REQUEST_NULL) GC_Request_free(&request);
    if (residual != GC_RESIDUAL_NULL) GC_Residual_free(&residual);
    if (engine != GC_ENGINE_NULL) GC_Engine_free(&engine);
}

/* The step's sum over the ranks of the world that are in `rest`, by plain additions. */
static void expect(float* sum, const int* world_ranks, int rest_ranks, int step) {
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int other = 0; other < rest_ranks; ++other)
        for (int i = 0; i < count; ++i) sum[i] += value(world_ranks[other], step, i);
}

/* Whether the last sum of a step is near enough: codecs lose at most `loss` of each value. */
static int is_right(const struct kind* kind, const int* world_ranks, int rest_ranks, int step,
                    float loss) {
    const int last = kind->sums - 1;
    expect(copy, world_ranks, rest_ranks, step * kind->sums + last);
    for (int i = 0; i < count; ++i) {
        const float off = out[last][i] - copy[i];
        if (off > loss || off < -loss) return 0;
    }
    return 1;
}

static void go_on(const struct kind* kind, float loss) {
    MPI_Comm rest = MPI_COMM_NULL;
    const double begin = now();
    char text[GC_MAX_ERROR_STRING];
    int length = 0;
    const int code = GC_Comm_shrink(MPI_COMM_WORLD, &rest);
    if (code != MPI_SUCCESS) {
        GC_Error_string(code, text, &length);
        printf("rank %d does not go on: %s\n", rank, text);
        fflush(stdout);
        return;
    }
    int rest_ranks = 0, right = 1;
    MPI_Comm_size(rest, &rest_ranks);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_ARE_FATAL);
    int* const world_ranks = malloc((size_t)rest_ranks * sizeof *world_ranks);
    MPI_Allgather(&rank, 1, MPI_INT, world_ranks, 1, MPI_INT, rest);
    made = 0;
    digest = 0;
    for (int step = 0; step < 20; ++step) {
        right &= kind->run(rest, step) == MPI_SUCCESS;
        right &= is_right(kind, world_ranks, rest_ranks, step, loss);
    }
    unsigned long long digests[2] = {digest, ~digest};
    MPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, rest);
    right &= digests[0] == ~digests[1] && made == 20 * kind->sums;
    end_handles();
    MPI_Comm_free(&rest);
    printf("rank %d goes on, %d ranks, %.3f s: %s\n", rank, rest_ranks, now() - begin,
           right ? "right" : "wrong");
    fflush(stdout);
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    const int has_one_thread = getenv("AGREED_ONE_THREAD") != NULL;
    MPI_Init_thread(&argc, &argv, has_one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const struct kind* kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, argv[1]) == 0) kind = &kinds[i];
    const int victims = atoi(argv[2]);
    const double delay = atof(argv[3]) * 1e-6;
    count = atoi(argv[4]);
    if (kind == NULL || count <= 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const size_t bytes = (size_t)count * sizeof(float);
    copy = malloc(bytes);
    for (int i = 0; i < window; ++i) in[i] = malloc(bytes), out[i] = malloc(bytes);
    int step = 0;
    /* Attaches, before nonblocking calls, which do not. */
    if (blocking(MPI_COMM_WORLD, step++) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    if (kind->run(MPI_COMM_WORLD, step++) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d begins\n", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    const double death = now() + delay;
    /* The last ranks die one shortly after the other. */
    if (rank >= ranks - victims) call_after(delay * (1 + 0.01 * (ranks - 1 - rank)), die);
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && now() < death + 30) code = kind->run(MPI_COMM_WORLD, step++);
    const double end = now();
    int class_of_error = MPI_SUCCESS, length = 0;
    char text[GC_MAX_ERROR_STRING] = "";
    MPI_Error_class(code, &class_of_error);
    if (code != MPI_SUCCESS) GC_Error_string(code, text, &length);
    printf("survivor %d: %.3f s, class %d, %d made, digest %016llx: %s\n", rank, end - death,
           class_of_error, made, (unsigned long long)digest, text);
    fflush(stdout);
    if (engine == GC_ENGINE_NULL) end_handles();
    const char* const loss = getenv("AGREED_LOSS");
    go_on(kind, loss != NULL ? (float)atof(loss) : 0);
    while (now() < end + 2) usleep(10000); /* who ends is dead to the others */
    _exit(0);
}
