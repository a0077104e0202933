/* tests/preload/started.c - a plain MPI program without threads whose long sums are blocking ones
 * first and nonblocking ones then. Knows nothing of Gradcoll. */
#include <mpi.h>

enum { COUNT = 250000 };
static float in[COUNT], out[COUNT];

int main(int argc, char** argv) {
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) {
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
