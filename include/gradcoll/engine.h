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
/* One gradient that was handed in. */
typedef struct GC_Handle_s* GC_Handle;
#define GC_HANDLE_NULL ((GC_Handle)0)

/* An engine for the ranks of `comm`, an intracommunicator. Collective. `info` (or MPI_INFO_NULL)
 * holds settings of this engine, over those of the process: gc_codec, gc_level_codecs, gc_feedback,
 * gc_engine_strategy, gc_engine_plan, gc_engine_threads, gc_engine_bytes, gc_engine_pack_bytes, ...
 * (docs/settings.md); all ranks pass the same. Errors: MPI_ERR_COMM; MPI_ERR_ARG for a setting, or
 * if `engine` is null.
 *
 * With MPI_THREAD_MULTIPLE on all ranks a thread of the engine moves messages, and the program may
 * do what it likes meanwhile. Without, calls of this page on the engine do, and nothing else: then
 * wait or test now and then. Local work (encode, decode, add) is done by further threads
 * (gc_engine_threads) either way. */
int GC_Engine_create(MPI_Comm comm, MPI_Info info, GC_Engine* engine);

/* Hands in a gradient: the sum (or another `op`) of `sendbuf` over all ranks is to come to
 * `recvbuf`; MPI_IN_PLACE allowed. `name` says which gradient it is: 1 to 255 bytes, the same on
 * all ranks, in whatever order each rank hands in. Never waits for other ranks. Of what all ranks
 * have handed in, that of the highest `priority` (of any rank) begins first. The buffers are the
 * library's until the handle is complete, and may be memory of a device, as those of GC_Allreduce:
 * that is copied to the host and back. Types and ops that the library does not serve are summed
 * by the MPI library, in the same order.
 *
 * Every rank ends with the same bits. Codecs compress where they pay (gc_compress_if), with error
 * feedback, unless gc_feedback is off: what this rank's encoders drop of a gradient is kept by its
 * name and added in its next sum. One of another count or type begins with zeros. gc_tolerance is
 * refused.
 *
 * Errors: MPI_ERR_ARG for a null engine, name or handle, a name that is too long, or one that is
 * handed in and whose handle has not been completed by a wait or test; those of GC_Allreduce for
 * the other arguments. Ranks that hand in other counts, types, ops or codecs under one name all
 * learn it from the handle: MPI_ERR_ARG, and the message names two ranks and what they have. A
 * gradient that some ranks have not handed in after gc_engine_stall_seconds is named in a warning
 * of rank 0, with those ranks; the others go on waiting. Thread safe. */
int GC_Submit(GC_Engine engine, const char* name, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, int priority, GC_Handle* handle);

/* What was dropped of the gradient of that name, to save, restore, scale or reset (residual.h)
 * while it is not handed in; zeros if it has not been handed in yet, so that a checkpoint can be
 * restored before. `count` and `datatype` are those that it is handed in with. Without values where
 * another rank of the host encodes for this one. GC_RESIDUAL_NULL if its sums are exact, or without
 * feedback. Belongs to the engine. Local. Errors: MPI_ERR_ARG for a
 * null engine, name or residual, a name that is handed in, or one whose residual is of another
 * count or type; MPI_ERR_COUNT, MPI_ERR_TYPE. */
int GC_Engine_get_residual(GC_Engine engine, const char* name, MPI_Count count,
                           MPI_Datatype datatype, GC_Residual* residual);

/* Completion, as of an MPI request: GC_Handle_wait returns when the result is there, GC_Handle_test
 * says so (`*flag` 1 or 0) and never waits. Then `*handle` becomes GC_HANDLE_NULL, and what went
 * wrong is returned once. A null handle is complete. Thread safe for different handles. Errors:
 * MPI_ERR_ARG for null pointers; those of the sum. */
int GC_Handle_wait(GC_Handle* handle);
int GC_Handle_test(GC_Handle* handle, int* flag);
/* All, also if one fails. Errors: the first failure in the order of the array; MPI_ERR_COUNT if
 * `count` is negative. */
int GC_Handle_waitall(int count, GC_Handle handles[]);

/* Returns when all that this rank handed in before has ended; handles stay. Errors: MPI_ERR_ARG for
 * a null engine. */
int GC_Engine_flush(GC_Engine engine);

/* What this rank's sums have sent so far (inspect.h). Local; sums under way may be in it or not.
 * Errors: MPI_ERR_ARG for null pointers. */
int GC_Engine_get_stats(GC_Engine engine, GC_Stats* stats);

/* Ends the engine, before its communicator is freed; `*engine` becomes GC_ENGINE_NULL. Collective.
 * Handles of gradients that have ended go with it. Errors: MPI_ERR_ARG if the pointer or the engine
 * is null, or while gradients are under way on this rank: then the engine goes on. */
int GC_Engine_free(GC_Engine* engine);

#ifdef __cplusplus
}
#endif
#endif
