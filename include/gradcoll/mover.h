/* gradcoll/mover.h - carries out a plan of `gradcoll move`: tensors leave the device after the
 * operator that used them last, and are back before the one that needs them, while the program
 * computes. The device is a GPU, or it is plain memory with a link of a given rate: the plan is the
 * same, and real bytes move (docs/mover.md). */
#ifndef GRADCOLL_MOVER_H
#define GRADCOLL_MOVER_H

#include <mpi.h>

#include <gradcoll/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GC_Mover_s* GC_Mover;
#define GC_MOVER_NULL ((GC_Mover)0)

/* Makes a mover for one device of pipeline rank `pipeline_rank` of the plan in the file `path`,
 * which `gradcoll move --out FILE.json` has written. Collective over `comm`, an intracommunicator:
 * rank 0 reads the file and sends it to the others, which need not have it; each rank says which
 * pipeline rank it is. The plan is checked. The pool in the host is allocated here. The memory of a
 * tensor that stays (parameters, gradients, optimizer) is allocated, and set to zero, when the
 * tensor first moves or is asked for, so that it costs nothing in a program that has its own.
 * `comm` must live as long as the mover. Errors: MPI_ERR_COMM; on all ranks MPI_ERR_IO if rank 0
 * cannot read the file, and MPI_ERR_ARG if it is no plan, or a wrong one; on one rank MPI_ERR_ARG
 * for its own arguments, and MPI_ERR_NO_MEM. Errors of the other calls are raised on `comm`, too,
 * and on MPI_COMM_WORLD for a null mover; a null mover or pointer is MPI_ERR_ARG. */
int GC_Mover_create(MPI_Comm comm, const char* path, int pipeline_rank, GC_Mover* mover);

/* Makes a mover as GC_Mover_create does, in memory of the device (CUDA) that is current on the
 * calling thread. Two streams of the mover's own move bytes, as fast as the link is, to and from a
 * pinned pool. Operators put their work on `stream` (a cudaStream_t; null: the default stream);
 * GC_Mover_op_end returns when that work has ended. GC_Mover_get_data returns a pointer to device
 * memory, except for tensors that are in the host at that time. Errors: those of GC_Mover_create,
 * and on one rank MPI_ERR_UNSUPPORTED_OPERATION where there is no device. */
int GC_Mover_create_on_device(MPI_Comm comm, const char* path, int pipeline_rank, void* stream,
                              GC_Mover* mover);

/* Returns how many operators and tensors the plan has; they are numbered from 0. */
int GC_Mover_count(GC_Mover mover, int* operators, int* tensors);

/* A GC_Mover_operator describes an operator of the plan, and when it ran in the last step; times
 * are in microseconds since the step began. `kind` is "forward", "recompute", "backward", "reduce"
 * or "update"; texts are the library's and live as long as the mover. `micro_batch` is -1 for an
 * operator of all micro-batches. */
typedef struct GC_Mover_operator {
    const char* kind;
    const char* layer;
    int part;
    int micro_batch;
    double planned_begin_us, planned_end_us;
    double measured_begin_us, measured_end_us;
} GC_Mover_operator;
int GC_Mover_get_operator(GC_Mover mover, int op, GC_Mover_operator* out);

/* A GC_Mover_tensor describes a tensor of the plan. One that stays exists from step to step;
 * operator `first_use` makes any other, and it is gone after `last_use`. Both are -1 if no operator
 * uses it. `moves` says whether the plan moves it; a new plan may say otherwise. A tensor that does
 * not move is counted, and takes memory when GC_Mover_get_data asks for it: a program may as well
 * keep its bytes where they are. */
typedef struct GC_Mover_tensor {
    const char* kind;
    const char* layer;
    const char* name;
    int micro_batch;
    MPI_Count bytes;
    int stays;
    int first_use, last_use;
    int moves;
} GC_Mover_tensor;
int GC_Mover_get_tensor(GC_Mover mover, int tensor, GC_Mover_tensor* out);

