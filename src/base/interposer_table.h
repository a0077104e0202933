/* base/interposer_table.h - what libgradcoll_pmpi and libgradcoll say to each other. Plain C, no
 * MPI: the interposer is loaded into processes of any MPI and of none.
 *
 * A wrapper offers the user's call to the core. The core either serves it (returns 1 and the code
 * that the wrapper returns) or passes it (returns 0); then the wrapper calls the next library with
 * the user's own arguments, so that other PMPI tools see the call as it was. Offers never fail for
 * reasons of their own, and what the core passes depends only on what all ranks know alike.
 *
 * Thread safety: as MPI's own calls. */
#ifndef GRADCOLL_BASE_INTERPOSER_TABLE_H
#define GRADCOLL_BASE_INTERPOSER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both libraries must be built from the same number. */
#define GC_INTERPOSER_VERSION 9u

/* GC_Mpi_handle has the bits of an MPI handle, whether the MPI has pointers or ints for handles. */
typedef intptr_t GC_Mpi_handle;

/* The kinds of calls. GC_CALL_COMPLETE stands for everything by which a program completes requests:
 * MPI_Wait, MPI_Testsome, ... */
enum GC_Call_kind {
#define GC_KIND(CONSTANT, ...) GC_CALL_##CONSTANT,
#include "base/call_kinds.def"
#undef GC_KIND
    GC_CALL_COMPLETE,
    GC_CALL_KINDS
};

/* GC_Gate belongs to the interposer and is written by the core: a call whose count (of elements; of
 * a block for the block collectives; of requests for start; 0 for a barrier and for complete) is
 * below `least_count` of its kind passes without being offered. It is read and written with
 * __atomic builtins, relaxed: a hint that saves instructions, never the decision itself. The counts
 * are zero at first; INT64_MAX means that nothing is offered. */
typedef struct {
    int64_t least_count[GC_CALL_KINDS];
    /* The interposer writes this before it connects: whether it sees every call by which the
     * program completes a request. It is not 1 if another tool is before it, which may go another
     * way. */
    int sees_completions;
    /* The core writes this while it connects: how often the first look in vain after a served call
     * is repeated (MPI_Iprobe, MPI_Test, MPI_Win_test and their kin). */
    int most_looks;
} GC_Gate;

/* GC_Attach_account says what the calls of a communicator that is not attached would have gained so
 * far if it were. The call that reaches the price is the one to attach at, on every rank. */
typedef struct {
    uint64_t call_ns; /* what every call gains, whatever its size */
    uint64_t gained_ns;
    uint64_t price_ns; /* UINT64_MAX: never attached by use */
} GC_Attach_account;

/* Returns what each 16 bytes of a vector gain; beyond the caches they gain no more. */
#define GC_GAIN_NS_OF_16_BYTES 3u
#define GC_MOST_GAINING_BYTES ((uint64_t)1 << 20)

static inline uint64_t gc_gain_ns(const GC_Attach_account* account, uint64_t size_bytes) {
    const uint64_t gaining =
        size_bytes < GC_MOST_GAINING_BYTES ? size_bytes : GC_MOST_GAINING_BYTES;
    return account->call_ns + gaining / 16 * GC_GAIN_NS_OF_16_BYTES;
}

/* Counts the call and returns 1 if it passes; 0, and nothing is counted, if it is the one to attach
 * at. */
static inline int gc_passes(GC_Attach_account* account, uint64_t size_bytes) {
    const uint64_t gained_ns = account->gained_ns + gc_gain_ns(account, size_bytes);
    if (gained_ns >= account->price_ns) return 0;
    account->gained_ns = gained_ns;
    return 1;
}

/* Each thread of the interposer has one of these, which the core writes: the last allreduce that
 * passed only because its communicator is not attached. Others of the same communicator, datatype
 * and op need not be offered as long as their account lets them pass. It is all zero at first. */
typedef struct {
    GC_Mpi_handle comm;
    GC_Mpi_handle datatype;
    GC_Mpi_handle op;
    uint64_t item_bytes;
    uint64_t end_bytes;         /* vectors of so many bytes and more are offered */
    const uint64_t* changes;    /* what the core's threads know of communicators is over: */
    uint64_t change_count;      /* as soon as *changes is not this */
    GC_Attach_account* account; /* null: there was no such call; valid until then */
} GC_Passed_call;

/* GC_Call has the arguments of one call, under the names that MPI_Allreduce gives them; a kind of
 * call reads those that its function of MPI has. */
