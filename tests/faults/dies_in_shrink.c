/* tests/faults/dies_in_shrink.c - a rank dies inside GC_Comm_shrink, once MPIX_Comm_shrink has
 * returned to it: AGREED_DIES=RANK:CALL, a rank of MPI_COMM_WORLD and the number of the collective
 * call of MPI, from 1 on, before which it dies. If there are not so many it says how many there
 * were. The library calls MPI by these names, which the program has, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gradcoll/gradcoll.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int dies_at; /* 0: it does not, or not yet */
static int calls;

static void begin_to_count(void) {
    const char* const wish = getenv("AGREED_DIES");
    int rank = -1, victim = -1, call = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (wish != NULL && sscanf(wish, "%d:%d", &victim, &call) == 2 && victim == rank)
        dies_at = call;
}

static void count_call(const char* name) {
    if (dies_at == 0 || ++calls != dies_at) return;
    printf("rank dies in its shrink before call %d, %s\n", calls, name);
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

/* Each of these is the MPI library's function behind a count. */
#define COUNTED(name, types, values)                                    \
    int name types {                                                    \
        static int(*real) types;                                        \
        count_call(#name);                                              \
        if (real == NULL) real = (int(*) types)dlsym(RTLD_NEXT, #name); \
        return real values;                                             \
    }

COUNTED(PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COUNTED(PMPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
        (comm, color, key, made))
COUNTED(PMPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
        (comm, type, key, info, made))
COUNTED(PMPI_Barrier, (MPI_Comm comm), (comm))
COUNTED(PMPI_Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm))
COUNTED(PMPI_Allreduce,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
COUNTED(PMPI_Allgather,
        (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
         MPI_Datatype out_type, MPI_Comm comm),
        (in, in_count, in_type, out, out_count, out_type, comm))
COUNTED(PMPIX_Comm_iagree, (MPI_Comm comm, int* flag, MPI_Request* request), (comm, flag, request))

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* made) {
    static int (*real)(MPI_Comm, MPI_Comm*);
    if (real == NULL) real = (int (*)(MPI_Comm, MPI_Comm*))dlsym(RTLD_NEXT, "PMPIX_Comm_shrink");
    const int code = real(comm, made);
    begin_to_count();
    return code;
}

int GC_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
    static int (*real)(MPI_Comm, MPI_Comm*);
    if (real == NULL) real = (int (*)(MPI_Comm, MPI_Comm*))dlsym(RTLD_NEXT, "GC_Comm_shrink");
    const int code = real(comm, newcomm);
    if (dies_at > 0) printf("rank makes %d calls in its shrink\n", calls);
    fflush(stdout);
    dies_at = 0;
    return code;
}
