// case.cpp - one size: take turns with the peer, count bytes, check the result.
#include "case.hpp"

#include <algorithm>
#include <cstring>

#include "peer_op.hpp"

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
    Case(const Options& options, const Subject& subject, std::size_t size_bytes,
         std::span<const std::byte> input)
        : options_(options),
          subject_(subject),
          input_(input.first(size_bytes)),
          count_(size_bytes / options.element->bytes),
          type_(options.element->datatype()),
          peer_op_(*options.element, options.op),
          residual_(options.feedback, subject, count_, type_),
          result_(size_bytes) {
        std::copy(input_.begin(), input_.end(), result_.begin());
    }

    void measure_times(Row& row);
    void measure_wire(Row& row) const;
    Verdict check(bool exact);

  private:
    void prepare() {
        if (options_.in_place) {
            std::memcpy(result_.data(), input_.data(), input_.size());
        }
    }
    const void* send_buffer() const { return options_.in_place ? MPI_IN_PLACE : input_.data(); }
    void reduce();
    void reduce_by_peer();
    std::vector<double> mean_of_calls(int calls);

    const Options& options_;
    const Subject& subject_;
    std::span<const std::byte> input_;
    std::size_t count_;
    MPI_Datatype type_;
    PeerOp peer_op_;
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

void Case::reduce_by_peer() {
    MPI_Allreduce(send_buffer(), result_.data(), static_cast<int>(count_), type_, peer_op_.get(),
                  MPI_COMM_WORLD);
}

void Case::measure_times(Row& row) {
    const Timed ours{[this] { prepare(); }, [this] { reduce(); }};
    const Timed peer{[this] { prepare(); }, [this] { reduce_by_peer(); }};
    const int warmup = options_.warmup_for(input_.size());
    std::vector<Latency> our_latencies;
    std::vector<Latency> peer_latencies;
    std::vector<double> ratios;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
        our_latencies.push_back(time_calls(ours, warmup, row.iterations, MPI_COMM_WORLD));
        peer_latencies.push_back(time_calls(peer, warmup, row.iterations, MPI_COMM_WORLD));
        ratios.push_back(peer_latencies.back().avg_us / our_latencies.back().avg_us);
    }
    row.ours = median(our_latencies);
    row.peer = median(peer_latencies);
    row.ratio = median(ratios);
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

Verdict Case::check(bool exact) {
    std::vector<double> mean;
    if (options_.feedback) {
        mean = mean_of_calls(feedback_check_calls);
    } else {
        prepare();
        reduce();
    }
    return verify({.element = *options_.element,
                   .op = find_op(options_.op),
                   .count = count_,
                   .input = input_.data(),
                   .result = result_.data(),
                   .mean = options_.feedback ? mean.data() : nullptr,
                   .exact = exact},
                  MPI_COMM_WORLD);
}

}  // namespace

Row measure(const Options& options, const Subject& subject, std::size_t size_bytes,
            std::span<const std::byte> input) {
    Case one(options, subject, size_bytes, input);
    Row row;
    row.codec = subject.codec();
    row.tree_used = subject.tree(GC_TREE_EXPRESSION);
    MPI_Comm_size(MPI_COMM_WORLD, &row.ranks);
    row.size_bytes = size_bytes;
    row.count = size_bytes / options.element->bytes;
    row.iterations = options.iterations_for(size_bytes);
    require_success(GC_Comm_reset_stats(subject.comm()), "GC_Comm_reset_stats");
    one.measure_times(row);
    one.measure_wire(row);
    if (options.check) {
        row.verdict = one.check(row.path != "compressed");
    }
    return row;
}

}  // namespace gradcoll::bench
