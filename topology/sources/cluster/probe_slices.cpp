#include "topology/sources/cluster/probe_slices.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "topology/probe/cache.hpp"
#include "topology/probe/measured_switches.hpp"
#include "topology/sources/cluster/exchange.hpp"

namespace gradcoll {
namespace {

constexpr ProbeEffort effort = ProbeEffort::quick;
/// The caller of the slices limits the time.
constexpr std::uint64_t no_limit_ns = std::numeric_limits<std::uint64_t>::max() / 2;

/// SliceTime says when a slice has lasted long enough: it assumes that the next round takes as long
/// as the last.
class SliceTime {
  public:
    explicit SliceTime(std::uint64_t allowed_ns)
        : last_ns_(now_ns()), end_ns_(last_ns_ + allowed_ns) {}

    bool has_another_round() {
        const std::uint64_t now = now_ns();
        const std::uint64_t round_ns = now - std::exchange(last_ns_, now);
        return std::exchange(is_first_, false) || now + round_ns <= end_ns_;
    }

  private:
    std::uint64_t last_ns_;
    std::uint64_t end_ns_;
    bool is_first_ = true;
};

/// News is what all ranks learn of a slice.
enum class News : std::uint64_t { a_break, tree, disturbed, trouble };

News news_of(const Result<MeasuredTree>& measured, bool has_break) {
    if (measured.ok()) return measured->disturbed ? News::disturbed : News::tree;
    return has_break ? News::a_break : News::trouble;
}

}  // namespace

Result<std::unique_ptr<ProbeSlices>> ProbeSlices::make(MPI_Comm comm,
                                                       std::vector<ProbeHost> hosts) {
    OwnedComm own;
    int rank = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(comm, &own.handle), "MPI_Comm_dup"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_errhandler(own.handle, MPI_ERRORS_RETURN),
                          "MPI_Comm_set_errhandler"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(own.handle, &rank), "MPI_Comm_rank"));
    return std::unique_ptr<ProbeSlices>(new ProbeSlices(std::move(own), rank, std::move(hosts)));
}

ProbeSlices::ProbeSlices(OwnedComm comm, int rank, std::vector<ProbeHost> hosts)
    : comm_(std::move(comm)), rank_(rank), hosts_(std::move(hosts)) {
    measures_ = std::any_of(hosts_.begin(), hosts_.end(),
                            [&](const ProbeHost& host) { return host.lowest_rank == rank_; });
    if (rank_ != 0) return;
    for (const ProbeHost& host : hosts_) names_.push_back(host.name);
    begin_anew();
}

void ProbeSlices::begin_anew() {
    std::vector<int> ranks;
    for (const ProbeHost& host : hosts_) ranks.push_back(host.lowest_rank);
    ruler_ = std::make_unique<MpiRuler>(comm_.handle, std::move(ranks), effort, no_limit_ns);
    slow_ = std::make_unique<SlowRuler>(*ruler_);
}

Result<MeasuredTree> ProbeSlices::on_rank_0(std::uint64_t allowed_ns) {
    SliceTime time(allowed_ns);
    slow_->start([&](Signal) { return time.has_another_round(); });
    Result<MeasuredTree> measured = measured_switches(*slow_, names_, effort);
    GRADCOLL_TRY(ruler_->dismiss());
    return measured;
}

Result<ProbeSlices::Slice> ProbeSlices::measure(std::uint64_t allowed_ns) {
    const std::uint64_t begin_ns = now_ns();
    std::array<std::uint64_t, 2> told{};  // News, nanoseconds
    std::string text;
    if (rank_ == 0) {
        const Result<MeasuredTree> measured = on_rank_0(allowed_ns);
        const News news = news_of(measured, slow_->has_break());
        told = {static_cast<std::uint64_t>(news), now_ns() - begin_ns};
        if (news == News::tree) text = probe_cache_text(measured->tree);
        if (news == News::trouble) text = measured.status().message();
        if (news != News::a_break) begin_anew();
    } else if (measures_) {
        GRADCOLL_TRY(obey_probe(comm_.handle, effort));
    }
    // Ranks that do not measure must not take the core from those that do.
    MPI_Request request = MPI_REQUEST_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Ibcast(told.data(), static_cast<int>(told.size()), MPI_UINT64_T, 0,
                                      comm_.handle, &request),
                          "MPI_Ibcast"));
    GRADCOLL_TRY(wait_gently(request));
    const auto news = static_cast<News>(told[0]);
    Slice slice{told[1]};
    slice.disturbed = news == News::disturbed;
    if (news == News::a_break || slice.disturbed) return slice;
    GRADCOLL_TRY(share_bytes(comm_.handle, text));
    if (news == News::trouble)
        return Status(Code::transport, "measuring between hosts failed: " + text);
    slice.tree = GRADCOLL_VALUE(switches_from_probe_cache(text));
    return slice;
}

}  // namespace gradcoll
