/* shim/counter.c - a tool as others write them: counts calls, goes on to the next library by
 * RTLD_NEXT, and says at exit what it saw. Shares nothing with the interposer. Built once to stand
 * above it and once below.
 *
 * Every wrapper forwards eleven words, more than it may have got: enough for all, and harmless. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS                                                                           \
    intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g, \
        intptr_t h, intptr_t i, intptr_t j, intptr_t k

#define COUNT_NAME(name, family)                                      \
    int name(WORDS) {                                                 \
        int (*next)(WORDS) = (int (*)(WORDS))dlsym(RTLD_NEXT, #name); \
        ++family##_seen;                                              \
        return next(a, b, c, d, e, f, g, h, i, j, k);                 \
    }
/* MPICH's Fortran bindings call the C names, but some of mpi_f08 do not: those are counted by their
 * own names. */
#ifdef COUNT_FORTRAN_NAMES
#define COUNT_FORTRAN COUNT_NAME
#else
#define COUNT_FORTRAN(name, family)
#endif

#define COUNT(Name, family)        \
    static int family##_seen;      \
    COUNT_NAME(MPI_##Name, family) \
    COUNT_FORTRAN(mpi_##family##_, family)
#define COUNT_COLLECTIVE(Name, family) \
    COUNT(Name, family)                \
    COUNT_FORTRAN(mpi_##family##_f08_, family)
#define COUNT_LOCAL(Name, family) \
    COUNT(Name, family)           \
    COUNT_NAME(mpi_##family##_f08_, family)

COUNT_COLLECTIVE(Allreduce, allreduce)
COUNT_COLLECTIVE(Iallreduce, iallreduce)
COUNT_COLLECTIVE(Allreduce_init, allreduce_init)
COUNT_NAME(MPIX_Allreduce_init, allreduce_init)
COUNT_FORTRAN(mpix_allreduce_init_, allreduce_init)
COUNT_FORTRAN(mpix_allreduce_init_f08_, allreduce_init)
COUNT_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block)
COUNT_COLLECTIVE(Reduce_scatter, reduce_scatter)
COUNT_COLLECTIVE(Allgather, allgather)
COUNT_LOCAL(Barrier, barrier)
COUNT_COLLECTIVE(Bcast, bcast)
COUNT_COLLECTIVE(Reduce, reduce)
COUNT_LOCAL(Start, start)
COUNT_LOCAL(Startall, startall)
COUNT_LOCAL(Request_free, request_free)
COUNT_LOCAL(Comm_set_info, comm_set_info)
COUNT_LOCAL(Comm_dup_with_info, comm_dup_with_info)
COUNT_LOCAL(Comm_split_type, comm_split_type)
COUNT_LOCAL(Dist_graph_create, dist_graph_create)
COUNT_LOCAL(Dist_graph_create_adjacent, dist_graph_create_adjacent)
COUNT_LOCAL(Pcontrol, pcontrol)

static void report(void) __attribute__((destructor));
static void report(void) {
    const char* const open_mpi_rank = getenv("OMPI_COMM_WORLD_RANK");
    const char* const mpich_rank = getenv("PMI_RANK");
    const char* const rank = open_mpi_rank != NULL ? open_mpi_rank : mpich_rank;
    if (rank == NULL || strcmp(rank, "0") != 0) return;
    printf(TOOL
           ": allreduce=%d iallreduce=%d allreduce_init=%d reduce_scatter_block=%d "
           "reduce_scatter=%d allgather=%d barrier=%d bcast=%d reduce=%d start=%d startall=%d "
           "request_free=%d comm_set_info=%d "
           "comm_dup_with_info=%d comm_split_type=%d dist_graph_create=%d "
           "dist_graph_create_adjacent=%d pcontrol=%d\n",
           allreduce_seen, iallreduce_seen, allreduce_init_seen, reduce_scatter_block_seen,
           reduce_scatter_seen, allgather_seen, barrier_seen, bcast_seen, reduce_seen, start_seen,
           startall_seen, request_free_seen, comm_set_info_seen, comm_dup_with_info_seen,
           comm_split_type_seen, dist_graph_create_seen, dist_graph_create_adjacent_seen,
           pcontrol_seen);
    fflush(stdout);
}
