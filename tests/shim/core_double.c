/* shim/core_double.c - a libgradcoll.so that knows nothing but to count what it is offered. It
 * serves through PMPI_ functions, so that results are right only if handles, buffers and requests
 * arrived as they should.
 *
 * CORE_DOUBLE=serve | leave | refuse   what it does with offers; refuse: GC_Interposer_connect
 * gives NULL CORE_DOUBLE_LEAST=n                  the gate for all kinds but start
 *
 * At exit the first rank writes one line "core: ..." to stdout. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !GC_MPI_HAS_ALLREDUCE_INIT
#include <mpi-ext.h>
#define PMPI_Allreduce_init PMPIX_Allreduce_init
#endif

#include "base/interposer_table.h"
#include "support/fortran_numbers.h"

static atomic_int connects, allreduces, iallreduces, inits, blocks, scatters, gathers;
static atomic_int barriers, bcasts, reduces;
static atomic_int went_on, starts, frees, infos, dups, pcontrols, in_place, bottom;
static int serves;
static int is_first;

static void saw_buffers(const void* sendbuf, const void* recvbuf) {
    if (sendbuf == MPI_IN_PLACE) ++in_place;
    if (sendbuf == MPI_BOTTOM && recvbuf == MPI_BOTTOM) ++bottom;
}

#define AS_MPI(call) \
    call->sendbuf, call->recvbuf, (int)call->count, (MPI_Datatype)call->datatype, (MPI_Op)call->op
#define COMM(call) (MPI_Comm)(call)->comm

static int allreduce(const GC_Call* call, int* code) {
    ++allreduces;
    saw_buffers(call->sendbuf, call->recvbuf);
    if (serves) *code = PMPI_Allreduce(AS_MPI(call), COMM(call));
    return serves;
}

/* While it serves there is always something under way: a wait then asks MPI until MPI is done. */
static int go_on(void) {
    went_on = 1;
    return serves;
}

static int iallreduce(const GC_Call* call, int* code) {
    ++iallreduces;
    saw_buffers(call->sendbuf, call->recvbuf);
    if (serves) *code = PMPI_Iallreduce(AS_MPI(call), COMM(call), call->request);
    return serves;
}

static int allreduce_init(const GC_Call* call, int* code) {
    ++inits;
    saw_buffers(call->sendbuf, call->recvbuf);
    if (serves)
        *code = PMPI_Allreduce_init(AS_MPI(call), COMM(call), (MPI_Info)call->info, call->request);
    return serves;
}

static int reduce_scatter_block(const GC_Call* call, int* code) {
    ++blocks;
    if (serves) *code = PMPI_Reduce_scatter_block(AS_MPI(call), COMM(call));
    return serves;
}

static int reduce_scatter(const GC_Call* call, int* code) {
    int size = 0;
    int counts[64];
    ++scatters;
    PMPI_Comm_size(COMM(call), &size);
    for (int i = 0; i < size; ++i) {
        counts[i] = call->count_bytes == sizeof(int) ? ((const int*)call->recvcounts)[i]
                                                     : (int)((const int64_t*)call->recvcounts)[i];
    }
    if (serves) {
        *code = PMPI_Reduce_scatter(call->sendbuf, call->recvbuf, counts,
                                    (MPI_Datatype)call->datatype, (MPI_Op)call->op, COMM(call));
    }
    return serves;
}

static int allgather(const GC_Call* call, int* code) {
    ++gathers;
    saw_buffers(call->sendbuf, call->recvbuf);
    if (serves) {
        *code = PMPI_Allgather(call->sendbuf, (int)call->sendcount, (MPI_Datatype)call->sendtype,
                               call->recvbuf, (int)call->count, (MPI_Datatype)call->datatype,
                               COMM(call));
    }
    return serves;
}

static int barrier(const GC_Call* call, int* code) {
    ++barriers;
    if (serves) *code = PMPI_Barrier(COMM(call));
    return serves;
}

static int bcast(const GC_Call* call, int* code) {
    ++bcasts;
    if (serves) {
        *code = PMPI_Bcast(call->recvbuf, (int)call->count, (MPI_Datatype)call->datatype,
                           call->root, COMM(call));
    }
    return serves;
}

static int reduce(const GC_Call* call, int* code) {
    ++reduces;
    saw_buffers(call->sendbuf, call->recvbuf);
    if (serves) *code = PMPI_Reduce(AS_MPI(call), call->root, COMM(call));
    return serves;
}

