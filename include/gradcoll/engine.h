/* gradcoll/engine.h - sums of named gradients that a program hands in as they come: in any order,
 * and while it goes on computing. Transfer of one gradient hides the encoding and adding of
 * another. Source: Bai et al., "Gradient Compression Supercharged High-Performance Data Parallel
 * DNN Training", SOSP 2021. */
#ifndef GRADCOLL_ENGINE_H
#define GRADCOLL_ENGINE_H

#include <mpi.h>

#include <gradcoll/inspect.h>
#include <gradcoll/residual.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GC_Engine_s* GC_Engine;
#define GC_ENGINE_NULL ((GC_Engine)0)
/* A GC_Handle stands for one gradient that was handed in. */
typedef struct GC_Handle_s* GC_Handle;
#define GC_HANDLE_NULL ((GC_Handle)0)

/* Makes an engine for the ranks of `comm`, an intracommunicator. Collective. `info` (or
 * MPI_INFO_NULL) holds settings of this engine, which override those of the process: gc_codec,
 * gc_feedback, gc_engine ("ring,threads=2"), gc_engine_plan, ...
 * (docs/settings.md); all ranks pass the same. Errors: MPI_ERR_COMM; MPI_ERR_ARG for a setting, or
 * if `engine` is null.
 *
 * With gc_fault=survive all ranks that live have one answer on each sum, where they can agree
 * (docs/reliability.md): its handles complete on all of them, or have the error that names the dead
 * on all of them. Then GC_Engine_reconfigure goes on.
 *
 * If all ranks have MPI_THREAD_MULTIPLE, a thread of the engine moves messages, and the program may
 * do what it likes meanwhile. Otherwise only the calls of this header on the engine move messages:
 * the program must then wait or test now and then. In both cases further threads
 * (threads= in gc_engine) do the local work (encode, decode, add). */
int GC_Engine_create(MPI_Comm comm, MPI_Info info, GC_Engine* engine);

/* Hands in a gradient: the engine computes the sum (or another `op`) of `sendbuf` over all ranks
 * into `recvbuf`; MPI_IN_PLACE is allowed. `name` identifies the gradient: 1 to 255 bytes, the same
 * on all ranks; each rank may hand in its gradients in any order. The call never waits for other
 * ranks. Among the gradients that all ranks have handed in, the one of the highest `priority` (of
 * any rank) begins first. The buffers are the library's until the handle is complete, and may be in
 * device memory, as those of GC_Allreduce: the data is copied to the host and back. Types and ops
 * that the library does not serve are summed by the MPI library, in the same order.
 *
 * Every rank ends with the same bits. Codecs compress where they pay (gc_compress_if), with error
 * feedback unless gc_feedback is off: what this rank's encoders drop of a gradient is kept under
 * its name and added to its next sum. A gradient whose count or type has changed begins with zeros.
 * gc_tolerance is refused.
 *
 * Errors: MPI_ERR_ARG for a null engine, name or handle, a name that is too long, or one that is
 * handed in and whose handle has not been completed by a wait or test; those of GC_Allreduce for
 * the other arguments. If ranks hand in different counts, types, ops or codecs under one name, the
 * handle of each rank returns MPI_ERR_ARG, and the message names two ranks and their values. If
 * some ranks have not handed in a gradient after stall= in gc_engine, rank 0 prints a warning
 * that names the gradient and those ranks; the others go on waiting. Thread safe. */
int GC_Submit(GC_Engine engine, const char* name, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, int priority, GC_Handle* handle);

/* Returns the residual (residual.h) of the gradient of that name, to save, restore, scale or reset
 * while the gradient is not handed in. It holds zeros if the gradient has not been handed in yet,
 * so that a checkpoint can be restored before. `count` and `datatype` are those that the gradient
 * is handed in with. The residual holds no values where another rank of the host encodes for this
 * one; it is GC_RESIDUAL_NULL if the gradient's sums are exact, or without feedback. It belongs to
 * the engine. Local. Errors: MPI_ERR_ARG for a null engine, name or residual, a name that is handed
 * in, or one whose residual is of another count or type; MPI_ERR_COUNT, MPI_ERR_TYPE. */
int GC_Engine_get_residual(GC_Engine engine, const char* name, MPI_Count count,
                           MPI_Datatype datatype, GC_Residual* residual);

/* Complete a handle as MPI completes a request: GC_Handle_wait returns when the result is there;
 * GC_Handle_test sets `*flag` to 1 if it is, else to 0, and never waits. On completion `*handle`
 * becomes GC_HANDLE_NULL, and an error of the sum is returned once. A null handle is complete.
 * Thread safe for different handles. Errors: MPI_ERR_ARG for null pointers; those of the sum. */
int GC_Handle_wait(GC_Handle* handle);
int GC_Handle_test(GC_Handle* handle, int* flag);
/* Waits for all handles, even if one fails. Errors: the first failure in the order of the array;
 * MPI_ERR_COUNT if `count` is negative. */
int GC_Handle_waitall(int count, GC_Handle handles[]);

/* Returns when all sums that this rank handed in before have ended; their handles stay valid.
 * Errors: MPI_ERR_ARG for a null engine. */
int GC_Engine_flush(GC_Engine engine);

/* Returns what this rank's sums have sent so far (inspect.h). Local; sums under way may or may not
 * be counted. Errors: MPI_ERR_ARG for null pointers. */
int GC_Engine_get_stats(GC_Engine engine, GC_Stats* stats);

/* Lets the engine go on with the ranks of `newcomm`, an intracommunicator, such as GC_Comm_shrink
 * makes once a rank has died, or one with more ranks. Collective over `newcomm`; a rank that has no
 * engine yet takes part by GC_Engine_create with the same settings. The engine keeps its settings
 * (a gc_topology that names ranks becomes auto), its counters, and by name what this rank's
 * encoders have dropped, which the next sum of that name, count and type adds, in its receive
 * buffer; residuals that the program has of it stay, with a value for each element until then.
 * Values that were restored and in no sum since are zeros. All else it had for its communicator
 * ends: sums under way on other ranks must have ended, too. The communicator of before may then be
 * freed. A sum that failed may have changed its result buffer, and is handed in anew. Errors, on
 * all ranks: those of GC_Engine_create; MPI_ERR_ARG if a rank has handles that are not complete.
 * The engine is then as it was, or if its new communicator could not be used, ended: it may be
 * reconfigured again, or freed. MPI_ERR_ARG for a null engine, of that rank alone. */
int GC_Engine_reconfigure(GC_Engine engine, MPI_Comm newcomm);

/* Ends the engine, before its communicator is freed; `*engine` becomes GC_ENGINE_NULL. Collective.
 * Handles of gradients that have ended are freed with it. Errors: MPI_ERR_ARG if the pointer or the
 * engine is null, or on all ranks if one of them has gradients under way: the engine then stays. An
 * engine that has failed is freed on all ranks, once what they have under way has ended. */
int GC_Engine_free(GC_Engine* engine);

#ifdef __cplusplus
}
#endif
#endif
