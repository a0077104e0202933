/* shim/calls.c - one or more of every call that is intercepted, with checked results. calls.F90 is
 * the same in Fortran, so that all styles have the same counts. */
#include <mpi.h>
#include <stdio.h>
#ifdef INIT_IS_EXTENSION
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

enum { SMALL = 4, LARGE = 1000, MOST_RANKS = 64 };

static int rank, size, wrong;
static double send[LARGE * MOST_RANKS], sum[LARGE * MOST_RANKS];

static void fill(double* values, int count) {
    for (int i = 0; i < count; ++i) values[i] = (rank + 1.0) * (i + 1.0);
}

static double ranks_sum(void) {
    return size * (size + 1) / 2.0;
}

/* values[i] must be (offset + i + 1) times the sum of 1..size. */
static void check(const char* what, const double* values, int offset, int count) {
    for (int i = 0; i < count; ++i) {
        if (values[i] == (offset + i + 1.0) * ranks_sum()) continue;
        printf("%s: rank %d has %g at %d\n", what, rank, values[i], i);
        ++wrong;
        return;
    }
}

static void allreduce(void) {
    MPI_Request request;
    fill(send, LARGE);
    MPI_Allreduce(send, sum, SMALL, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check("allreduce", sum, 0, SMALL);
    fill(sum, LARGE);
    MPI_Allreduce(MPI_IN_PLACE, sum, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check("allreduce in place", sum, 0, LARGE);
    MPI_Iallreduce(send, sum, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("iallreduce", sum, 0, LARGE);
}

static void phases(void) {
    int counts[MOST_RANKS];
    fill(send, LARGE * size);
    for (int i = 0; i < size; ++i) counts[i] = LARGE;
    MPI_Reduce_scatter_block(send, sum, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check("reduce_scatter_block", sum, rank * LARGE, LARGE);
    MPI_Reduce_scatter(send, sum, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check("reduce_scatter", sum, rank * LARGE, LARGE);
    MPI_Allgather(sum, LARGE, MPI_DOUBLE, send, LARGE, MPI_DOUBLE, MPI_COMM_WORLD);
    check("allgather", send, 0, LARGE * size);
    for (int i = 0; i < LARGE; ++i) send[i] = -1;
    for (int i = 0; i < LARGE; ++i) send[rank * LARGE + i] = sum[i];
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, send, LARGE, MPI_DOUBLE, MPI_COMM_WORLD);
    check("allgather in place", send, 0, LARGE * size);
    MPI_Allgather(MPI_BOTTOM, 0, MPI_DOUBLE, MPI_BOTTOM, 0, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void rooted(void) {
    const int last = size - 1;
    for (int i = 0; i < LARGE; ++i) send[i] = rank == last ? (i + 1) * ranks_sum() : -1;
    MPI_Bcast(send, LARGE, MPI_DOUBLE, last, MPI_COMM_WORLD);
    check("bcast", send, 0, LARGE);
    fill(send, LARGE);
    MPI_Reduce(send, sum, LARGE, MPI_DOUBLE, MPI_SUM, last, MPI_COMM_WORLD);
    if (rank == last) check("reduce", sum, 0, LARGE);
    fill(sum, LARGE);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : sum, sum, LARGE, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) check("reduce in place", sum, 0, LARGE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(void) {
    MPI_Request request;
    MPI_Allreduce_init(send, sum, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    for (int step = 0; step < 3; ++step) {
        fill(send, LARGE);
        if (step < 2) {
            MPI_Start(&request);
        } else {
            MPI_Startall(1, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check("persistent", sum, 0, LARGE);
    }
    MPI_Request_free(&request);
}

/* A message to this rank itself; -1 until it is there. */
static int got;
static void message(MPI_Request requests[2]) {
    static const int sent = 42;
    got = -1;
    MPI_Irecv(&got, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[1]);
}

static void check_message(const char* what, const MPI_Request requests[2]) {
    if (got == 42 && requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL) return;
    printf("%s: rank %d has %d\n", what, rank, got);
    ++wrong;
}

static void waits(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index = -1, done = 0, indices[2];
    message(requests);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check_message("wait", requests);
    if (statuses[0].MPI_SOURCE != rank || statuses[0].MPI_TAG != 7) ++wrong;
    message(requests);
    MPI_Waitall(2, requests, statuses);
    check_message("waitall", requests);
    if (statuses[0].MPI_SOURCE != rank) ++wrong;
    message(requests);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    check_message("waitany", requests);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    if (index != MPI_UNDEFINED) ++wrong;
    message(requests);
    for (int sum = 0; sum < 2; sum += done) MPI_Waitsome(2, requests, &done, indices, statuses);
    check_message("waitsome", requests);
    MPI_Waitsome(2, requests, &done, indices, statuses);
    if (done != MPI_UNDEFINED) ++wrong;
}

static void tests(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index = -1, done = 0, indices[2];
    message(requests);
    while (!done) MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i)
        for (done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    check_message("test", requests);
    message(requests);
    for (done = 0; !done;) MPI_Testall(2, requests, &done, statuses);
    check_message("testall", requests);
    message(requests);
    for (int i = 0; i < 2; ++i)
        for (done = 0; !done;) MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
    check_message("testany", requests);
    message(requests);
    for (int sum = 0; sum < 2; sum += done) MPI_Testsome(2, requests, &done, indices, statuses);
    check_message("testsome", requests);
}

/* Looks for a message to this rank itself, and for the end of its own access to its window (one
 * rank alone has none in Open MPI 4). */
static void looks(void) {
    static const int sent = 43;
    MPI_Request request;
    MPI_Message taken;
    MPI_Status status;
    MPI_Win window;
    MPI_Group all, self;
    int found = 0, value = -1;
    MPI_Isend(&sent, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &request);
    while (!found) MPI_Iprobe(rank, 8, MPI_COMM_WORLD, &found, &status);
    if (status.MPI_SOURCE != rank || status.MPI_TAG != 8) ++wrong;
    for (found = 0; !found;) MPI_Improbe(rank, 8, MPI_COMM_WORLD, &found, &taken, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &taken, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (value != 43 || status.MPI_TAG != 8) ++wrong;
    if (size == 1) return;
    /* Open MPI 4.1.4 makes no windows between hosts over TCP. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int made =
        MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (made != MPI_SUCCESS) return;
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &rank, &self);
    MPI_Win_post(self, 0, window);
    MPI_Win_start(self, 0, window);
    MPI_Win_complete(window);
    for (found = 0; !found;) MPI_Win_test(window, &found);
    MPI_Group_free(&self);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

static void settings(void) {
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", "2:4");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_set_info(comm, info);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, info, 0, &comm);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   info, 0, &comm);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Pcontrol(1);
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    allreduce();
    phases();
    rooted();
    persistent();
    waits();
    tests();
    looks();
    settings();
    if (rank == 0 && wrong == 0) printf("calls: right\n");
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
