/* shim/names.h - the intercepted names as prototypes and as indices.
 *
 * The prototypes are our own and the same for every MPI: a handle is an intptr_t, whether MPI's is
 * a pointer (Open MPI) or an int (MPICH). On x86-64 and aarch64 either travels in the same
 * register, or in the same eight-byte slot of the stack, so that it is forwarded whole. Only the
 * lower half of an int handle means anything. */
#ifndef GRADCOLL_SHIM_NAMES_H
#define GRADCOLL_SHIM_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/interposer_table.h"

/* The collectives that are offered, with a row for each: X(KIND, name, lower, UPPER, SHAPE).
 * GC_CALL_KIND is its kind, and it has these names in C and in Fortran. Calls of one shape have the
 * same parameters, SHAPE_PARAMETERS and F_SHAPE_PARAMETERS, and wrappers: C_SHAPE (wrappers.c) and
 * F_SHAPE (fortran_offers.h). */
#define GC_COLLECTIVES_OF_MPI_3(X)                                                        \
    X(ALLREDUCE, MPI_Allreduce, mpi_allreduce, MPI_ALLREDUCE, ALL)                        \
    X(IALLREDUCE, MPI_Iallreduce, mpi_iallreduce, MPI_IALLREDUCE, STARTED)                \
    X(REDUCE_SCATTER_BLOCK, MPI_Reduce_scatter_block, mpi_reduce_scatter_block,           \
      MPI_REDUCE_SCATTER_BLOCK, BLOCK)                                                    \
    X(REDUCE_SCATTER, MPI_Reduce_scatter, mpi_reduce_scatter, MPI_REDUCE_SCATTER, BLOCKS) \
    X(ALLGATHER, MPI_Allgather, mpi_allgather, MPI_ALLGATHER, GATHER)                     \
    X(BCAST, MPI_Bcast, mpi_bcast, MPI_BCAST, FROM_ROOT)                                  \
    X(REDUCE, MPI_Reduce, mpi_reduce, MPI_REDUCE, TO_ROOT)
/* Calls of large counts, and those whose buffers are descriptors, came with MPI 4. */
#define GC_COLLECTIVES_OF_MPI_4(X) \
    GC_COLLECTIVES_OF_MPI_3(X)     \
    X(ALLREDUCE_INIT, MPI_Allreduce_init, mpi_allreduce_init, MPI_ALLREDUCE_INIT, SET_UP)

#if GC_MPI_HAS_MPIX_ALLREDUCE_INIT /* Open MPI 4's */
#define GC_COLLECTIVES_OF_MPIX(X) \
    X(ALLREDUCE_INIT, MPIX_Allreduce_init, mpix_allreduce_init, MPIX_ALLREDUCE_INIT, SET_UP)
#else
#define GC_COLLECTIVES_OF_MPIX(X)
#endif
/* Those that this build's MPI has, with counts of type int. */
#if GC_MPI_HAS_ALLREDUCE_INIT
#define GC_COLLECTIVES(X) GC_COLLECTIVES_OF_MPI_4(X) GC_COLLECTIVES_OF_MPIX(X)
#else
#define GC_COLLECTIVES(X) GC_COLLECTIVES_OF_MPI_3(X) GC_COLLECTIVES_OF_MPIX(X)
#endif

#define ALL_PARAMETERS(Count)                                                                  \
    const void *sendbuf, void *recvbuf, Count count, GC_Mpi_handle datatype, GC_Mpi_handle op, \
        GC_Mpi_handle comm
#define BLOCK_PARAMETERS ALL_PARAMETERS
#define STARTED_PARAMETERS(Count) ALL_PARAMETERS(Count), void* request
#define SET_UP_PARAMETERS(Count) ALL_PARAMETERS(Count), GC_Mpi_handle info, void *request
#define BLOCKS_PARAMETERS(Count)                                                         \
    const void *sendbuf, void *recvbuf, const Count *recvcounts, GC_Mpi_handle datatype, \
        GC_Mpi_handle op, GC_Mpi_handle comm
#define GATHER_PARAMETERS(Count)                                                                  \
    const void *sendbuf, Count sendcount, GC_Mpi_handle sendtype, void *recvbuf, Count recvcount, \
        GC_Mpi_handle recvtype, GC_Mpi_handle comm
#define FROM_ROOT_PARAMETERS(Count) \
    void *buffer, Count count, GC_Mpi_handle datatype, int root, GC_Mpi_handle comm
#define TO_ROOT_PARAMETERS(Count)                                                              \
    const void *sendbuf, void *recvbuf, Count count, GC_Mpi_handle datatype, GC_Mpi_handle op, \
        int root, GC_Mpi_handle comm
#define GRAPH_PARAMETERS                                                                        \
    GC_Mpi_handle comm, int n, const int *sources, const int *degrees, const int *destinations, \
        const int *weights, GC_Mpi_handle info, int reorder, void *newcomm
#define ADJACENT_PARAMETERS                                                          \
    GC_Mpi_handle comm, int indegree, const int *sources, const int *source_weights, \
        int outdegree, const int *destinations, const int *destination_weights,      \
        GC_Mpi_handle info, int reorder, void *newcomm
