/* gradcoll/mover.h - carries out a plan of `gc_plan move`: tensors leave the device after the
 * operator that used them last, and are back before the one that needs them, while the program
 * computes. On a GPU; or the device is plain memory and its link a rate: the same plan, with real
 * bytes (docs/mover.md). */
#ifndef GRADCOLL_MOVER_H
#define GRADCOLL_MOVER_H

#include <mpi.h>

#include <gradcoll/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GC_Mover_s* GC_Mover;
#define GC_MOVER_NULL ((GC_Mover)0)

/* A mover for one device of pipeline rank `pipeline_rank` of the plan in the file `path`, which
 * `gc_plan move --out FILE.json` has written. Collective over `comm`, an intracommunicator: rank 0
 * reads the file and sends it to the others, so it need not be there for them; each rank says which
 * pipeline rank it is. The plan is checked. Takes the pool in the host; a tensor that stays
 * (parameters, gradients, optimizer) takes its memory, zeros, when it moves or is asked for first,
 * so that a program that has its own costs nothing. `comm` lives as long as the mover. Errors:
 * MPI_ERR_COMM; on all ranks MPI_ERR_IO if rank 0 cannot read the file, and MPI_ERR_ARG if it is no
 * plan, or a wrong one; on one rank MPI_ERR_ARG for its own arguments, and MPI_ERR_NO_MEM. Errors
 * of the other calls are raised on `comm`, too, and on MPI_COMM_WORLD for a null mover; a null
 * mover or pointer is MPI_ERR_ARG. */
int GC_Mover_create(MPI_Comm comm, const char* path, int pipeline_rank, GC_Mover* mover);

/* The same in memory of a device (CUDA): the one that the calling thread would use now. Two streams
 * of the mover's own move bytes, as fast as the link is, to and from a pinned pool. Operators put
 * their work on `stream` (a cudaStream_t; null: the default stream); GC_Mover_op_end returns when
 * it has ended there. GC_Mover_get_data is a pointer to the device, but for tensors that are in the
 * host then. Errors: as above, and on one rank MPI_ERR_UNSUPPORTED_OPERATION where there is no
 * device. */
int GC_Mover_create_on_device(MPI_Comm comm, const char* path, int pipeline_rank, void* stream,
                              GC_Mover* mover);

/* Operators and tensors have the plan's numbers, from 0 on. */
int GC_Mover_count(GC_Mover mover, int* operators, int* tensors);

/* An operator of the plan, and when it ran in the last step; times in microseconds since the step
 * began. `kind` is "forward", "recompute", "backward", "reduce" or "update"; texts are the
 * library's and live as long as the mover. micro_batch -1: of all. */
typedef struct GC_Mover_operator {
    const char* kind;
    const char* layer;
    int part;
    int micro_batch;
    double planned_begin_us, planned_end_us;
    double measured_begin_us, measured_end_us;
} GC_Mover_operator;
int GC_Mover_get_operator(GC_Mover mover, int op, GC_Mover_operator* out);

/* A tensor of the plan. One that stays is there from step to step; others are made by operator
 * `first_use`, and gone after `last_use`. -1: no operator uses it. */
typedef struct GC_Mover_tensor {
    const char* kind;
    const char* layer;
    const char* name;
    int micro_batch;
    MPI_Count bytes;
    int stays;
    int first_use, last_use;
} GC_Mover_tensor;
int GC_Mover_get_tensor(GC_Mover mover, int tensor, GC_Mover_tensor* out);

/* A training step. Operators begin and end one after the other, in the order of their numbers.
 * GC_Mover_op_begin returns when the tensors that it uses are in the device and there is memory for
 * those that it makes: at once where the program is as fast as the plan says, and otherwise a wait
 * that is counted. GC_Mover_step_end returns when the last moves have ended. One thread at a time.
 * Errors: MPI_ERR_ARG for what is not next; MPI_ERR_NO_MEM if the process gets no memory, then the
 * mover can only be freed. */
int GC_Mover_step_begin(GC_Mover mover);
int GC_Mover_op_begin(GC_Mover mover, int op);
int GC_Mover_op_end(GC_Mover mover, int op);
int GC_Mover_step_end(GC_Mover mover);

/* From now on the mover plans again where times are not as planned: when operators of a step, or
 * its moves, took times that differ by more than `share` of the planned ones in all (0.2: a fifth)
 * on any rank, rank 0 plans with the measured times and sends the plan, which the next step
 * follows. GC_Mover_step_begin is then collective over the mover's communicator; so all ranks call
 * this, with the same share, before the same step. 0: no more. What stays keeps its bytes, but may
 * be in another place: ask GC_Mover_get_data. Where the measured times allow no plan, the old one
 * goes on, and rank 0 warns. Errors: MPI_ERR_ARG for a share below 0, or that is no number. */
int GC_Mover_set_drift(GC_Mover mover, double share);

/* Where a tensor is, for the operator between GC_Mover_op_begin and GC_Mover_op_end that uses it:
 * next time it may be somewhere else. Between steps those that stay. What the first use finds in a
 * tensor that does not stay is not defined. Errors: MPI_ERR_ARG for another tensor. */
int GC_Mover_get_data(GC_Mover mover, int tensor, void** data);

/* Of the last step. The part of the moves' time that no operator waited for is `overlap`, 0 to 1.
 * Waits are there where the plan was wrong, or says so itself (planned_step_us has its waits). */
typedef struct GC_Mover_stats {
    MPI_Count steps;       /* that have ended */
    MPI_Count moves;       /* tensors that left and came back */
    MPI_Count moved_bytes; /* both ways */
    double moving_us;      /* of both directions together */
    double overlap;
    MPI_Count waits_for_tensors, waits_for_memory; /* operators that had to wait */
    double waited_for_tensors_us, waited_for_memory_us;
    double longest_wait_us;
    int longest_wait_of; /* operator; -1: none */
    double planned_step_us, measured_step_us;
    MPI_Count device_bytes; /* that the device may hold */
    MPI_Count peak_bytes;   /* most that tensors took in it at once, of all steps */
    MPI_Count pool_bytes;   /* in the host */
    MPI_Count replans;      /* plans that were made and taken since the first */
    double drift;           /* of this rank in that step: the share of GC_Mover_set_drift */
} GC_Mover_stats;
int GC_Mover_get_stats(GC_Mover mover, GC_Mover_stats* stats);

/* Local. Moves under way are ended first; `*mover` becomes GC_MOVER_NULL. Errors: MPI_ERR_ARG if
 * the pointer or the mover is null. */
int GC_Mover_free(GC_Mover* mover);

#ifdef __cplusplus
}
#endif
#endif
