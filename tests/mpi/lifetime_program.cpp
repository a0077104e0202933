// usage: lifetime_program [calls]: makes communicators, calls every family on them, frees them,
// again and again; for leak checkers. Some communicators, requests and residuals end before their
// communicator, and MPI_COMM_WORLD's state ends in MPI_Finalize.
#include <gradcoll.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int failures = 0;

void expect(bool ok, const char* what) {
    if (ok) return;
    ++failures;
    std::fprintf(stderr, "lifetime_program: %s failed\n", what);
}

void use(MPI_Comm comm, int calls) {
    std::vector<float> values(600, 1.0F);
    expect(GC_Comm_set_option(comm, "gc_tree_min_bytes", "0") == MPI_SUCCESS, "set_option");
    expect(GC_Comm_set_option(comm, "gc_compress_bytes", "0") == MPI_SUCCESS, "set_option");
    for (int call = 0; call < calls; ++call) {
        const int count = 100 + call % 90;  // more shapes than the cache holds
        expect(GC_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_MAX, comm) ==
                   MPI_SUCCESS,
               "allreduce");
    }
    int error_class = MPI_SUCCESS;
    MPI_Error_class(GC_Allreduce(MPI_IN_PLACE, values.data(), -1, MPI_FLOAT, MPI_MAX, comm),
                    &error_class);
    expect(error_class == MPI_ERR_COUNT, "the check");
}

void use_handles(MPI_Comm comm) {
    std::vector<float> values(600, 1.0F);
    GC_Request request = GC_REQUEST_NULL;
    GC_Residual residual = GC_RESIDUAL_NULL;
    expect(GC_Comm_set_codec(comm, "2:4") == MPI_SUCCESS, "set_codec");
    expect(GC_Allreduce_init(MPI_IN_PLACE, values.data(), 600, MPI_FLOAT, MPI_SUM, comm,
                             MPI_INFO_NULL, &request) == MPI_SUCCESS,
           "init");
    expect(GC_Residual_create(comm, 600, MPI_FLOAT, &residual) == MPI_SUCCESS, "residual");
    expect(GC_Start(&request) == MPI_SUCCESS, "start");
    expect(GC_Request_free(&request) == MPI_SUCCESS, "request free");
    expect(GC_Allreduce_residual(MPI_IN_PLACE, values.data(), 600, MPI_FLOAT, MPI_SUM, comm,
                                 residual) == MPI_SUCCESS,
           "allreduce with residual");
    MPI_Request started = MPI_REQUEST_NULL;
    expect(GC_Iallreduce(MPI_IN_PLACE, values.data(), 600, MPI_FLOAT, MPI_SUM, comm, &started) ==
                   MPI_SUCCESS &&
               MPI_Wait(&started, MPI_STATUS_IGNORE) == MPI_SUCCESS,
           "iallreduce");
    expect(GC_Residual_free(&residual) == MPI_SUCCESS, "residual free");
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // GC_Iallreduce on the tree
    const int calls = argc > 1 ? std::atoi(argv[1]) : 10000;
    constexpr int calls_each = 100;
    for (int done = 0; done < calls; done += calls_each) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        use(comm, calls_each);
        use_handles(comm);
        MPI_Comm_free(&comm);
    }
    std::vector<double> values(20000, 1.0);
    expect(GC_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) ==
               MPI_SUCCESS,
           "world");
    expect(GC_Type_float16() != MPI_DATATYPE_NULL, "float16");
    MPI_Finalize();
    expect(GC_Type_float16() == MPI_DATATYPE_NULL, "float16 after MPI_Finalize");
    return failures == 0 ? 0 : 1;
}
