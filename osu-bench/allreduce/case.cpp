// case.cpp - measures one size: takes turns with the peer, counts bytes, checks the result.
#include "case.hpp"

#include <algorithm>

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
          memory_(contest.memory),
          input_(contest.input.first(size_bytes)),
          input_there_(contest.input_there),
          count_(size_bytes / options_.element->bytes),
          type_(options_.element->datatype()),
          residual_(options_.feedback, subject_, count_, type_),
          result_(memory_, size_bytes),
          seen_(size_bytes) {
        put_input_into_result();
    }

    void measure_times(Row& row);
    void measure_wire(Row& row) const;
    Verdict check(bool exact);
    Verdict check_peer();
    std::optional<int> unlike_host_ranks();

  private:
    void put_input_into_result() { memory_.copy(result_.data(), input_there_, input_.size()); }
    void prepare() {
        if (options_.in_place) {
            put_input_into_result();
        }
    }
    void see_result() { memory_.copy(seen_.data(), result_.data(), seen_.size()); }
    const void* or_in_place(const void* input) const {
        return options_.in_place ? MPI_IN_PLACE : input;
    }
    void reduce(const void* send, void* recv);
    void reduce() { reduce(or_in_place(input_there_), result_.data()); }
    void reduce_by_peer() { peer_.allreduce(or_in_place(input_there_), result_.data(), count_); }
    Timed timed(std::function<void()> call);
    Turns turns(int repeat) const;
    Verdict judge(const double* mean, bool exact);
    std::vector<double> mean_of_calls(int calls);

    const Options& options_;
    const Subject& subject_;
    Peer& peer_;
    Memory& memory_;
    std::span<const std::byte> input_;
    const void* input_there_;
    std::size_t count_;
    MPI_Datatype type_;
    Residual residual_;
    Buffer result_;
    std::vector<std::byte> seen_;  ///< the last result that was checked, in host memory
};

void Case::reduce(const void* send, void* recv) {
    const MPI_Op op = find_op(options_.op);
    if (options_.feedback) {
        require_success(GC_Allreduce_residual(send, recv, static_cast<MPI_Count>(count_), type_, op,
                                              subject_.comm(), residual_.get()),
                        "GC_Allreduce_residual");
    } else {
        require_success(
            GC_Allreduce(send, recv, static_cast<int>(count_), type_, op, subject_.comm()),
            "GC_Allreduce");
    }
}

// Returns a timed call. Out of place there is nothing to prepare, so calls may follow each other at
// once.
Timed Case::timed(std::function<void()> call) {
    Timed timed{{}, std::move(call)};
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
    const Timed ours = timed([this] { reduce(); });
    const Timed peer = timed([this] { reduce_by_peer(); });
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

// Measures the bytes on the wire. All calls since the statistics were reset had this case's shape.
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
        see_result();
        options_.element->load(seen_.data(), count_, values.data());
        std::transform(mean.begin(), mean.end(), values.begin(), mean.begin(),
                       [calls](double sum, double value) { return sum + value / calls; });
    }
    return mean;
}

Verdict Case::judge(const double* mean, bool exact) {
    see_result();
    return verify({.element = *options_.element,
                   .op = find_op(options_.op),
                   .count = count_,
                   .input = input_.data(),
                   .result = seen_.data(),
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

// Checks the peer. It may be lossy too, so its error is only reported.
Verdict Case::check_peer() {
    prepare();
    reduce_by_peer();
    return judge(nullptr, false);
}

// Counts ranks that differ from a call in host memory. With error feedback a second call has
// another residual, and other bits.
std::optional<int> Case::unlike_host_ranks() {
    if (memory_.is_host() || options_.feedback) {
        return std::nullopt;
    }
    prepare();
    reduce();
    see_result();
    std::vector<std::byte> on_host(input_.begin(), input_.end());
    reduce(or_in_place(input_.data()), on_host.data());
    const int unlike = on_host == seen_ ? 0 : 1;
    int ranks = 0;
    MPI_Allreduce(&unlike, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return ranks;
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
        const bool lossy = row.path == "compressed";
        row.verdict = one.check(!lossy);
        row.peer_verdict = one.check_peer();
        row.unlike_host_ranks = one.unlike_host_ranks();
        // Exact sums in host memory may be added up in another order.
        row.verdict->passed &= !lossy || row.unlike_host_ranks.value_or(0) == 0;
    }
    return row;
}

}  // namespace gradcoll::bench
