/* shim/jumps.c - an error handler that jumps out of MPI; the calls after it are calls like any
 * other. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void jump(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

int main(int argc, char** argv) {
    static int one = 1, sum;
    static int size, rank;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(back) == 0) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
        printf("the error handler was not called\n");
        return 1;
    }
    for (int call = 0; call < 10; ++call) {
        sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size) return 1;
    }
    MPI_Finalize();
    if (rank == 0) printf("jumps: right\n");
    return 0;
}
