/* shim/again.c - a tool that calls MPI from inside its wrappers, as many do. In MPI_Allreduce it
 * first sums a number of its own by MPI_Allreduce; mpi_allreduce_ becomes the C call. Stands below
 * the interposer, so that all these calls go through it once more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

/* Whatever stands first in the process; the compiler takes a plain call of a function by itself for
 * its own. */
static Allreduce* volatile public_allreduce = MPI_Allreduce;

static _Thread_local int depth;
static int own_calls;

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
    Allreduce* const next = (Allreduce*)dlsym(RTLD_NEXT, "MPI_Allreduce");
    if (depth++ == 0) {
        int one = 1, calls = 0, size = 0;
        public_allreduce(&one, &calls, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_size(comm, &size);
        if (calls != size) abort();
        ++own_calls;
    }
    --depth;
    return next(sendbuf, recvbuf, count, datatype, op, comm);
}

#if defined(OPEN_MPI)
extern int mpi_fortran_in_place_;

void mpi_allreduce_(const void* sendbuf, void* recvbuf, const int* count, const int* datatype,
                    const int* op, const int* comm, int* ierror) {
    if (sendbuf == &mpi_fortran_in_place_) sendbuf = MPI_IN_PLACE;
    *ierror = public_allreduce(sendbuf, recvbuf, *count, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op),
                               MPI_Comm_f2c(*comm));
}
#endif

static void report(void) __attribute__((destructor));
static void report(void) {
    const char* const rank = getenv("OMPI_COMM_WORLD_RANK");
    const char* const mpich_rank = getenv("PMI_RANK");
    const char* const first = rank != NULL ? rank : mpich_rank;
    if (first != NULL && atoi(first) == 0) printf("again: %d\n", own_calls);
    fflush(stdout);
}
