/* shim/fortran.h - how a Fortran name is wrapped.
 *
 * As in wrappers.c a call has a fast half, which every spelling of its name holds, and a slow one,
 * which they share and which gets the called name as its last argument. Nobody knows which
 * spellings a program's compiler uses, so that there are wrappers for all of them; each goes on to
 * the next function of the very same name. */
#ifndef GRADCOLL_SHIM_FORTRAN_H
#define GRADCOLL_SHIM_FORTRAN_H

#include "shim/gate.h"
#include "shim/names.h"
#include "shim/next.h"

#define FAST_HALF static inline __attribute__((always_inline))

/* This stands in a function with the parameters of the call and `name`. `Shape` is the type of the
 * call; `passing` says whether it goes on unoffered. */
#define FAST(Shape, passing, slow, ...)               \
    do {                                              \
        Shape* const next = (Shape*)known_next(name); \
        if (next != NULL && (passing)) {              \
            next(__VA_ARGS__);                        \
        } else {                                      \
            slow(__VA_ARGS__, name);                  \
        }                                             \
    } while (0)

/* Defines all spellings of one name. ARGUMENTS, in brackets, are the parameters without their
 * types, in the same order. */
#define GC_DEFINE_SPELLING(spelling, fast, ARGUMENTS, ...) \
    void spelling(__VA_ARGS__) {                           \
        fast(NAME_##spelling, GC_BARE ARGUMENTS);          \
    }
#define GC_BARE(...) __VA_ARGS__
#define DEFINE_SPELLINGS(MANGLINGS, lower, UPPER, fast, ARGUMENTS, ...) \
    MANGLINGS(GC_DEFINE_SPELLING, lower, UPPER, fast, ARGUMENTS, __VA_ARGS__)

/* Defines the type of a call, both halves and all spellings. PARAMETERS are in brackets, too.
 * `slow_body` is the slow half: statements with the parameters and `name`. GC_DEFINE_CALL_AS takes
 * the manglings that the row of names.def has. */
#define GC_DEFINE_CALL(...) GC_DEFINE_CALL_AS(GC_MANGLINGS, __VA_ARGS__)
#define GC_DEFINE_CALL_AS(MANGLINGS, lower, UPPER, passing, PARAMETERS, ARGUMENTS, slow_body) \
    typedef void Of_##lower PARAMETERS;                                                       \
    static SLOW_HALF void slow_##lower(GC_BARE PARAMETERS, Name name) {                       \
        slow_body;                                                                            \
    }                                                                                         \
    FAST_HALF void lower##_named(Name name, GC_BARE PARAMETERS) {                             \
        FAST(Of_##lower, passing, slow_##lower, GC_BARE ARGUMENTS);                           \
    }                                                                                         \
    DEFINE_SPELLINGS(MANGLINGS, lower, UPPER, lower##_named, ARGUMENTS, GC_BARE PARAMETERS)

#endif