static void started(int count, const void* requests) {
    for (int i = 0; i < count; ++i) starts += ((const MPI_Request*)requests)[i] != MPI_REQUEST_NULL;
}

static void freeing(const void* request) {
    frees += *(const MPI_Request*)request != MPI_REQUEST_NULL;
}

static void info_was_set(GC_Mpi_handle comm, GC_Mpi_handle info) {
    char value[16];
    int size = 0, found = 0;
    if (PMPI_Comm_size((MPI_Comm)comm, &size) != MPI_SUCCESS || size < 1) return;
    PMPI_Info_get((MPI_Info)info, "gc_codec", 15, value, &found);
    infos += found && strcmp(value, "2:4") == 0;
}

static void dup_begins(GC_Mpi_handle comm, GC_Mpi_handle info) {
    info_was_set(comm, info);
}

static void dup_has_begun(GC_Mpi_handle comm) {
    int size = 0;
    if (PMPI_Comm_size((MPI_Comm)comm, &size) == MPI_SUCCESS) dups += size > 0;
}

static void pcontrol(int level) {
    pcontrols += level;
}

static GC_Mpi_handle comm_of_fortran(int handle) {
    return (GC_Mpi_handle)OF_NUMBER(Comm, handle);
}
static GC_Mpi_handle datatype_of_fortran(int handle) {
    return (GC_Mpi_handle)OF_NUMBER(Type, handle);
}
static GC_Mpi_handle op_of_fortran(int handle) {
    return (GC_Mpi_handle)OF_NUMBER(Op, handle);
}
static GC_Mpi_handle info_of_fortran(int handle) {
    return (GC_Mpi_handle)OF_NUMBER(Info, handle);
}
static GC_Mpi_handle request_of_fortran(int handle) {
    return (GC_Mpi_handle)OF_NUMBER(Request, handle);
}
static int request_to_fortran(const void* request) {
    return NUMBER_OF(Request, *(const MPI_Request*)request);
}

static void report(void) {
    if (!is_first) return;
    printf(
        "core: connect=%d allreduce=%d iallreduce=%d allreduce_init=%d reduce_scatter_block=%d "
        "reduce_scatter=%d allgather=%d barrier=%d bcast=%d reduce=%d started=%d freeing=%d "
        "info=%d dup=%d "
        "pcontrol=%d in_place=%d bottom=%d go_on=%d\n",
        connects, allreduces, iallreduces, inits, blocks, scatters, gathers, barriers, bcasts,
        reduces, starts, frees, infos, dups, pcontrols, in_place, bottom, went_on);
}

const GC_Interposer_table* GC_Interposer_connect(unsigned version, GC_Gate* gate) {
    static const GC_Interposer_table table = {
        {[GC_CALL_ALLREDUCE] = allreduce,
         [GC_CALL_IALLREDUCE] = iallreduce,
         [GC_CALL_ALLREDUCE_INIT] = allreduce_init,
         [GC_CALL_REDUCE_SCATTER_BLOCK] = reduce_scatter_block,
         [GC_CALL_REDUCE_SCATTER] = reduce_scatter,
         [GC_CALL_ALLGATHER] = allgather,
         [GC_CALL_BARRIER] = barrier,
         [GC_CALL_BCAST] = bcast,
         [GC_CALL_REDUCE] = reduce},
        started,
        freeing,
        go_on,
        info_was_set,
        dup_begins,
        dup_has_begun,
        pcontrol,
        comm_of_fortran,
        datatype_of_fortran,
        op_of_fortran,
        info_of_fortran,
        request_of_fortran,
        request_to_fortran,
    };
    const char* const mode = getenv("CORE_DOUBLE");
    const char* const least = getenv("CORE_DOUBLE_LEAST");
    int rank = 0, initialized = 0;
    ++connects;
    PMPI_Initialized(&initialized);
    if (initialized) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_first = rank == 0;
    if (version != GC_INTERPOSER_VERSION || mode == NULL || strcmp(mode, "refuse") == 0)
        return NULL;
    serves = strcmp(mode, "serve") == 0;
    for (int kind = 0; kind < GC_CALL_COMPLETE && least != NULL; ++kind) {
        if (kind != GC_CALL_START) gate->least_count[kind] = atoll(least);
    }
    atexit(report);
    return &table;
}
