/* shim/next.h - the function that a call would have reached without us. */
#ifndef GRADCOLL_SHIM_NEXT_H
#define GRADCOLL_SHIM_NEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "shim/names.h"

extern void* _Atomic next_functions[NAME_COUNT];

/* Looks for it and remembers it. Ends the program with a message if there is none. */
void* find_next(Name name) __attribute__((cold));

/* Returns a symbol of the MPI in this process, null if there is none. */
void* find_symbol(const char* symbol);

/* Returns the name itself. */
const char* name_of(int name);

/* Returns whether the interposer defines this name. */
bool is_intercepted(const char* symbol);

/* Returns null if it was not called yet. */
static inline void* known_next(Name name) {
    return atomic_load_explicit(&next_functions[name], memory_order_relaxed);
}

static inline void* next_of(Name name) {
    void* const next = known_next(name);
    return next != NULL ? next : find_next(name);
}

#define SLOW_HALF __attribute__((noinline, cold))

/* Casts the next function to the type of ours. */
#define NEXT(name) ((__typeof__(&name))next_of(NAME_##name))

#endif
