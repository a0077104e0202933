/* tests/preload/spawned.c - a job that starts another one: calls between the two, on what they
 * merge to, and on each one's own communicators give what MPI says. With -DOWN_CALLS the same by
 * GC_ calls, of a program that is linked with the library. Arguments: how many ranks are started;
 * 0: none, the two halves of the job are taken for jobs; `plain`: they get no preload, as under
 * launchers that keep it from them. Exit status 77: the MPI library cannot start any.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OWN_CALLS
#include <gradcoll.h>
#define ALLREDUCE GC_Allreduce
#define IALLREDUCE GC_Iallreduce
#else
#define ALLREDUCE MPI_Allreduce
#define IALLREDUCE MPI_Iallreduce
#endif

enum { longest = 100000, most_ranks = 16 };
static float in[longest], out[most_ranks * 1000 > longest ? most_ranks * 1000 : longest];
static int failures;

static void expect(int holds, const char* what, int count) {
    if (holds) return;
    ++failures;
    printf("%s of %d elements: wrong\n", what, count);
    fflush(stdout);
}

static int sum_to(int ranks) {
    return ranks * (ranks + 1) / 2;
}

static void fill(int rank) {
    for (int i = 0; i < longest; ++i) in[i] = (float)(rank + 1), out[i] = -1;
}

/* Of `ranks` ranks that have 1, 2, ... */
static void sums(MPI_Comm comm, int rank, int ranks, const char* what) {
    const int counts[] = {1, 100, 5000, longest};
    for (int round = 0; round < 3; ++round)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
            const int count = counts[i];
            MPI_Request request = MPI_REQUEST_NULL;
            fill(rank);
            ALLREDUCE(in, out, count, MPI_FLOAT, MPI_SUM, comm);
            expect(out[0] == (float)sum_to(ranks) && out[count - 1] == out[0], what, count);
            fill(rank);
            IALLREDUCE(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect(out[0] == (float)sum_to(ranks) && out[count - 1] == out[0], what, count);
        }
}

static void gathering(MPI_Comm comm, int rank, int ranks, const char* what) {
    fill(rank);
    MPI_Allgather(in, 1000, MPI_FLOAT, out, 1000, MPI_FLOAT, comm);
    int is_right = 1;
    for (int i = 0; i < 1000 * ranks; ++i) is_right = is_right && out[i] == (float)(i / 1000 + 1);
    expect(is_right, what, 1000);
}

/* What one side has the other gets. */
static void calls_between(MPI_Comm inter) {
    int rank = 0, others = 0;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &others);
    sums(inter, rank, others, "sum between jobs");
    gathering(inter, rank, others, "gathering between jobs");
    MPI_Barrier(inter);
}

static void calls_within(MPI_Comm comm, const char* what) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    sums(comm, rank, ranks, what);
    gathering(comm, rank, ranks, what);
    MPI_Barrier(comm);
}

static void both_jobs(MPI_Comm inter, int is_started) {
    MPI_Comm merged, copy;
    calls_between(inter);
    MPI_Intercomm_merge(inter, is_started, &merged);
    calls_within(merged, "call of both jobs");
    MPI_Comm_dup(merged, &copy);
    calls_within(copy, "call of both jobs, copied");
    MPI_Comm_free(&copy);
    calls_within(MPI_COMM_WORLD, "call of one job after that");
    calls_between(inter);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

/* Of the upper half of the ranks: 1. */
static int halves(MPI_Comm* inter) {
    int rank = 0, ranks = 0;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int is_upper = rank >= ranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, &half);
    calls_within(half, "call of a half");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_upper ? 0 : ranks / 2, 7, inter);
    MPI_Comm_free(&half);
    return is_upper;
}

static int started(char* program, int ranks, int is_plain, MPI_Comm* inter) {
    char* without[] = {"-u", "LD_PRELOAD", program, NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int code =
        MPI_Comm_spawn(is_plain ? "env" : program, is_plain ? without : MPI_ARGV_NULL, ranks,
                       MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return code == MPI_SUCCESS;
}

int main(int argc, char** argv) {
    const int ranks = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    alarm(100); /* a call that hangs is a failure */
    calls_within(MPI_COMM_WORLD, "call of one job");
    MPI_Comm_get_parent(&inter);
    int is_other = inter != MPI_COMM_NULL;
    if (!is_other && ranks > 0 && !started(argv[0], ranks, argc > 2, &inter)) {
        MPI_Finalize();
        return 77;
    }
    if (!is_other && ranks == 0) is_other = halves(&inter);
    both_jobs(inter, is_other);
    MPI_Finalize();
    return failures != 0;
}
