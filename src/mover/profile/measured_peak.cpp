// mover/profile/measured_peak.cpp - see measured_peak.hpp.
#include "mover/profile/measured_peak.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "mover/input/fields.hpp"
#include "mover/profile/pieces.hpp"
#include "mover/profile/step_layers.hpp"

namespace gradcoll::mover {
namespace {

/// StateFinder tells which pieces of memory are states: what stays from step to step.
class StateFinder {
  public:
    explicit StateFinder(const Trace& trace) : evaluations_(evaluations_of(trace)) {
        std::set<int> threads;
        for (const TraceSpan& op : trace.operators)
            if (op.sequence >= 0) threads.insert(op.thread);
        for (const int thread : threads)
            for (const Node& node : nodes_of(trace, evaluations_, thread))
                backward_is_over_.push_back(node.made_us);
        for (const TraceSpan& span : trace.annotations) {
            if (span.name.starts_with("Optimizer.zero_grad#")) zero_grads_.push_back(&span);
            if (!span.name.starts_with("Optimizer.step#")) continue;
            optimizer_steps_.push_back(&span);
            backward_is_over_.push_back(span.start_us);
        }
        for (const Evaluation& run : evaluations_) last_end_ = std::max(last_end_, run.end_us);
        std::sort(backward_is_over_.begin(), backward_is_over_.end());
    }

    bool is_state(const Piece& piece) const {
        if (!piece.began_in_trace()) return span_at(zero_grads_, piece.to_us) != nullptr;
        if (const TraceSpan* step = span_at(optimizer_steps_, piece.from_us))
            return piece.to_us > step->end_us;
        return evaluation_at(evaluations_, piece.from_us, any_thread) != nullptr &&
               piece.to_us > end_of_backward(piece.from_us);
    }

  private:
    static const TraceSpan* span_at(const std::vector<const TraceSpan*>& spans, double us) {
        const auto found = std::find_if(spans.begin(), spans.end(), [us](const TraceSpan* span) {
            return span->start_us <= us && us <= span->end_us;
        });
        return found == spans.end() ? nullptr : *found;
    }

    /// Returns when the next forward or the optimizer begins, or the trace's last backward ends.
    double end_of_backward(double us) const {
        const auto next = std::upper_bound(backward_is_over_.begin(), backward_is_over_.end(), us);
        return next == backward_is_over_.end() ? last_end_ : *next;
    }

    std::vector<Evaluation> evaluations_;
    std::vector<const TraceSpan*> optimizer_steps_, zero_grads_;
    std::vector<double> backward_is_over_;
    double last_end_ = 0;
};

/// Returns how the bytes of states change with each memory event.
std::vector<std::int64_t> changes_of_states(const Trace& trace) {
    std::vector<std::int64_t> changes(trace.memory.size(), 0);
    const StateFinder states(trace);
    for (const Piece& piece : pieces_of(trace)) {
        if (!states.is_state(piece)) continue;
        if (piece.began_in_trace()) changes[piece.first_change] += piece.bytes;
        if (piece.ended_in_trace()) changes[piece.last_change] -= piece.bytes;
    }
    return changes;
}

/// Returns the layer, or what of the optimizer runs at that time.
std::string place_of(const Trace& trace, const StepLayers& step, double us) {
    const auto runs = [us](const auto& span) { return span.start_us <= us && us < span.end_us; };
    const auto layer = std::find_if(step.layers.begin(), step.layers.end(), runs);
    if (layer != step.layers.end()) return "forward of " + layer->name;
    const auto backward = std::find_if(step.backward.begin(), step.backward.end(), runs);
    if (backward != step.backward.end()) return "backward of " + step.layers[backward->layer].name;
    const auto optimizer = std::find_if(
        trace.annotations.begin(), trace.annotations.end(),
        [&](const TraceSpan& span) { return span.name.starts_with("Optimizer.") && runs(span); });
    return optimizer == trace.annotations.end() ? std::string() : optimizer->name;
}

}  // namespace

Result<MeasuredPeak> measured_peak(const Trace& trace) {
    if (trace.memory.empty())
        return wrong_input(trace.origin, "/traceEvents",
                           "no \"[memory]\" events are there: allowed are traces with "
                           "profile_memory=True");
    const StepLayers last = layers_of_last_step(trace);
    const double step =
        last.layers.empty() ? trace.memory.front().at_us : last.layers.front().start_us;
    const std::vector<std::int64_t> changes = changes_of_states(trace);
    MeasuredPeak out;
    std::int64_t states = 0, before = 0, most = 0;
    double most_at = 0;
    for (std::size_t n = 0; n < changes.size(); ++n) {
        const TraceMemory& change = trace.memory[n];
        states += changes[n];
        if (change.at_us < step) {
            before = change.total - states;
        } else if (change.total - states > most) {
            most = change.total - states;
            most_at = change.at_us;
        }
        if (change.total <= out.bytes) continue;
        out.bytes = change.total;
        out.after_us = change.at_us - trace.memory.front().at_us;
    }
    out.of_step = std::max<std::int64_t>(0, most - before);
    out.of_step_in = place_of(trace, last, most_at);
    return out;
}

}  // namespace gradcoll::mover
