// observe/observe.hpp - the report, the trace and the live counters of this process: made at
// the first call if GC_REPORT, GC_TRACE or GC_TOP asks for them, written (the counters: gone) at
// the beginning of MPI_Finalize.
#pragma once

#include "base/mpi/mpi.hpp"
#include "report/link_use.hpp"
#include "report/report.hpp"
#include "runtime/trace.hpp"

namespace gradcoll {

/// Returns whether calls are to be recorded. Cheap: one load. Thread safe, as are all functions
/// here.
bool observing_calls();

/// Returns whether GC_REPORT asks for a report, also before MPI_Init.
bool report_is_wanted();
/// LinksWanted says who wants to know what calls put on links.
struct LinksWanted {
    /// It asks for the use by all ranks together, as this rank writes a report that draws it.
    bool of_all_ranks = false;
    bool of_this_rank = false;  ///< the use by this rank, for GC_TOP
    bool any() const { return of_all_ranks || of_this_rank; }
};
LinksWanted links_wanted();

/// Adds the call to the report, if there is one. `comm` may be unattached: it is known by an
/// attribute of its own, set without communication.
void observe_call(MPI_Comm comm, const CallRecord& call);
/// Counts calls on `twin` (a duplicate that outlives what happens on it) as calls on `comm` from
/// now on.
void observe_as(MPI_Comm twin, MPI_Comm comm);
/// Records the tree that `comm` got.
void observe_tree(MPI_Comm comm, std::string_view expression, std::string_view origin);
/// Records a codec that is left out; called once for each new shape of calls.
void observe_left_out(MPI_Comm comm, const CodecLeftOut& codec);
/// Records what one call put on links.
void observe_link_use(MPI_Comm comm, const LinkUse& of_one_call);
void observe_trial(MPI_Comm comm, const WayTrial& trial);
/// Records the figures of an engine that ends.
void observe_engine(MPI_Comm comm, const EngineFigures& engine);
void observe_error(MPI_Comm comm, std::uint64_t bytes, const SumError& error);

/// Returns the report of the process; null if GC_REPORT asks for none.
Report* process_report();
/// Returns the trace of the process; null if GC_TRACE is not set.
Trace* process_trace();

/// Writes the report as it stands (MPI_Pcontrol(2)), then goes on collecting.
void write_report_now();

/// Tells that all ranks of `comm` have a report, as each said in its attach. If they are the ranks
/// of MPI_COMM_WORLD, rank 0 gets the sums of all at the beginning of MPI_Finalize, because all
/// ranks are there then. Other communicators do not tell whether the remaining ranks have a report.
/// Local.
void all_ranks_report(MPI_Comm comm);

}  // namespace gradcoll
