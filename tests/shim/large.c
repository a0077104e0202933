/* shim/large.c - the large-count forms of MPI 4, with checked results, and its communicators. */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 10, MOST_RANKS = 64 };

static int rank, size, wrong;
static int send[COUNT * MOST_RANKS], got[COUNT * MOST_RANKS];

static void check(const char* what, int expected, int count) {
    for (int i = 0; i < count; ++i) {
        if (got[i] == expected) continue;
        printf("%s: rank %d has %d at %d\n", what, rank, got[i], i);
        ++wrong;
        return;
    }
    for (int i = 0; i < COUNT * MOST_RANKS; ++i) got[i] = -1;
}

/* Communicators that MPI 4 makes with info. */
static void make_comms(void) {
    MPI_Info info;
    MPI_Comm comm;
    MPI_Group group;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", "2:4");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_from_group(group, "gradcoll.large", info, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    MPI_Count counts[MOST_RANKS];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT * MOST_RANKS; ++i) send[i] = 1;
    for (int i = 0; i < size; ++i) counts[i] = COUNT;

    MPI_Allreduce_c(send, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("allreduce", size, COUNT);
    MPI_Iallreduce_c(send, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("iallreduce", size, COUNT);
    MPI_Reduce_scatter_block_c(send, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("reduce_scatter_block", size, COUNT);
    MPI_Reduce_scatter_c(send, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("reduce_scatter", size, COUNT);
    MPI_Allgather_c(send, COUNT, MPI_INT, got, COUNT, MPI_INT, MPI_COMM_WORLD);
    check("allgather", 1, COUNT * size);
    MPI_Reduce_c(send, got, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) check("reduce", size, COUNT);
    for (int i = 0; i < COUNT; ++i) got[i] = rank == 0 ? 7 : 0;
    MPI_Bcast_c(got, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    check("bcast", 7, COUNT);
    MPI_Allreduce_init_c(send, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("persistent", size, COUNT);
    MPI_Request_free(&request);
    make_comms();

    MPI_Finalize();
    if (rank == 0 && wrong == 0) printf("large: right\n");
    return wrong != 0;
}
