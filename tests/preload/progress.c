/* tests/preload/progress.c - what a rank gave the MPI library before a call that orders the ranks
 * another finds at its first look after it: windows, messages. (Under plain Open MPI always; plain
 * MPICH 5.0.2 misses them from a communicator's fifth barrier on.) */
#include <mpi.h>
#include <stdio.h>

enum { rounds = 100, calls = 6 };
static int rank, size;
static const char* const names[] = {"barrier",   "allreduce",  "reduce_scatter_block",
                                    "allgather", "iallreduce", "allreduce after a look"};

static void meet(int call) {
    static int in[64], out[64];
    if (call == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (call == 1) MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (call == 2) MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (call == 3) MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    if (call == 4) {
        MPI_Request request;
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (call == 5) {
        int found = 0;
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
}

/* Rank 0 completes its access to the windows of all others. */
static int missed_windows(int call, MPI_Win window, MPI_Group others, MPI_Group first) {
    int missed = 0, found = 0;
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0) {
            MPI_Win_start(others, 0, window);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_complete(window);
            meet(call);
        } else {
            MPI_Win_post(first, 0, window);
            MPI_Barrier(MPI_COMM_WORLD);
            meet(call);
            found = 0;
            MPI_Win_test(window, &found);
            missed += !found;
            if (!found) MPI_Win_wait(window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return missed;
}

static int missed_messages(int call, int probes) {
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int missed = 0, found = 0, value = 0;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        if (!probes) MPI_Irecv(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&round, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        meet(call);
        found = 0;
        if (probes)
            MPI_Iprobe(last, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        else
            MPI_Test(&request, &found, MPI_STATUS_IGNORE);
        missed += !found;
        if (probes)
            MPI_Recv(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (!found)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        missed += value != round;
    }
    return missed;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int root[] = {0};
    char memory[64];
    MPI_Win window;
    MPI_Group all, others, first;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_group(window, &all);
    MPI_Group_excl(all, 1, root, &others);
    MPI_Group_incl(all, 1, root, &first);
    int missed = 0;
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < 200; ++i) meet(call); /* from now on served */
        const int windows = missed_windows(call, window, others, first);
        const int tests = missed_messages(call, 0), probes = missed_messages(call, 1);
        printf("rank %d, %s: %d windows, %d messages by test, %d by probe missed\n", rank,
               names[call], windows, tests, probes);
        missed += windows + tests + probes;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&others);
    MPI_Group_free(&first);
    MPI_Win_free(&window);
    MPI_Finalize();
    return missed != 0;
}
