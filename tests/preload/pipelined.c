/* tests/preload/pipelined.c - programs whose sums are all MPI_Iallreduce, as in pipelined Krylov
 * methods (PETSc's pipecg): started, overlapped with work, waited for. No call here makes ranks
 * wait for all others but these, and what ranks do between a start and its wait differs.
 * usage: pipelined FOLDER, or pipelined time [ITERATIONS] */
#include <mpi.h>

#include "witness.h"

enum { rounds = 1000, most_started = 20, unknowns = 4000 };
static int rank, size;
static double vector[unknowns];

/* MPICH's header lets compilers warn of MPI_STATUSES_IGNORE. */
static void wait_for_all(int count, MPI_Request* requests) {
    MPI_Status statuses[most_started];
    MPI_Waitall(count, requests, statuses);
}

/* Is what a rank has to do between starting a sum and needing it. */
static double apply_operator(void) {
    double sum = 0;
    for (int i = 1; i + 1 < unknowns; ++i)
        sum += vector[i] = 0.5 * vector[i] + 0.25 * (vector[i - 1] + vector[i + 1]);
    return sum;
}

static void start(int round, double* in, double* out, MPI_Comm comm, MPI_Request* request) {
    for (int i = 0; i < 3; ++i) {
        in[i] = (double)((round + 1) * (rank + 1) + i);
        out[i] = -1;
    }
    MPI_Iallreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, comm, request);
}

static int is_right(int round, const double* out) {
    for (int i = 0; i < 3; ++i)
        if (out[i] != (double)((round + 1) * size * (size + 1) / 2 + i * size)) return 0;
    return 1;
}

/* Runs rounds of `round_of` on a communicator of its own, and writes how many had right sums. */
static void run(const char* name, int round_count, int (*round_of)(int round, MPI_Comm comm)) {
    int right = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int round = 0; round < round_count; ++round) right += round_of(round, comm);
    witness("%s: %d of %d rounds are right", name, right, round_count);
    MPI_Comm_free(&comm);
}

static int overlap(int round, MPI_Comm comm) {
    double in[3], out[3];
    MPI_Request request = MPI_REQUEST_NULL;
    start(round, in, out, comm, &request);
    apply_operator();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_right(round, out);
}

/* The last rank waits for rank 0's message before it waits for its sum; rank 0 sends it behind its
 * own wait. */
static int wait_in_turn(int round, MPI_Comm comm) {
    double in[3], out[3];
    int token = round;
    MPI_Request request = MPI_REQUEST_NULL;
    start(round, in, out, comm, &request);
    if (rank == size - 1 && size > 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0 && size > 1) MPI_Send(&token, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD);
    return is_right(round, out) && token == round;
}

static MPI_Comm second_comm;

/* Ranks start the sums of two communicators in different orders. */
static int swap_comms(int round, MPI_Comm comm) {
    double in[2][3], out[2][3];
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) {
        const int which = (i + rank) % 2;
        start(round + which, in[which], out[which], which == 0 ? comm : second_comm,
              &requests[which]);
    }
    apply_operator();
    wait_for_all(2, requests);
    return is_right(round, out[0]) && is_right(round + 1, out[1]);
}

/* A gather, or a reduce, is behind the sum on every rank, but its root waits for the sum first. */
static int collect_between(int round, MPI_Comm comm, int reduces) {
    double in[3], out[3];
    int mine = 1, all[64] = {0}, waits_first = rank == 0;
    MPI_Request request = MPI_REQUEST_NULL;
    start(round, in, out, comm, &request);
    if (waits_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (reduces)
        MPI_Reduce(&mine, all, 1, MPI_INT, MPI_SUM, 0, comm);
    else
        MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    if (!waits_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_right(round, out) && (rank != 0 || all[0] == (reduces ? size : 1));
}
static int gather_between(int round, MPI_Comm comm) {
    return collect_between(round, comm, 0);
}
static int reduce_between(int round, MPI_Comm comm) {
    return collect_between(round, comm, 1);
}

static int start_many(int round, MPI_Comm comm) {
    double in[most_started][3], out[most_started][3];
    MPI_Request requests[most_started];
    int right = 1;
    for (int i = 0; i < most_started; ++i) start(round + i, in[i], out[i], comm, &requests[i]);
    wait_for_all(most_started, requests);
    for (int i = 0; i < most_started; ++i) right = right && is_right(round + i, out[i]);
    return right;
}

/* Ranks test, and do not wait. */
static int test_only(int round, MPI_Comm comm) {
    double in[3], out[3];
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    start(round, in, out, comm, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return is_right(round, out);
}

/* Long sums go over trees, or through memory once there is some. */
static int mix_lengths(int round, MPI_Comm comm) {
    static double long_in[1 << 15], long_out[1 << 15];
    double in[3], out[3];
    MPI_Request requests[2];
    for (int i = 0; i < 1 << 15; ++i) long_in[i] = 1;
    start(round, in, out, comm, &requests[0]);
    MPI_Iallreduce(long_in, long_out, round % 8 == 7 ? 1 << 15 : 100, MPI_DOUBLE, MPI_SUM, comm,
                   &requests[1]);
    wait_for_all(2, requests);
    return is_right(round, out) && long_out[0] == (double)size;
}

static void print_time(int iterations) {
    MPI_Comm comm = MPI_COMM_NULL;
    int right = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const double begin = MPI_Wtime();
    for (int round = 0; round < iterations; ++round) right += overlap(round, comm);
    const double us = (MPI_Wtime() - begin) * 1e6 / iterations;
    if (rank == 0) printf("%.3f us an iteration, %d of %d right\n", us, right, iterations);
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < unknowns; ++i) vector[i] = i;
    if (argc < 2) return 2;
    if (strcmp(argv[1], "time") == 0) {
        print_time(argc > 2 ? atoi(argv[2]) : 20000);
        MPI_Finalize();
        return 0;
    }
    witness_open(argv[1], rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &second_comm);
    run("overlapped", 8 * rounds, overlap);
    run("waited for in turn", rounds, wait_in_turn);
    run("on two communicators", rounds, swap_comms);
    run("before a gather", rounds, gather_between);
    run("before a reduce", rounds, reduce_between);
    run("tested", rounds, test_only);
    run("many at once", rounds / most_started, start_many);
    run("of all lengths", rounds / 10, mix_lengths);
    MPI_Comm_free(&second_comm);
    witness_close();
    MPI_Finalize();
    return 0;
}
