/* shim/fortran_collectives.c - the collectives under their Fortran names, for Open MPI, whose
 * Fortran bindings call PMPI_ functions, so that the C wrappers never see them. (MPICH's call the C
 * names.)
 *
 * A call that passes goes to the next Fortran function with the user's own arguments, inside the
 * guard: a tool below that turns it into the C call comes back to our C wrapper, which lets it
 * pass. */
#include "shim/fortran.h"
#include "shim/fortran_buffers.h"
#include "shim/fortran_offers.h"

#define SLOW(Shape, kind, count, in, out, offer, ...)                      \
    do {                                                                   \
        int code = 0;                                                      \
        GC_Mpi_handle made = 0; /* a request, where there is one */        \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        const void* const send = core != NULL ? c_buffer(in) : NULL;       \
        const void* const receive = core != NULL ? c_buffer(out) : NULL;   \
        (void)made;                                                        \
        (void)send;                                                        \
        F_END(Shape, core != NULL && (offer), __VA_ARGS__);                \
    } while (0)

#define WRAPPER(MANGLINGS, lower, UPPER, kind, count, copies, in, out, PARAMETERS, ARGUMENTS, \
                offer)                                                                        \
    GC_DEFINE_CALL_AS(MANGLINGS, lower, UPPER, passes(kind, count), PARAMETERS, ARGUMENTS,    \
                      SLOW(Of_##lower, kind, count, in, out, offer, GC_BARE ARGUMENTS))

#define GC_ROW(KIND, name, lower, UPPER, SHAPE) \
    F_##SHAPE(GC_MANGLINGS, lower, UPPER, GC_CALL_##KIND, int)
GC_COLLECTIVES(GC_ROW)
#undef GC_ROW

#if GC_MPI_HAS_DESCRIPTORS /* large counts, as an Open MPI without descriptors has them */
#define GC_ROW(KIND, name, lower, UPPER, SHAPE) \
    F_##SHAPE(GC_PLAIN_MANGLINGS, lower##_c_f08, UPPER##_C_F08, GC_CALL_##KIND, int64_t)
GC_COLLECTIVES_OF_MPI_4(GC_ROW)
#undef GC_ROW
#endif
