/* gradcoll/settings.h - sets and reads the settings of a communicator; docs/settings.md has the
 * table of all settings. Order of precedence: argument of the call > info of the request > these
 * calls and info keys > GC_* variables > default. */
#ifndef GRADCOLL_SETTINGS_H
#define GRADCOLL_SETTINGS_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All calls here except GC_Comm_shrink, GC_Comm_set_stream, GC_Step and GC_Comm_get_option are
 * collective over `comm` (which gets attached) and compare the values across ranks: if they differ,
 * or one is not allowed, nothing changes and every rank returns MPI_ERR_ARG with a message naming
 * the setting and the ranks. */

/* Makes the communicator's state (tree, private duplicate) now, so that the first collective need
 * not. Between three hosts and more whose network neither anybody has told of nor an earlier job
 * has measured, it also measures the network now, while the ranks do nothing else: for some tenths
 * of a second, at most for three seconds. Long calls would find out little by little. With GC_TUNE
 * other than online, or a GC_TOPOLOGY that was set, nothing is measured. */
int GC_Comm_attach(MPI_Comm comm);

/* Makes a communicator of the ranks of `comm` that live, in their order, once another one has died.
 * Ends all use of `comm`: calls of other ranks on it end with an error, and all that is left is to
 * complete requests, free engines, and MPI_Comm_free (not of MPI_COMM_WORLD). Collective over the
 * ranks that live, which may also call it while nobody has died. `newcomm` gets the name and the
 * error handler of `comm`, and if that was attached, its settings and step, with a tree, plans and
 * memory of its own; a gc_topology that names ranks becomes auto. Requests and residuals are made
 * anew; GC_Residual_hand_over keeps what encoders have dropped. Sums of engines that have a dead
 * rank end first; GC_Engine_reconfigure goes on with these. The caller frees `newcomm`. One thread
 * calls, as with other collective calls on `comm`. Errors: MPI_ERR_UNSUPPORTED_OPERATION if the MPI
 * library has no ULFM (Open MPI 5 has it, MPICH and Intel MPI a part of it); MPI_ERR_ARG,
 * MPI_ERR_COMM; what another rank's death while `newcomm` is attached leads to. `newcomm` is
 * MPI_COMM_NULL then. */
int GC_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);

/* Sets the codec of every hop from now on: "exact", "2:4", "int8" or another of GC_LIST_CODECS
 * (which gradcoll info prints), or several by level or kind of link: gc_codec without its parts.
 * Calls that cannot be compressed (integers, ops other than MPI_SUM, sizes outside
 * gc_compress_bytes) stay exact. */
int GC_Comm_set_codec(MPI_Comm comm, const char* codec);

/* Sets the codec by training step: "0:4:4,500:2:4,5000:1:4" (step:codec, steps increasing, the
 * first is 0). */
int GC_Comm_set_schedule(MPI_Comm comm, const char* schedule);
/* Sets the step (0 and more) that the communicator's schedule is at: the calls that follow use its
 * codec, until the next GC_Step, or until calls have advanced the step (every= in gc_codec, which
 * counts on from here). Does nothing without a schedule. Persistent requests have steps of their
 * own. If the communicator is not attached, the call attaches it, which is collective. Otherwise it
 * is local, and then all ranks must set the same step before their next collective: ranks at steps
 * with different codecs make different plans, whose messages do not fit. Errors: MPI_ERR_ARG if
 * negative, MPI_ERR_COMM. */
int GC_Step(MPI_Comm comm, long long step);

/* Sets any setting by its info key ("gc_compress_bytes", "256K"). Of a setting with parts
 * ("gc_engine", "threads=2") it sets those that the value names. */
int GC_Comm_set_option(MPI_Comm comm, const char* key, const char* value);
/* Sets all gc_* keys of an info object; other keys are ignored, unknown gc_* keys are an error. */
int GC_Comm_set_info(MPI_Comm comm, MPI_Info info);
/* Sets the stream (a cudaStream_t) that fills and reads the device memory of later GC_Allreduce
 * calls on `comm`, blocking, nonblocking and persistent. They begin after all work that the stream
 * has been given by then, and their own work has ended when they return (or are complete). NULL,
 * the initial value, is the legacy default stream. Local once the communicator is attached. Errors:
 * MPI_ERR_UNSUPPORTED_OPERATION if no device can be used, saying why. The stream must live until
 * the next call of this function, or as long as the communicator. */
int GC_Comm_set_stream(MPI_Comm comm, void* stream);

/* Returns the value in force. Local. `value` holds `size` bytes; a longer text is cut. `length`
 * (may be NULL) gets the full length. */
int GC_Comm_get_option(MPI_Comm comm, const char* key, char* value, int size, int* length);

#ifdef __cplusplus
}
#endif
#endif
