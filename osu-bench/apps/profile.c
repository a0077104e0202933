/* osu-bench/apps/profile.c - how long a program is in its blocking collectives. Preloaded before
 * the interposer, or alone; C names and the Fortran names of Open MPI. In MPI_Finalize rank 0
 * writes a line to stderr for each kind: `PROFILE kind calls milliseconds`, summed over ranks.
 *
 * PROFILE_WAITING=apart in the environment: a barrier of plain MPI goes before each of them, and
 * what it takes is told as kind `waiting`: ranks that are late. What is left is the calls' own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X gets kind, C name, Fortran name without its ending, parameters and arguments of both. */
#define KINDS(X)                                                                                 \
    X(MPI_Allreduce, mpi_allreduce,                                                              \
      (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c), \
      (void* s, void* r, int* n, int* t, int* o, int* c, int* e), (s, r, n, t, o, c, e))         \
    X(MPI_Reduce, mpi_reduce,                                                                    \
      (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),           \
      (s, r, n, t, o, root, c),                                                                  \
      (void* s, void* r, int* n, int* t, int* o, int* root, int* c, int* e),                     \
      (s, r, n, t, o, root, c, e))                                                               \
    X(MPI_Bcast, mpi_bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c),              \
      (b, n, t, root, c), (void* b, int* n, int* t, int* root, int* c, int* e),                  \
      (b, n, t, root, c, e))                                                                     \
    X(MPI_Barrier, mpi_barrier, (MPI_Comm c), (c), (int* c, int* e), (c, e))                     \
    X(MPI_Allgather, mpi_allgather,                                                              \
      (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c),        \
      (s, n, t, r, m, u, c), (void* s, int* n, int* t, void* r, int* m, int* u, int* c, int* e), \
      (s, n, t, r, m, u, c, e))                                                                  \
    X(MPI_Reduce_scatter_block, mpi_reduce_scatter_block,                                        \
      (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c), \
      (void* s, void* r, int* n, int* t, int* o, int* c, int* e), (s, r, n, t, o, c, e))

typedef struct {
    long calls;
    double seconds;
} Sum;

#define X_INDEX(name, ...) INDEX_##name,
enum { KINDS(X_INDEX) INDEX_waiting, KIND_COUNT };
static const char* const names[] = {
#define X_NAME(name, ...) #name,
    KINDS(X_NAME) "waiting"};
static Sum sums[KIND_COUNT];

static void* next(const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "profile: no %s behind this one\n", name);
        abort();
    }
    return found;
}

static void count(int kind, double begin) {
    ++sums[kind].calls;
    sums[kind].seconds += PMPI_Wtime() - begin;
}

static void wait_for_late_ranks(MPI_Comm comm) {
    static int apart = -1;
    if (apart < 0) {
        const char* const wanted = getenv("PROFILE_WAITING");
        apart = wanted != NULL && strcmp(wanted, "apart") == 0;
    }
    if (!apart) return;
    const double begin = PMPI_Wtime();
    PMPI_Barrier(comm);
    count(INDEX_waiting, begin);
}

#define TIMED(kind, comm, call)        \
    wait_for_late_ranks(comm);         \
    const double begin = PMPI_Wtime(); \
    call;                              \
    count(kind, begin)

#define X_C(name, lower, PARAMETERS, ARGUMENTS, F_PARAMETERS, F_ARGUMENTS) \
    int name PARAMETERS {                                                  \
        static int(*real) PARAMETERS;                                      \
        int code;                                                          \
        if (real == NULL) *(void**)&real = next(#name);                    \
        TIMED(INDEX_##name, c, code = real ARGUMENTS);                     \
        return code;                                                       \
    }
KINDS(X_C)

#define FORTRAN(name, spelling, F_PARAMETERS, F_ARGUMENTS)        \
    void spelling F_PARAMETERS {                                  \
        static void(*real) F_PARAMETERS;                          \
        if (real == NULL) *(void**)&real = next(#spelling);       \
        TIMED(INDEX_##name, PMPI_Comm_f2c(*c), real F_ARGUMENTS); \
    }
#define X_FORTRAN(name, lower, PARAMETERS, ARGUMENTS, F_PARAMETERS, F_ARGUMENTS) \
    FORTRAN(name, lower##_, F_PARAMETERS, F_ARGUMENTS)                           \
    FORTRAN(name, lower##_f08_, F_PARAMETERS, F_ARGUMENTS)
KINDS(X_FORTRAN)

static void report(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        double mine[2] = {(double)sums[kind].calls, sums[kind].seconds}, all[2];
        PMPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0 && all[0] > 0)
            fprintf(stderr, "PROFILE %s %.0f %.4f\n", names[kind], all[0], all[1] * 1e3);
    }
}

int MPI_Finalize(void) {
    int (*real)(void);
    *(void**)&real = next("MPI_Finalize");
    report();
    return real();
}

void mpi_finalize_(int* error) {
    void (*real)(int*);
    *(void**)&real = next("mpi_finalize_");
    report();
    real(error);
}

void mpi_finalize_f08_(int* error) {
    void (*real)(int*);
    *(void**)&real = next("mpi_finalize_f08_");
    report();
    real(error);
}
