// case.cpp - one size: take turns with the peer, count bytes, check the result.
#include "case.hpp"

#include <algorithm>
#include <cstring>

#include "peer_op.hpp"
#include "summary.hpp"

namespace gradcoll::bench {
namespace {

// Error feedback promises a good mean over many calls, not a good single one.
constexpr int feedback_check_calls = 16;

class Residual {
  public:
    Residual(bool wanted, const Subject& subject, std::size_t count, MPI_Datatype type) {
        if (wanted) {
            require_success(
                GC_Residual_create(subject.comm(), static_cast<MPI_Count>(count), type, &handle_),
                "GC_Residual_create");
        }
    }
    ~Residual() {
        if (handle_ != GC_RESIDUAL_NULL) {
            GC_Residual_free(&handle_);
        }
    }
    Residual(const Residual&) = delete;
    Residual& operator=(const Residual&) = delete;
    GC_Residual get() const { return handle_; }

  private:
    GC_Residual handle_ = GC_RESIDUAL_NULL;
};

class Case {
  public:
    Case(const Contest& contest, std::size_t size_bytes)
        : options_(contest.options),
          subject_(contest.subject),
          peer_(contest.peer),
          input_(contest.input.first(size_bytes)),
          count_(size_bytes / options_.element->bytes),
          type_(options_.element->datatype()),
          residual_(options_.feedback, subject_, count_, type_),
          result_(size_bytes) {
        std::copy(input_.begin(), input_.end(), result_.begin());
    }

    void measure_times(Row& row);
    void measure_wire(Row& row) const;
    Verdict check(bool exact);
    Verdict check_peer();

  private:
    void prepare() {
        if (options_.in_place) {
            std::memcpy(result_.data(), input_.data(), input_.size());
        }
    }
    const void* send_buffer() const { return options_.in_place ? MPI_IN_PLACE : input_.data(); }
    void reduce();
    void reduce_by_peer() { peer_.allreduce(send_buffer(), result_.data(), count_); }
    Timed timed(void (Case::*call)());
    Turns turns(int repeat) const;
    Verdict judge(const double* mean, bool exact) const;
    std::vector<double> mean_of_calls(int calls);

    const Options& options_;
    const Subject& subject_;
    Peer& peer_;
    std::span<const std::byte> input_;
    std::size_t count_;
    MPI_Datatype type_;
    Residual residual_;
    std::vector<std::byte> result_;
};

void Case::reduce() {
    const MPI_Op op = find_op(options_.op);
    if (options_.feedback) {
        require_success(
            GC_Allreduce_residual(send_buffer(), result_.data(), static_cast<MPI_Count>(count_),
                                  type_, op, subject_.comm(), residual_.get()),
            "GC_Allreduce_residual");
    } else {
        require_success(GC_Allreduce(send_buffer(), result_.data(), static_cast<int>(count_), type_,
                                     op, subject_.comm()),
                        "GC_Allreduce");
    }
}

// Out of place there is nothing to prepare, so that calls may follow each other at once.
Timed Case::timed(void (Case::*call)()) {
    Timed timed{{}, [this, call] { (this->*call)(); }};
    if (options_.in_place) {
        timed.prepare = [this] { prepare(); };
    }
    return timed;
}

Turns Case::turns(int repeat) const {
    const std::size_t size_bytes = input_.size();
    return {.warmup = options_.warmup_for(size_bytes),
            .iterations = options_.iterations_for(size_bytes),
            .batch = options_.batch_for(size_bytes),
            .sync = options_.sync,
            .peer_first = repeat % 2 == 1};
}

void Case::measure_times(Row& row) {
    const Timed ours = timed(&Case::reduce);
    const Timed peer = timed(&Case::reduce_by_peer);
    std::vector<Latency> our_latencies;
    std::vector<Latency> peer_latencies;
    std::vector<double> ratios;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
        const Pair pair = time_in_turns(ours, peer, turns(repeat), MPI_COMM_WORLD);
        our_latencies.push_back(pair.ours);
        peer_latencies.push_back(pair.peer);
        ratios.push_back(pair.ratio());
    }
    row.ours = median(our_latencies);
    row.peer = median(peer_latencies);
    row.ratio = spread_of(ratios);
    row.algbw_gbs = static_cast<double>(input_.size()) / (row.ours.avg_us * 1e3);
    row.busbw_gbs = row.algbw_gbs * 2.0 * (row.ranks - 1) / row.ranks;
}

// All calls since the statistics were reset had this case's shape.
void Case::measure_wire(Row& row) const {
    GC_Stats stats{};
    require_success(GC_Comm_get_stats(subject_.comm(), &stats), "GC_Comm_get_stats");
    const double calls = static_cast<double>(std::max(stats.calls_tree + stats.calls_passed, 1ull));
    const double sent = static_cast<double>(stats.bytes_sent) / calls;
    MPI_Allreduce(&sent, &row.wire_max_bytes, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&sent, &row.wire_sum_bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    row.path = stats.calls_compressed > 0 ? "compressed" : stats.calls_tree > 0 ? "tree" : "mpi";
    row.pass_reason = stats.calls_passed > 0 ? stats.last_pass_reason : "";
}

std::vector<double> Case::mean_of_calls(int calls) {
    std::vector<double> mean(count_);
    std::vector<double> values(count_);
    for (int call = 0; call < calls; ++call) {
        prepare();
        reduce();
        options_.element->load(result_.data(), count_, values.data());
        std::transform(mean.begin(), mean.end(), values.begin(), mean.begin(),
                       [calls](double sum, double value) { return sum + value / calls; });
    }
    return mean;
}

Verdict Case::judge(const double* mean, bool exact) const {
    return verify({.element = *options_.element,
                   .op = find_op(options_.op),
                   .count = count_,
                   .input = input_.data(),
                   .result = result_.data(),
                   .mean = mean,
                   .exact = exact},
                  MPI_COMM_WORLD);
}

Verdict Case::check(bool exact) {
    if (options_.feedback) {
        const std::vector<double> mean = mean_of_calls(feedback_check_calls);
        return judge(mean.data(), exact);
    }
    prepare();
    reduce();
    return judge(nullptr, exact);
}

// A peer may be lossy too, so its error is only told.
Verdict Case::check_peer() {
    prepare();
    reduce_by_peer();
    return judge(nullptr, false);
}

}  // namespace

Row measure(const Contest& contest, std::size_t size_bytes) {
    Case one(contest, size_bytes);
    Row row;
    row.codec = contest.subject.codec();
    row.tree_used = contest.subject.tree(GC_TREE_EXPRESSION);
    MPI_Comm_size(MPI_COMM_WORLD, &row.ranks);
    row.size_bytes = size_bytes;
    row.count = size_bytes / contest.options.element->bytes;
    row.iterations = contest.options.iterations_for(size_bytes);
    row.batch = contest.options.batch_for(size_bytes);
    require_success(GC_Comm_reset_stats(contest.subject.comm()), "GC_Comm_reset_stats");
    one.measure_times(row);
    one.measure_wire(row);
    if (contest.options.check) {
        row.verdict = one.check(row.path != "compressed");
        row.peer_rel_l2_err = one.check_peer().rel_l2_err;
    }
    return row;
}

}  // namespace gradcoll::bench
