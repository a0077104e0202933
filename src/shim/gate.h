/* shim/gate.h - does a call pass, or is it offered to the core?
 *
 * There are two questions, both cheap: the gate (the core wrote which counts it may want) and the
 * guard (is this call made inside another one that is already offered, by a tool below us or by MPI
 * itself). */
#ifndef GRADCOLL_SHIM_GATE_H
#define GRADCOLL_SHIM_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interposer_table.h"

extern GC_Gate gate;

/* Returns libgradcoll, loaded at the first call. Null if this process is to be left alone: a
 * foreign MPI, no core, GC_ENABLE=off. The first call decides, once per process, and says why where
 * that is an error. Thread safe. */
const GC_Interposer_table* find_core(void);

/* Returns the core, but null as long as nobody has called find_core(). */
const GC_Interposer_table* loaded_core(void);

/* Is called before MPI_Init: the core, if it is there, tells the other ranks of the host of this
 * one. */
void announce_core(void);

/* This says where on the stack of this thread the outermost offered call stands; null if there is
 * none. A call is inside it if it stands below. An error handler that throws or jumps out of MPI
 * leaves a mark that the next call from the same place or above it replaces; a mere flag would stay
 * set for ever. */
extern _Thread_local const char* inside __attribute__((tls_model("initial-exec")));

static inline bool passes(enum GC_Call_kind kind, int64_t count) {
    return count < __atomic_load_n(&gate.least_count[kind], __ATOMIC_RELAXED);
}

/* Returns the core, or null if the call is to go to the next library unoffered. `mark` is a local
 * variable of the wrapper. */
static inline const GC_Interposer_table* enter_with(const GC_Interposer_table* (*find)(void),
                                                    const void* mark) {
    const GC_Interposer_table* core;
    if (inside != NULL && (uintptr_t)mark < (uintptr_t)inside) return NULL;
    inside = mark; /* first: what the core does while it is loaded is not offered to it */
    core = find();
    if (core == NULL) inside = NULL;
    return core;
}

static inline const GC_Interposer_table* enter(enum GC_Call_kind kind, int64_t count,
                                               const void* mark) {
    return passes(kind, count) ? NULL : enter_with(find_core, mark);
}

/* Returns the core for calls that matter only if an earlier one was served: loads nothing. */
static inline const GC_Interposer_table* enter_loaded(int64_t count, const void* mark) {
    return passes(GC_CALL_START, count) ? NULL : enter_with(loaded_core, mark);
}

/* Returns the core for calls that complete requests, which matter only while operations of ours are
 * under way. */
static inline const GC_Interposer_table* enter_completion(const void* mark) {
    return passes(GC_CALL_COMPLETE, 0) ? NULL : enter_with(loaded_core, mark);
}

/* Returns the core for calls without a gate. */
static inline const GC_Interposer_table* enter_ungated(const void* mark) {
    return enter_with(find_core, mark);
}

/* A call was served since a program last looked for messages in vain: the MPI library was not asked
 * to go on in it, so that its next look may miss what other ranks did before that call. */
extern bool look_is_due;

/* Offers a call to `core`. Returns whether it was served. */
static inline bool offer_to(const GC_Interposer_table* core, enum GC_Call_kind kind,
                            const GC_Call* call, int* code) {
    if (core == NULL || !core->offer[kind](call, code)) return false;
    __atomic_store_n(&look_is_due, true, __ATOMIC_RELAXED);
    return true;
}

/* Returns whether a look for messages, requests or a window may go to the MPI library as it is. */
static inline bool look_passes(void) {
    return passes(GC_CALL_COMPLETE, 0) && !__atomic_load_n(&look_is_due, __ATOMIC_RELAXED);
}

/* Lets operations of ours make progress, if `core` is there. Returns whether any is under way,
 * which may end as a served call does. */
static inline bool goes_on(const GC_Interposer_table* core) {
    if (core == NULL || !core->go_on()) return false;
    __atomic_store_n(&look_is_due, true, __ATOMIC_RELAXED);
    return true;
}

/* Returns whether to repeat a look that found nothing: it is the first in vain after a served call,
 * and was not repeated too often. `repeats` starts as FIRST_LOOK. */
#define FIRST_LOOK (-1)
static inline bool looks_again(int* repeats) {
    if (*repeats == FIRST_LOOK) {
        *repeats = __atomic_exchange_n(&look_is_due, false, __ATOMIC_RELAXED) ? gate.most_looks : 0;
    }
    return (*repeats)-- > 0;
}

/* This is the last allreduce of this thread that passed, as the core noted it. */
extern _Thread_local GC_Passed_call last_passed __attribute__((tls_model("initial-exec")));

/* These are the most counts that one could multiply by the size of an item. */
#define MOST_COUNT ((uint64_t)1 << 40)

/* Counts an allreduce that passes as the last one did, without a question to the core. */
static inline bool passes_like_last(GC_Mpi_handle comm, GC_Mpi_handle datatype, GC_Mpi_handle op,
                                    int64_t count) {
    const GC_Passed_call* const last = &last_passed;
    if (last->comm != comm || last->datatype != datatype || last->op != op) return false;
    /* One comparison serves counts below 1 and those that are too large. */
    if (last->account == NULL || (uint64_t)count - 1 >= MOST_COUNT) return false;
    if (last->change_count != __atomic_load_n(last->changes, __ATOMIC_RELAXED)) return false;
    const uint64_t size_bytes = (uint64_t)count * last->item_bytes;
    return size_bytes < last->end_bytes && gc_passes(last->account, size_bytes);
}

static inline void leave(const GC_Interposer_table* core) {
    if (core != NULL) inside = NULL;
}

/* To load takes milliseconds, which the program expects of MPI_Init, not of its first allreduce. */
static inline void load_core(void) {
    const int mark = 0;
    leave(enter_ungated(&mark));
}

#endif
