/* tests/faults/agreed.c - ranks sum again and again under GC_FAULT=survive until some of them are
 * killed. Each survivor says in a line which sums were made, and how many of them are wrong, for
 * tests/faults/survive to compare; where the MPI library has ULFM, the survivors go on with
 * GC_Comm_shrink, say in a line what their next 20 sums are, and begin again, until the last death.
 * Before the first and after the last each says what it holds of the system.
 * Arguments: KIND COUNT DELAY_US:RANK[+RANK]...: one of `kinds`; elements; for each turn who is
 * killed when, after all have begun it.
 * Run with a launcher that does not end the job when a rank dies. */
#define _GNU_SOURCE
#include <dirent.h>
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
static int rank, count;
static float *in[window], *out[window];

/* What a rank tells of its sums: how many were made, a hash of their bits, and how many of them are
 * not what the ranks of the communicator gave. */
static int made, wrong;
static uint64_t digest;

/* An element is told by its place in one of so many values, which steps and ranks shift. */
enum { values = 13 };
static int place(int step, int element) {
    return (element % values * 7 + step % values * 3) % values;
}
static float value(int of, int at) {
    return (float)((at + of % values * 5) % values - 6);
}
static float sum_at[values]; /* over all ranks of the communicator */
static float loss;           /* codecs lose at most this of each value */

static void expect_sums(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    int* const world_ranks = malloc((size_t)size * sizeof *world_ranks);
    MPI_Allgather(&rank, 1, MPI_INT, world_ranks, 1, MPI_INT, comm);
    for (int at = 0; at < values; ++at) {
        sum_at[at] = 0;
        for (int i = 0; i < size; ++i) sum_at[at] += value(world_ranks[i], at);
    }
    free(world_ranks);
}

static void fill(float* vector, int of, int step) {
    for (int i = 0; i < count; ++i) vector[i] = value(of, place(step, i));
}

static void note_made(const float* result, int step) {
    int is_right = 1;
    ++made;
    for (int i = 0; i < count; ++i) {
        const float off = result[i] - sum_at[place(step, i)];
        is_right &= off <= loss && -off <= loss;
        uint32_t bits = 0;
        memcpy(&bits, &result[i], sizeof bits);
        digest = (digest ^ bits) * 1099511628211u;
    }
    wrong += !is_right;
}

static GC_Request request;
static GC_Residual residual;

static int blocking(MPI_Comm comm, int step) {
    fill(in[0], rank, step);
    const int code = GC_Allreduce(in[0], out[0], count, MPI_FLOAT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) note_made(out[0], step);
    return code;
}

static int in_place(MPI_Comm comm, int step) {
    fill(out[0], rank, step);
    const int code = GC_Allreduce(MPI_IN_PLACE, out[0], count, MPI_FLOAT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) note_made(out[0], step);
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
        if (code == MPI_SUCCESS) note_made(out[i], step * window + i);
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
    if (code == MPI_SUCCESS) note_made(out[0], step);
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
    if (code == MPI_SUCCESS) note_made(out[0], step);
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
        if (codes[i] == MPI_SUCCESS) note_made(out[i], step * window + i);
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

/* Engines go with the ranks; requests and residuals are of one communicator. */
static void end_handles(void) {
    if (request != GC_REQUEST_NULL) GC_Request_free(&request);
    if (residual != GC_RESIDUAL_NULL) GC_Residual_free(&residual);
}

static int open_files(void) {
    int found = -3; /* the two names that every folder has, and what it is read by */
    DIR* const folder = opendir("/proc/self/fd");
    while (readdir(folder) != NULL) ++found;
    closedir(folder);
    return found;
}

/* What of this process's memory is a mapping whose file has the text in its name, in KiB. What is
 * no more than a range of addresses, such as the rest of a thread's heap, does not count. */
static long mapped_kib(const char* text) {
    char line[4096], rights = 0;
    unsigned long begin = 0, end = 0, bytes = 0;
    FILE* const maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, text) != NULL && sscanf(line, "%lx-%lx %c", &begin, &end, &rights) == 3 &&
            rights == 'r')
            bytes += end - begin;
    fclose(maps);
    return (long)(bytes >> 10);
}

static void tell_what_is_held(void) {
    printf("rank %d holds %d descriptors, %ld KiB of ours, %ld KiB of /dev/shm, %ld KiB in all\n",
           rank, open_files(), mapped_kib("memfd:gradcoll"), mapped_kib("/dev/shm"),
           mapped_kib(""));
    fflush(stdout);
}

