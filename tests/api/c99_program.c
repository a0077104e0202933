/* The public header in strict C99: one call of each family. */
#include <gradcoll.h>
#include <stdio.h>

static int check(int ok, const char* what) {
    if (!ok) fprintf(stderr, "c99_program: %s failed\n", what);
    return ok ? 0 : 1;
}

int main(int argc, char** argv) {
    int major = -1, ranks = 0, failed = 0;
    double values[64];
    GC_Stats stats;
    GC_Request request = GC_REQUEST_NULL;
    char text[GC_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 64; ++i) values[i] = 1.0;

    GC_Get_version(&major, NULL, NULL);
    failed += check(major == GC_VERSION_MAJOR, "GC_Get_version");
    failed += check(GC_Comm_set_option(MPI_COMM_WORLD, "gc_tree_min_bytes", "0") == MPI_SUCCESS,
                    "GC_Comm_set_option");
    GC_Allreduce(MPI_IN_PLACE, values, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    failed += check(values[63] == (double)ranks, "GC_Allreduce");
    GC_Allreduce_init(MPI_IN_PLACE, values, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &request);
    GC_Start(&request);
    GC_Wait(&request);
    failed += check(values[0] == (double)ranks * ranks, "GC_Wait");
    GC_Request_free(&request);
    failed +=
        check(GC_Comm_get_stats(MPI_COMM_WORLD, &stats) == MPI_SUCCESS && stats.calls_tree == 2,
              "GC_Comm_get_stats");
    failed += check(GC_Error_string(MPI_ERR_COMM, text, NULL) == MPI_SUCCESS, "GC_Error_string");

    MPI_Finalize();
    return failed;
}