#define TOOL_VARIABLE_PARAMETERS                                                              \
    int index, char *name, int *name_length, int *verbosity, int *kind, void *datatype,       \
        void *names, char *text, int *text_length, int *bind, int *readonly, int *continuous, \
        int *atomic
/* A variadic call has `level` and what the further integer registers hold. */
#define PCONTROL_PARAMETERS(Level) \
    Level level, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e

/* Fortran passes everything by reference. This serves BLOCKS, too, whose `count` is an array. */
#define F_REDUCE_PARAMETERS(Count)                                                              \
    const void *sendbuf, void *recvbuf, const Count *count, const int *datatype, const int *op, \
        const int *comm
#define F_ALL_PARAMETERS(Count) F_REDUCE_PARAMETERS(Count), int* ierror
#define F_BLOCK_PARAMETERS F_ALL_PARAMETERS
#define F_BLOCKS_PARAMETERS F_ALL_PARAMETERS
#define F_STARTED_PARAMETERS(Count) F_REDUCE_PARAMETERS(Count), int *request, int *ierror
#define F_SET_UP_PARAMETERS(Count) \
    F_REDUCE_PARAMETERS(Count), const int *info, int *request, int *ierror
#define F_GATHER_PARAMETERS(Count)                                                   \
    const void *sendbuf, const Count *sendcount, const int *sendtype, void *recvbuf, \
        const Count *recvcount, const int *recvtype, const int *comm, int *ierror
#define F_FROM_ROOT_PARAMETERS(Count)                                                        \
    void *buffer, const Count *count, const int *datatype, const int *root, const int *comm, \
        int *ierror
#define F_TO_ROOT_PARAMETERS(Count)                                                             \
    const void *sendbuf, void *recvbuf, const Count *count, const int *datatype, const int *op, \
        const int *root, const int *comm, int *ierror
#define F_GRAPH_PARAMETERS                                                                \
    const int *comm, const int *n, const int *sources, const int *degrees,                \
        const int *destinations, const int *weights, const int *info, const int *reorder, \
        int *newcomm
#define F_ADJACENT_PARAMETERS                                                            \
    const int *comm, const int *indegree, const int *sources, const int *source_weights, \
        const int *outdegree, const int *destinations, const int *destination_weights,   \
        const int *info, const int *reorder, int *newcomm
/* The length of the text comes last, and by value. */
#define F_FROM_GROUP_PARAMETERS                                                                    \
    const int *group, const char *stringtag, const int *info, const int *errhandler, int *newcomm, \
        int *ierror, size_t length

/* Compilers write one Fortran name in these ways: the name of module mpi_f08, and, where these do
 * not lead to the C names, those of mpif.h and module mpi. */
#define GC_F08_MANGLINGS(X, lower, UPPER, ...) \
    X(lower##_f08, __VA_ARGS__)                \
    X(lower##_f08_, __VA_ARGS__)               \
    X(lower##_f08__, __VA_ARGS__)              \
    X(UPPER##_F08, __VA_ARGS__)
#if GC_OPENMPI_FORTRAN
#define GC_MANGLINGS(X, lower, UPPER, ...) \
    X(lower, __VA_ARGS__)                  \
    X(lower##_, __VA_ARGS__)               \
    X(lower##__, __VA_ARGS__)              \
    X(UPPER, __VA_ARGS__)                  \
    GC_F08_MANGLINGS(X, lower, UPPER, __VA_ARGS__)
#else
#define GC_MANGLINGS GC_F08_MANGLINGS
#endif

/* These names say already whose they are (mpi_allreduce_c_f08). */
#define GC_PLAIN_MANGLINGS(X, lower, UPPER, ...) \
    X(lower, __VA_ARGS__)                        \
    X(lower##_, __VA_ARGS__)                     \
    X(lower##__, __VA_ARGS__)                    \
    X(UPPER, __VA_ARGS__)

#define GC_EXPORT __attribute__((visibility("default")))

#define GC_C(name, ...) GC_EXPORT int name(__VA_ARGS__);
#define GC_F_PROTOTYPE(name, ...) GC_EXPORT void name(__VA_ARGS__);
#define GC_FORTRAN(lower, UPPER, ...) GC_MANGLINGS(GC_F_PROTOTYPE, lower, UPPER, __VA_ARGS__)
#define GC_FORTRAN_AS(lower, UPPER, ...) \
    GC_PLAIN_MANGLINGS(GC_F_PROTOTYPE, lower, UPPER, __VA_ARGS__)
#include "shim/names.def"
#undef GC_C
#undef GC_FORTRAN
#undef GC_FORTRAN_AS
#undef GC_F_PROTOTYPE

typedef enum {
#define GC_C(name, ...) NAME_##name,
#define GC_F_INDEX(name, ...) NAME_##name,
#define GC_FORTRAN(lower, UPPER, ...) GC_MANGLINGS(GC_F_INDEX, lower, UPPER, __VA_ARGS__)
#define GC_FORTRAN_AS(lower, UPPER, ...) GC_PLAIN_MANGLINGS(GC_F_INDEX, lower, UPPER, __VA_ARGS__)
#include "shim/names.def"
#undef GC_C
#undef GC_FORTRAN
#undef GC_FORTRAN_AS
#undef GC_F_INDEX
    NAME_COUNT
} Name;

#endif
