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

/// Thread safe.
class Report {
  public:
    /// A communicator's number in the report.
    using CommId = std::uint32_t;

    explicit Report(ReportProcess process);
    ~Report();

    /// A communicator that is seen for the first time. Those with the same name and size share an
    /// entry; a program may make thousands. Entries are bounded (256): what finds no room shares
    /// the last one, "other communicators".
    CommId add_comm(std::string_view name, int rank_count);
    /// Once it is attached: the tree as an expression, and where it came from.
    void set_tree(CommId comm, std::string_view expression, std::string_view origin);
    /// A lock and some additions; allocates only for the first call of a kind and size on `comm`,
    /// and for a reason that is new there.
    void add_call(CommId comm, const CallRecord& call);
    /// A compressed call's result compared with the exact sums: largest absolute difference, and
    /// the relative L2 difference.
    void add_error(CommId comm, std::uint64_t bytes, const SumError& error);

    /// Of an engine that has ended.
    void add_engine(CommId comm, const EngineFigures& engine);
    /// Once for a size, level and codec on each communicator.
    void add_left_out(CommId comm, const CodecLeftOut& codec);
    void add_trial(CommId comm, const WayTrial& trial);
    /// What one more call put on the links of `tree` (by vertex). Trees of more than
    /// most_pictured_vertices are left out.
    void add_traffic(CommId comm, const Tree& tree, std::span<const LinkBytes> links);
    static constexpr int most_pictured_vertices = 4096;

    /// The same call by the place of the program that it came from (an address).
    void add_site(std::uintptr_t site, const CallRecord& call);
    /// How places are called; asked for those that are listed, whenever a report is written.
    using SiteNames = std::function<std::vector<std::string>(std::span<const std::uintptr_t>)>;
    void name_sites_by(SiteNames names);

    /// Of all ranks of the job, once they are known.
    void set_ranks(std::vector<RankSums> ranks);

    /// What was added up so far, as data and in its written forms.
    ReportSnapshot snapshot() const;
    std::string text() const { return report_text(snapshot()); }
    std::string json() const { return report_json(snapshot()); }
    std::string html() const { return report_html(snapshot()); }

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