typedef struct {
    const void* sendbuf;
    void* recvbuf;          /* the buffer of a broadcast */
    int64_t count;          /* of a block for reduce_scatter_block and allgather; 1 for a barrier */
    GC_Mpi_handle datatype; /* an allgather receives with it */
    GC_Mpi_handle op;
    GC_Mpi_handle comm;
    int root;
    int64_t sendcount; /* an allgather sends with this and `sendtype` */
    GC_Mpi_handle sendtype;
    /* reduce_scatter has one integer of `count_bytes` (4 or 8) bytes for each rank. */
    const void* recvcounts;
    size_t count_bytes;
    GC_Mpi_handle info; /* allreduce_init has it */
    /* `request` points to an MPI_Request, which is written only if the call is served. */
    void* request;
    GC_Passed_call* passed; /* belongs to the calling thread; allreduce and iallreduce note it */
} GC_Call;

/* GC_Tool_variables are the performance variables that tools of MPI_T see of this library. Each is
 * bound to a communicator, and counts from when its handle is made. A `variable` is a number from 0
 * to `count` - 1; sessions and handles are those of MPI_T, which are pointers. All but find() and
 * owns() return what the functions of MPI_T return. Thread safe. */
typedef struct {
    int count;
    int (*info)(int variable, char* name, int* name_length, int* verbosity, int* kind,
                void* datatype, void* names, char* text, int* text_length, int* bind, int* readonly,
                int* continuous, int* atomic);
    /* Returns the variable of that name and class; -1 if there is none. */
    int (*find)(const char* name, int kind);
    /* `comm` points to an MPI_Comm. */
    int (*open)(const void* session, int variable, const void* comm, void* handle, int* count);
    int (*owns)(const void* handle);
    int (*close)(const void* session, void** handle);
    int (*read)(const void* session, const void* handle, void* value);
    /* These are MPI_T_ERR_PVAR_NO_STARTSTOP and its kin. */
    int no_start_stop, no_write, no_atomic;
} GC_Tool_variables;

typedef struct {
    /* One for each kind; null for those that no function of MPI makes. */
    int (*offer[GC_CALL_COMPLETE])(const GC_Call* call, int* code);

    /* Is called after MPI has started these requests (`requests` points to `count` MPI_Requests),
     * and starts the operations of those that allreduce_init served. */
    void (*started)(int count, const void* requests);
    /* Is called before MPI frees the request that `request` points to. */
    void (*freeing)(const void* request);
    /* Is called again and again while a program waits for requests: operations of ours make
     * progress, and so may MPI, which is asked in between. Returns 0 if none is under way. */
    int (*go_on)(void);

    /* Is called after MPI has put `info` on `comm`, or made `comm` with it (names.def says which
     * calls do), and takes its gc_* keys. A bad value is a warning. Collective, as those calls are.
     */
    void (*info_was_set)(GC_Mpi_handle comm, GC_Mpi_handle info);
    /* These are called before and after MPI begins to duplicate `comm` with `info`
     * (MPI_Comm_idup_with_info). The duplicate gets the keys, and takes them at its first blocking
     * call. Local. */
    void (*dup_begins)(GC_Mpi_handle comm, GC_Mpi_handle info);
    void (*dup_has_begun)(GC_Mpi_handle comm);
    /* Is called for MPI_Pcontrol: 0 is off (every call passes), 1 is on, 2 writes the report
     * now. */
    void (*pcontrol)(int level);

    /* These convert handles of Fortran. */
    GC_Mpi_handle (*comm_of_fortran)(int handle);
    GC_Mpi_handle (*datatype_of_fortran)(int handle);
    GC_Mpi_handle (*op_of_fortran)(int handle);
    GC_Mpi_handle (*info_of_fortran)(int handle);
    GC_Mpi_handle (*request_of_fortran)(int handle);
    int (*request_to_fortran)(const void* request);

    const GC_Tool_variables* tool_variables; /* null: there are none */
} GC_Interposer_table;

/* libgradcoll exports this. It is called once, after MPI is found to be the one that both were
 * built for. The core keeps `gate`, which must stay until the process ends. Returns NULL if
 * `version` is not the core's, or if the settings (GC_ENABLE=off) say to stay away. */
const GC_Interposer_table* GC_Interposer_connect(unsigned version, GC_Gate* gate);
typedef const GC_Interposer_table* (*GC_Interposer_connect_function)(unsigned version,
                                                                     GC_Gate* gate);

/// Says that this process has libgradcoll, which exports this: before MPI_Init if that can be, so
/// that the others know when the first calls come. Legal before MPI_Init.
void GC_Interposer_announce(unsigned version);
typedef void (*GC_Interposer_announce_function)(unsigned version);

/* libgradcoll_pmpi exports this. Counts the names for intercepted calls in the MPI libraries of
 * this process that the interposer does not define, so that calls with them pass. Writes some of
 * them to `text`, with commas between, as far as `size` bytes (one or more) reach. Thread safe. */
int GC_Interposer_uncovered(char* text, size_t size) __attribute__((visibility("default")));
typedef int (*GC_Interposer_uncovered_function)(char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
