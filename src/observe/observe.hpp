// observe/observe.hpp - the report, the trace and the live counters of this process: made at
// the first call if GC_REPORT, GC_TRACE or GC_TOP asks for them, written (the counters: gone) at
// the beginning of MPI_Finalize.
#pragma once

#include <optional>

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
/// Records what one call put on links.
void observe_link_use(MPI_Comm comm, const LinkUse& of_one_call);

/// A ReportEntry is where the report has what it says of a communicator.
struct ReportEntry {
    Report& report;
    Report::CommId comm;
};
/// Returns nothing if there is no report. Local.
std::optional<ReportEntry> report_entry(MPI_Comm comm);

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
