/* gradcoll/inspect.h - looks inside: the tree of a communicator, what its collectives cost, which
 * way a call would go and why, and what this library is, can do and is set to. gradcoll info prints
 * all of it. */
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

/* Writes the communicator's tree as text: indented, JSON, Graphviz (whose dot draws it), the short
 * expression that GC_TOPOLOGY accepts, or one line on where it came from. Collective only if the
 * communicator is not attached yet. `*length` is in: size of `text` in bytes; out: bytes needed
 * with the final 0. `text` may be NULL to ask for the size. Errors: MPI_ERR_ARG if `text` is too
 * small. */
int GC_Comm_get_tree(MPI_Comm comm, GC_Tree_format format, char* text, size_t* length);

/* Statistics of this rank since the communicator was attached or the statistics were reset.
 * `bytes_sent` counts messages with their frame headers, and what this rank put into shared memory
 * or, of vectors that NIC agents add, what left the host, on one of its ranks; what agents encode
 * counts with its encoded size. */
typedef struct {
    unsigned long long calls_tree;       /* operations that this library served: over the tree, or
                                            through the memory that the ranks of one host share */
    unsigned long long calls_compressed; /* how many of these used a lossy codec */
    unsigned long long calls_passed;     /* operations passed to the MPI library */
    unsigned long long bytes_reduced;    /* vector bytes of the operations that were served */
    unsigned long long bytes_sent;       /* bytes this rank sent for them */
    unsigned long long bytes_sent_exact; /* bytes it would have sent with the exact codec */
    unsigned long long messages_sent;
    double seconds_total; /* time inside blocking GC_ calls, GC_Start, GC_Test and GC_Wait; of
                             repeated allreduces under 16 KiB one in 16 is timed, for all of them */
    const char*
        last_pass_reason; /* why the last call passed to the MPI library; static text, never NULL */
    const char* last_agents; /* what NIC agents did of the last call that was served where there are
                                some, or why nothing; static text, never NULL */
} GC_Stats;
/* Returns sums over this rank's calls; those of other ranks may differ. A nonblocking call is
 * counted when it has completed. If the communicator is not attached, all numbers are 0, and
 * last_pass_reason says so. Local; thread safe: a call that ends meanwhile may be counted in part.
 * Errors: MPI_ERR_COMM, MPI_ERR_ARG if `stats` is null. */
int GC_Comm_get_stats(MPI_Comm comm, GC_Stats* stats);
/* Sets the statistics back to zero; does nothing if the communicator is not attached. Does not
 * change the report of the process. Local. Errors: MPI_ERR_COMM. */
int GC_Comm_reset_stats(MPI_Comm comm);

typedef enum { GC_EXPLAIN_TEXT = 0, GC_EXPLAIN_JSON = 1 } GC_Explain_format;

/* Says what GC_Allreduce would do now with these arguments, and why, without doing it. Either it
 * would pass to the MPI library, and the text gives the reason; or the text gives the plan: codecs
 * and exchanges by level of the tree, chunks, time predicted by the model that chose them, bytes
 * and messages of this rank beside those of an exact call, and the settings that decide. The code
 * that serves the call makes the text. Collective only if the communicator is not attached yet.
 * `text` and `length` as in GC_Comm_get_tree. Errors: MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_TYPE,
 * MPI_ERR_OP for arguments that GC_Allreduce would refuse; MPI_ERR_ARG. */
int GC_Explain_allreduce(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         GC_Explain_format format, char* text, size_t* length);

typedef enum { GC_PLAN_TEXT = 0, GC_PLAN_JSON = 1, GC_PLAN_DOT = 3 } GC_Plan_format;

/* Draws the plan of GC_Allreduce with these arguments on the communicator's tree: what every rank
 * owns after each level, and the bytes that each link carries in each direction, level by level,
 * with the time that they take where the link's bandwidth is known; the busiest link is marked. For
 * a call that would pass to the MPI library it draws the plan that the call would have on the tree,
 * and says so. Bytes are counted in all ranks' plans up to 96 ranks; beyond, they come from a
 * formula and ownership is drawn for a few ranks; the picture says which. Collective only if the
 * communicator is not attached yet; the text is the same on all ranks. `text` and `length` as in
 * GC_Comm_get_tree. Errors: those of GC_Explain_allreduce; MPI_ERR_ARG also for types and ops that
 * never go over the tree. */
int GC_Comm_get_plan(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     GC_Plan_format format, char* text, size_t* length);

/* Writes the tree that `ranks` ranks on this host would get from `topology` (a value of
 * GC_TOPOLOGY; NULL: this process's). If the machine is discovered, one rank is assumed to be bound
 * to each core, in order, or none to any if they outnumber the cores; GC_TREE_ORIGIN says so. If
 * `ranks` is 0, there are as many as a written tree names, or one for each core (or GPU) of a
 * described host, else 1. Local; callable at any time, also before MPI_Init. `text` and `length` as
 * in GC_Comm_get_tree. Errors: MPI_ERR_ARG, MPI_ERR_IO. */
