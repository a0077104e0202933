/* tests/preload/no_thread.c - a program whose last rank may have no thread more than it has: what
 * is started there ends all the same, on every rank.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define ALLREDUCE_INIT MPIX_Allreduce_init
#else
#define ALLREDUCE_INIT MPI_Allreduce_init
#endif

enum { longest = 100000, calls = 3 };
static float in[longest], out[longest];
static int ranks, failures, refused, may_have_none;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
    typedef int create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    if (may_have_none) return ++refused, EAGAIN;
    return ((create*)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, argument);
}

static void complete(MPI_Request* request, int code) {
    if (code == MPI_SUCCESS) code = MPI_Wait(request, MPI_STATUS_IGNORE);
    failures += code != MPI_SUCCESS || out[0] != (float)ranks || out[longest - 1] != (float)ranks;
    for (int i = 0; i < longest; ++i) out[i] = -1;
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE, rank = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    alarm(60); /* a call that hangs is a failure */
    for (int i = 0; i < longest; ++i) in[i] = 1;
    MPI_Allreduce(in, out, longest, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    may_have_none = rank == ranks - 1;
    for (int number = 0; number < calls; ++number)
        complete(&request,
                 MPI_Iallreduce(in, out, longest, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request));
    const int code = ALLREDUCE_INIT(in, out, longest, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                                    MPI_INFO_NULL, &request);
    failures += code != MPI_SUCCESS;
    for (int number = 0; number < calls && code == MPI_SUCCESS; ++number)
        complete(&request, MPI_Start(&request));
    if (code == MPI_SUCCESS) MPI_Request_free(&request);
    /* A thread was wanted, or this looks at nothing. */
    if (may_have_none && refused == 0) ++failures;
    MPI_Finalize();
    if (failures != 0)
        printf("rank %d: %d failures, %d threads refused\n", rank, failures, refused);
    return failures != 0;
}
