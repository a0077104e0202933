// report/report.hpp - what the calls of this process did, added up by communicator and size: the
// report that GC_REPORT prints at the end. Knows no MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/snapshot.hpp"

namespace gradcoll {

/// A Report is thread safe.
class Report {
  public:
    /// A CommId is a communicator's number in the report.
    using CommId = std::uint32_t;

    explicit Report(ReportProcess process);
    ~Report();

    /// Adds a communicator that is seen for the first time. Those with the same name and size share
    /// an entry; a program may make thousands. Entries are bounded (256): what finds no room shares
    /// the last one, "other communicators".
    CommId add_comm(std::string_view name, int rank_count);
    /// Sets the tree as an expression, and where it came from, once the communicator is attached.
    void set_tree(CommId comm, std::string_view expression, std::string_view origin);
    /// Adds a call. It takes a lock and some additions, and allocates only for the first call of a
    /// kind and size on `comm`, and for a reason that is new there.
    void add_call(CommId comm, const CallRecord& call);
    /// Adds the comparison of a compressed call's result with the exact sums: largest absolute
    /// difference, and the relative L2 difference.
    void add_error(CommId comm, std::uint64_t bytes, const SumError& error);

    /// Adds an engine that has ended.
    void add_engine(CommId comm, const EngineFigures& engine);
    /// Adds a codec that was left out, once for a size, level and codec on each communicator.
    void add_left_out(CommId comm, const CodecLeftOut& codec);
    void add_trial(CommId comm, const WayTrial& trial);
    /// Adds what one more call put on the links of `tree` (by vertex). Trees of more than
    /// most_pictured_vertices are left out.
    void add_traffic(CommId comm, const Tree& tree, std::span<const LinkBytes> links);
    static constexpr int most_pictured_vertices = 4096;

    /// Adds the same call by the place of the program that it came from (an address).
    void add_site(std::uintptr_t site, const CallRecord& call);
    /// A SiteNames says how places are called; it is asked for those that are listed, whenever a
    /// report is written.
    using SiteNames = std::function<std::vector<std::string>(std::span<const std::uintptr_t>)>;
    void name_sites_by(SiteNames names);

    /// Sets the sums of all ranks of the job, once they are known.
    void set_ranks(std::vector<RankSums> ranks);

    /// Returns what was added up so far, as data; the functions below are its written forms.
    ReportSnapshot snapshot() const;
    std::string text() const { return report_text(snapshot()); }
    std::string json() const { return report_json(snapshot()); }
    std::string html() const { return report_html(snapshot()); }

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
