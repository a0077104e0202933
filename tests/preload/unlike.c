/* tests/preload/unlike.c - a plain MPI program with calls of all kinds and lengths, from the first
 * one on; each rank that gets to the end says how many results were right. Knows nothing of
 * Gradcoll: that ranks have it with different settings, or lack it, is for who starts it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { longest = 250000, most_ranks = 8 };
static float in[longest], out[longest];
static int rank, ranks, right, wrong;

static void look(const char* call, int count, float expected) {
    int is_right = 1;
    for (int i = 0; i < count; ++i) is_right = is_right && out[i] == expected;
    ++*(is_right ? &right : &wrong);
    if (!is_right && wrong < 5) printf("unlike: rank %d: %s of %d is wrong\n", rank, call, count);
}

static void allreduce(MPI_Comm comm, int count) {
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    look("allreduce", count, (float)(ranks * (ranks + 1) / 2));
}

static void reduce_scatter(MPI_Comm comm, int count) {
    MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    look("reduce_scatter_block", count, (float)(ranks * (ranks + 1) / 2));
}

static void allgather(MPI_Comm comm, int count) {
    MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
    look("allgather", count, 1);
}

static void bcast(MPI_Comm comm, int count) {
    memcpy(out, in, (size_t)count * sizeof *out);
    MPI_Bcast(out, count, MPI_FLOAT, 0, comm);
    look("bcast", count, 1);
}

static void all_kinds(MPI_Comm comm) {
    for (int i = 0; i < longest; ++i) in[i] = (float)(rank + 1);
    for (int repeats = 0; repeats < 5; ++repeats) {
        for (int i = 0; i < 30; ++i) allreduce(comm, 1 + i % 3);
        for (int i = 0; i < 5; ++i) allreduce(comm, 30000);
        for (int i = 0; i < 3; ++i) allreduce(comm, longest);
        for (int i = 0; i < 3; ++i) reduce_scatter(comm, longest / most_ranks);
        for (int i = 0; i < 3; ++i) allgather(comm, longest / most_ranks);
        for (int i = 0; i < 30; ++i) MPI_Barrier(comm), bcast(comm, 10);
    }
}

int main(int argc, char** argv) {
    MPI_Comm twin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_info(twin, MPI_INFO_ENV);
    all_kinds(MPI_COMM_WORLD);
    all_kinds(twin);
    MPI_Comm_free(&twin);
    printf("unlike: rank %d: %d right, %d wrong\n", rank, right, wrong);
    MPI_Finalize();
    return wrong != 0;
}