int GC_Predict_tree(int ranks, const char* topology, GC_Tree_format format, char* text,
                    size_t* length);

/* Does GC_Explain_allreduce for rank 0 of the tree of GC_Predict_tree, under the settings of this
 * process and the gc_* keys of `info` (or MPI_INFO_NULL), for the first compressible call of a
 * communicator named MPI_COMM_WORLD. Local. Errors: as GC_Explain_allreduce and GC_Predict_tree. */
int GC_Predict_allreduce(int ranks, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Info info, GC_Explain_format format, char* text, size_t* length);

/* Does GC_Comm_get_plan for the tree, settings and keys of GC_Predict_allreduce. Local. Errors: as
 * GC_Comm_get_plan and GC_Predict_tree. */
int GC_Predict_plan(int ranks, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Info info,
                    GC_Plan_format format, char* text, size_t* length);

/* The calls below return facts of the process. They are local, thread safe and callable at any
 * time, also before MPI_Init and after MPI_Finalize. Their texts are never NULL ("" where there is
 * nothing to say), belong to the library and never change. */

/* A GC_Setting is one row of docs/settings.md, a setting with its parts, with the value for new
 * communicators of this process. */
typedef struct {
    const char* variable;      /* "GC_COMPRESS_BYTES" */
    const char* info_key;      /* "gc_compress_bytes"; "" if it cannot be set for a communicator */
    const char* value;         /* the value in force, with parts that are no defaults */
    const char* default_value; /* "64K" */
    const char* allowed;       /* "bytes, with K, M or G" */
    const char* help;          /* "smaller calls are never compressed" */
    const char* source;        /* "default", "environment" or "config file" */
    const char* place;         /* "FILE:LINE" if the source is a config file */
} GC_Setting;
int GC_Get_setting_count(int* count);
/* Returns one setting. Errors: MPI_ERR_ARG if `index` is not below the count. */
int GC_Get_setting(int index, GC_Setting* setting);

/* GC_Build says how the library was built, and what it found in this process. */
typedef struct {
    const char* version;    /* "0.1.0" */
    const char* revision;   /* git's description of the source when the build was configured */
    const char* build_type; /* "Release" */
    const char* compiler;   /* "GNU 12.2.0" */
    const char* sanitizers; /* "address,undefined" */
    const char* mpi_built;  /* the MPI it was built for: "Open MPI 4.1.4" */
    const char* mpi_seen;   /* the MPI that is loaded: "Open MPI 4.1.4" */
    const char* mpi_text;   /* all that the loaded MPI says of itself */
    int mpi_matches;        /* 1: the same family and major version */
    const char* cpu_found;  /* instruction sets that this CPU runs: "scalar avx2 avx512" */
    const char* cpu_reduce; /* the set that reductions use, limited by GC_CPU */
    const char* cpu_codecs; /* the set that codecs use */
    int cuda_kernels;       /* 1: the kernels for CUDA are built */
} GC_Build;
int GC_Get_build(GC_Build* build);

/* A GC_List names a list of what there is to choose from, or of what is wrong with what was chosen.
 */
typedef enum {
    GC_LIST_CODECS = 0,       /* values of gc_codec */
    GC_LIST_EXCHANGES = 1,    /* values of gc_exchange */
    GC_LIST_LEVELS = 2,       /* kinds of vertices of a tree */
    GC_LIST_TREE_SOURCES = 3, /* forms of GC_TOPOLOGY */
    GC_LIST_COLLECTIVES = 4,  /* MPI calls and what stands for them here */
    GC_LIST_COMPLAINTS =
        5,               /* GC_ variables and lines of the config file that are ignored, and why */
    GC_LIST_DEVICES = 6, /* the plug-in that serves device memory (loaded to see), or why there is
                            none; then, by number, its devices */
    GC_LIST_TRANSPORTS = 7, /* values of GC_TRANSPORTS, in the order in which they are asked */
    GC_LIST_BUILDERS = 8    /* values of gc_builder */
} GC_List;
typedef struct {
    const char* name; /* "" for a complaint */
    const char* text; /* one line */
} GC_List_entry;
/* Returns the number of entries. Errors: MPI_ERR_ARG for a list that does not exist. */
int GC_Get_list_size(GC_List list, int* size);
/* Returns one entry. Errors: those of GC_Get_list_size; MPI_ERR_ARG if `index` is not below the
 * size. */
int GC_Get_list_entry(GC_List list, int index, GC_List_entry* entry);

#ifdef __cplusplus
}
#endif
#endif
