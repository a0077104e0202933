/* shim/fortran_described.c - the collectives of Open MPI 6 whose buffers are descriptors. sendbuf,
 * recvbuf and buffer point to these.
 *
 * Whether a section has gaps is one rank's own matter, so a blocking call is served with it, too:
 * by a copy without gaps. A request would outlive the copy. Such a call of a request goes to the
 * MPI library, which refuses it itself. */
#include "shim/fortran.h"
#include "shim/fortran_buffers.h"
#include "shim/fortran_offers.h"

/* `in` and `out` are the descriptors. */
#define SLOW(Shape, kind, count, copies, in, out, offer, ...)              \
    do {                                                                   \
        int code = 0;                                                      \
        bool is_served = false;                                            \
        Lent sent, received;                                               \
        GC_Mpi_handle made = 0; /* a request, where there is one */        \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        (void)made;                                                        \
        if (core != NULL && lend(in, copies, &sent)) {                     \
            if (lend(out, copies, &received)) {                            \
                const void* const send = sent.buffer;                      \
                const void* const receive = received.buffer;               \
                (void)send;                                                \
                is_served = (offer) != 0;                                  \
                give_back(&received, is_served);                           \
            }                                                              \
            give_back(&sent, false);                                       \
        }                                                                  \
        F_END(Shape, is_served, __VA_ARGS__);                              \
    } while (0)

#define WRAPPER(MANGLINGS, lower, UPPER, kind, count, copies, in, out, PARAMETERS, ARGUMENTS, \
                offer)                                                                        \
    GC_DEFINE_CALL_AS(MANGLINGS, lower, UPPER, passes(kind, count), PARAMETERS, ARGUMENTS,    \
                      SLOW(Of_##lower, kind, count, copies, in, out, offer, GC_BARE ARGUMENTS))

/* Module mpi_f08 with counts of both widths, and module mpi. */
#define GC_ROW(KIND, name, lower, UPPER, SHAPE)                                                  \
    F_##SHAPE(GC_PLAIN_MANGLINGS, lower##_f08ts, UPPER##_F08TS, GC_CALL_##KIND, int)             \
        F_##SHAPE(GC_PLAIN_MANGLINGS, lower##_c_f08ts, UPPER##_C_F08TS, GC_CALL_##KIND, int64_t) \
            F_##SHAPE(GC_PLAIN_MANGLINGS, lower##_fts, UPPER##_FTS, GC_CALL_##KIND, int)
GC_COLLECTIVES_OF_MPI_4(GC_ROW)
#undef GC_ROW
