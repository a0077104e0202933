/* gradcoll/inspect.h - looking inside: the tree of a communicator and what its collectives cost. */
#ifndef GRADCOLL_INSPECT_H
#define GRADCOLL_INSPECT_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GC_TREE_TEXT = 0,
    GC_TREE_JSON = 1,
    GC_TREE_DOT = 2,
    GC_TREE_EXPRESSION = 3,
    GC_TREE_ORIGIN = 4
} GC_Tree_format;

/* The communicator's tree as text: indented, JSON, Graphviz, the short expression that GC_TOPOLOGY
 * accepts, or one line on where it came from. Collective only if the communicator is not attached
 * yet. `*length` is in: size of `text` in bytes; out: bytes needed with the final 0. `text` may be
 * NULL to ask for the size. Errors: MPI_ERR_ARG if too small. */
int GC_Comm_get_tree(MPI_Comm comm, GC_Tree_format format, char* text, size_t* length);

/* Of this rank, since the communicator was attached or the statistics were reset. */
typedef struct {
    unsigned long long calls_tree;       /* operations completed on the tree */
    unsigned long long calls_compressed; /* of these: with a lossy codec */
    unsigned long long calls_passed;     /* operations given to the MPI library */
    unsigned long long bytes_reduced;    /* vector bytes of the operations on the tree */
    unsigned long long bytes_sent;       /* what this rank sent for them, frame headers included */
    unsigned long long bytes_sent_exact; /* what it would have sent with the exact codec */
    unsigned long long messages_sent;
    double seconds_total; /* inside blocking GC_ calls, GC_Start, GC_Test and GC_Wait */
    const char*
        last_pass_reason; /* why the last call passed to the MPI library; static text, never NULL */
} GC_Stats;
int GC_Comm_get_stats(MPI_Comm comm, GC_Stats* stats);
int GC_Comm_reset_stats(MPI_Comm comm);

#ifdef __cplusplus
}
#endif
#endif