/* Run a training step. Operators begin and end one after the other, in the order of their numbers.
 * GC_Mover_op_begin returns when the tensors that the operator uses are in the device and there is
 * memory for those that it makes: at once if the program is as fast as the plan says, otherwise
 * after a wait that is counted. After GC_Mover_step_end what lives in the host may still be on its
 * way there, beside the next step. Only one thread at a time may call them. Errors: MPI_ERR_ARG for
 * an operator that is not next; MPI_ERR_NO_MEM if the process gets no memory, after which the mover
 * can only be freed. */
int GC_Mover_step_begin(GC_Mover mover);
int GC_Mover_op_begin(GC_Mover mover, int op);
int GC_Mover_op_end(GC_Mover mover, int op);
int GC_Mover_step_end(GC_Mover mover);

/* Makes the mover plan again when measured times differ from the plan: if the times of a step's
 * operators, or of its moves, differ by more than `share` of the planned ones in all (0.2: a fifth)
 * on any rank, rank 0 plans with the measured times and sends the plan, which the next step
 * follows. GC_Mover_step_begin is then collective over the mover's communicator; so all ranks make
 * this call, with the same share, before the same step. A share of 0 turns it off. A tensor that
 * stays keeps its bytes, but may be in another place: ask GC_Mover_get_data. If the measured times
 * allow no plan, the old one stays in use, and rank 0 warns. Errors: MPI_ERR_ARG for a share that
 * is negative or not a number. */
int GC_Mover_set_drift(GC_Mover mover, double share);

/* Returns where a tensor is. The address is valid between GC_Mover_op_begin and GC_Mover_op_end of
 * an operator that uses the tensor, and may differ next time; between steps, until the next one
 * begins, it is valid for tensors that stay, and the call waits for moves under way. The content of
 * a tensor that does not stay is undefined at its first use. Errors: MPI_ERR_ARG for any other
 * tensor. */
int GC_Mover_get_data(GC_Mover mover, int tensor, void** data);

/* Returns where a tensor is while the last operator that uses it runs, and leaves that memory to
 * the program, which calls free() on it; so what the program makes may look into it without a copy.
 * It counts as the tensor's memory until the operator has ended. Errors: those of
 * GC_Mover_get_data; MPI_ERR_ARG for an operator that is not the last;
 * MPI_ERR_UNSUPPORTED_OPERATION for a mover on a device. */
int GC_Mover_take_data(GC_Mover mover, int tensor, void** data);

/* GC_Mover_stats holds figures of the last step. `overlap` is the part of the moves' time that no
 * operator waited for, 0 to 1. Waits occur where the plan was wrong, or plans them itself
 * (planned_step_us includes those). */
typedef struct GC_Mover_stats {
    MPI_Count steps;       /* steps that have ended */
    MPI_Count moves;       /* tensors that left and came back */
    MPI_Count moved_bytes; /* bytes moved, both ways together */
    double moving_us;      /* time of the moves, both directions together */
    double overlap;
    MPI_Count waits_for_tensors, waits_for_memory; /* operators that had to wait */
    double waited_for_tensors_us, waited_for_memory_us;
    double longest_wait_us;
    int longest_wait_of; /* the operator that waited longest; -1: none */
    double planned_step_us, measured_step_us;
    MPI_Count device_bytes; /* bytes that the device may hold */
    MPI_Count peak_bytes;   /* the most that tensors took in the device at once, over all steps */
    MPI_Count pool_bytes;   /* bytes of the pool in the host */
    MPI_Count replans;      /* plans that were made and taken since the first */
    double
        drift; /* the share (GC_Mover_set_drift) by which this rank's times differed in that step */
} GC_Mover_stats;
int GC_Mover_get_stats(GC_Mover mover, GC_Mover_stats* stats);

/* Frees the mover after moves under way have ended; `*mover` becomes GC_MOVER_NULL. Local. Errors:
 * MPI_ERR_ARG if the pointer or the mover is null. */
int GC_Mover_free(GC_Mover* mover);

#ifdef __cplusplus
}
#endif
#endif