/* Returns whether 20 sums of all ranks of the communicator are right, and alike. */
static int sums_are_right(const struct kind* kind, MPI_Comm comm) {
    int is_right = 1;
    made = wrong = 0;
    digest = 0;
    expect_sums(comm);
    for (int step = 0; step < 20; ++step) is_right &= kind->run(comm, step) == MPI_SUCCESS;
    unsigned long long digests[2] = {digest, ~digest};
    MPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm);
    return is_right && digests[0] == ~digests[1] && made == 20 * kind->sums && wrong == 0;
}

/* Puts the communicator of the survivors in place of the old one. Returns 0 if there is none. */
static int go_on(const struct kind* kind, MPI_Comm* comm) {
    MPI_Comm rest = MPI_COMM_NULL;
    const double begin = now();
    char text[GC_MAX_ERROR_STRING];
    int length = 0;
    end_handles();
    const int code = GC_Comm_shrink(*comm, &rest);
    if (code != MPI_SUCCESS) {
        GC_Error_string(code, text, &length);
        printf("rank %d does not go on: %s\n", rank, text);
        fflush(stdout);
        return 0;
    }
    int rest_ranks = 0;
    MPI_Comm_size(rest, &rest_ranks);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_ARE_FATAL);
    const int is_right = sums_are_right(kind, rest);
    MPI_Comm_free(comm);
    *comm = rest;
    printf("rank %d goes on, %d ranks, %.3f s: %s\n", rank, rest_ranks, now() - begin,
           is_right ? "right" : "wrong");
    fflush(stdout);
    return 1;
}

/* Sums until somebody dies, and says which sums were made. */
static void sum_until_death(const struct kind* kind, MPI_Comm comm, double delay, char* victims) {
    made = wrong = 0;
    digest = 0;
    expect_sums(comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    const double death = now() + delay;
    /* They die one shortly after the other. */
    double own_delay = delay;
    for (char* each = strtok(victims, "+"); each != NULL; each = strtok(NULL, "+")) {
        if (atoi(each) == rank) call_after(own_delay, die);
        own_delay += 0.01 * delay;
    }
    int code = MPI_SUCCESS, class_of_error = MPI_SUCCESS, length = 0;
    for (int step = 0; code == MPI_SUCCESS && now() < death + 30; ++step)
        code = kind->run(comm, step);
    const double end = now();
    char text[GC_MAX_ERROR_STRING] = "";
    MPI_Error_class(code, &class_of_error);
    if (code != MPI_SUCCESS) GC_Error_string(code, text, &length);
    printf("survivor %d: %.3f s, class %d, %d made, %d wrong, digest %016llx: %s\n", rank,
           end - death, class_of_error, made, wrong, (unsigned long long)digest, text);
    fflush(stdout);
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    const int has_one_thread = getenv("AGREED_ONE_THREAD") != NULL;
    MPI_Init_thread(&argc, &argv, has_one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const struct kind* kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, argv[1]) == 0) kind = &kinds[i];
    count = atoi(argv[2]);
    if (kind == NULL || count <= 0) MPI_Abort(MPI_COMM_WORLD, 2);
    const char* const lost = getenv("AGREED_LOSS");
    if (lost != NULL) loss = (float)atof(lost);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI tells of deaths there */
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const size_t bytes = (size_t)count * sizeof(float);
    for (int i = 0; i < window; ++i) in[i] = malloc(bytes), out[i] = malloc(bytes);
    /* Nonblocking calls do not. */
    if (GC_Comm_attach(comm) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    if (!sums_are_right(kind, comm)) MPI_Abort(MPI_COMM_WORLD, 3);
    tell_what_is_held();
    printf("rank %d begins\n", rank);
    fflush(stdout);
    int goes_on = 1;
    for (int turn = 3; turn < argc && goes_on; ++turn) {
        char* const victims = strchr(argv[turn], ':');
        if (victims == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
        sum_until_death(kind, comm, atof(argv[turn]) * 1e-6, victims + 1);
        goes_on = go_on(kind, &comm);
    }
    if (goes_on) {
        tell_what_is_held();
        MPI_Barrier(comm); /* who ends is dead to the others */
    } else {
        sleep(2);
    }
    _exit(0);
}
