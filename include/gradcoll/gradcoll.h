/* gradcoll/gradcoll.h - the whole public C API of Gradcoll (C99 and C++).
 *
 * GC_Allreduce replaces MPI_Allreduce: it reduces over the tree of the machine (hosts, packages,
 * NUMA nodes, caches, however lopsided) and can compress inside each hop. Without a codec the
 * result is what MPI promises; with one (an opt-in, per communicator, per request or by
 * environment) sums of floating-point vectors become approximate, and still end with the same bits
 * on every rank.
 *
 * Errors. Every call returns MPI_SUCCESS or an MPI error code, after calling the communicator's
 * error handler with it (MPI_ERRORS_ARE_FATAL, MPI's default, therefore aborts). MPI_Error_class
 * gives its class, which each call documents, and MPI_Error_string the reason: it names the
 * argument, its value and what is allowed. There is one code for each class, so that it says what
 * failed last with that class in the process. GC_Error_string gives the full message of the last
 * error of the calling thread, also where the MPI library has no texts for codes that are added to
 * its classes (MPICH 4.0) and the code is the class itself. If a rank has died while others live
 * on, every call on its communicators is an error of one class: MPIX_ERR_PROC_FAILED where the MPI
 * library has it, else one that is made for it (MPI_Add_error_class).
 *
 * Threads. As for MPI: any thread may call if MPI was initialised with MPI_THREAD_MULTIPLE, and
 * collective calls on one communicator must be ordered by the caller. Different communicators never
 * wait for each other.
 *
 * Life. Nothing to initialise: the state of a communicator is made by the first blocking collective
 * GC_ call on it (or GC_Comm_attach) and freed with it. No GC_ call may be made before MPI_Init or
 * after MPI_Finalize.
 *
 * Ownership. Buffers and communicators stay the caller's. Handles (GC_Request, GC_Residual,
 * GC_Engine, GC_Mover) are freed by their own calls, before their communicator.
 */
#ifndef GRADCOLL_GRADCOLL_H
#define GRADCOLL_GRADCOLL_H

#include <gradcoll/base.h>
#include <gradcoll/collectives.h>
#include <gradcoll/engine.h>
#include <gradcoll/inspect.h>
#include <gradcoll/mover.h>
#include <gradcoll/persistent.h>
#include <gradcoll/residual.h>
#include <gradcoll/settings.h>

#endif
