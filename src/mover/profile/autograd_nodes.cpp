// mover/profile/autograd_nodes.cpp - see autograd_nodes.hpp.
#include "mover/profile/autograd_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace gradcoll::mover {
namespace {

constexpr std::string_view evaluated = "autograd::engine::evaluate_function: ";
constexpr std::string_view accumulated = "torch::autograd::AccumulateGrad";

/// An OpenEvaluation is the last one of a thread.
struct OpenEvaluation {
    std::size_t index = 0;
    std::string_view node;
};

void look_inside(const TraceSpan& op, const OpenEvaluation& open, Evaluation& out) {
    if (op.name == accumulated) out.summed.push_back(op.numbers);
    // Hooks that run first, as FSDP's, take the number away: the node's own operator still has it.
    if (out.sequence < 0 && op.name == open.node) out.sequence = op.sequence;
}

}  // namespace

std::vector<Evaluation> evaluations_of(const Trace& trace) {
    std::vector<Evaluation> out;
    std::unordered_map<int, OpenEvaluation> open;
    for (const TraceSpan& op : trace.operators) {
        const auto found = open.find(op.thread);
        if (found != open.end() && op.start_us < out[found->second.index].end_us) {
            look_inside(op, found->second, out[found->second.index]);
            continue;
        }
        if (!op.name.starts_with(evaluated)) continue;
        const std::string_view node = std::string_view(op.name).substr(evaluated.size());
        open[op.thread] = {out.size(), node};
        out.push_back({.start_us = op.start_us,
                       .end_us = op.end_us,
                       .thread = op.thread,
                       .sequence = op.sequence,
                       .sums_gradients = node == accumulated});
    }
    return out;
}

const Evaluation* evaluation_at(const std::vector<Evaluation>& evaluations, double us, int thread) {
    const auto after =
        std::upper_bound(evaluations.begin(), evaluations.end(), us,
                         [](double time, const Evaluation& run) { return time < run.start_us; });
    // Threads evaluate beside each other, so a few evaluations are looked at.
    constexpr std::ptrdiff_t threads = 16;
    const std::ptrdiff_t looked_at = std::min(threads, after - evaluations.begin());
    const auto found = std::find_if(after - looked_at, after, [&](const Evaluation& run) {
        return (thread == any_thread || run.thread == thread) && us < run.end_us;
    });
    return found == after ? nullptr : &*found;
}

std::vector<Node> nodes_of(const Trace& trace, const std::vector<Evaluation>& evaluations,
                           int thread) {
    std::unordered_map<std::int64_t, const TraceSpan*> makers;
    double evaluating_until = 0;
    std::size_t next = 0;
    for (const TraceSpan& op : trace.operators) {
        for (; next < evaluations.size() && evaluations[next].start_us <= op.start_us; ++next)
            if (evaluations[next].thread == thread) evaluating_until = evaluations[next].end_us;
        if (op.thread == thread && op.sequence >= 0 && op.start_us >= evaluating_until)
            makers[op.sequence] = &op;
    }
    std::vector<Node> out;
    for (std::size_t e = 0; e < evaluations.size(); ++e) {
        const auto maker = makers.find(evaluations[e].sequence);
        if (maker != makers.end() && maker->second->start_us < evaluations[e].start_us)
            out.push_back({maker->second->start_us, maker->second->end_us, e, maker->second});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Node& a, const Node& b) { return a.made_us < b.made_us; });
    return out;
}

std::int64_t parameters_of(const Evaluation& evaluation, const TraceSpan* maker) {
    std::vector<std::int64_t> summed = evaluation.summed;
    if (maker != nullptr)
        for (const std::int64_t input : maker->checkpointed)
            if (const auto same = std::find(summed.begin(), summed.end(), input);
                same != summed.end())
                summed.erase(same);
    return std::accumulate(summed.begin(), summed.end(), std::int64_t{0});
}

}  // namespace gradcoll::mover
