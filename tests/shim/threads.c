/* shim/threads.c - the first calls of a program, made by several threads at once. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, CALLS = 200 };

static pthread_barrier_t together;
static int wrong;

static void* sums(void* argument) {
    MPI_Comm comm = *(MPI_Comm*)argument;
    int size;
    MPI_Comm_size(comm, &size);
    pthread_barrier_wait(&together);
    for (int call = 0; call < CALLS; ++call) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != size) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) {
        printf("no MPI_THREAD_MULTIPLE here\n");
        MPI_Finalize();
        return 1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, sums, &comms[i]);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    if (rank == 0 && wrong == 0) printf("threads: right\n");
    return wrong != 0;
}
