// mover/profile/profiled_step.cpp - see profiled_model.hpp.
#include "mover/profile/profiled_model.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mover/profile/aside.hpp"
#include "mover/profile/kept_names.hpp"
#include "mover/profile/pieces.hpp"
#include "mover/profile/step_layers.hpp"

namespace gradcoll::mover {
namespace {

struct ProfiledLayer {
    TraceSpan forward;
    double forward_us = 0, backward_us = 0;
    std::int64_t parameters = 0;
    std::int64_t kept_bytes = 0;
    std::int64_t held_bytes = 0;  ///< including what layers before it keep
    std::int64_t workspace = 0, backward_workspace = 0;
    KeptPieces kept{};
};

class StepReader {
  public:
    StepReader(const Trace& trace, const StepLayers& step)
        : trace_(trace), backward_(step.backward), aside_(step.aside), pieces_(pieces_of(trace)) {
        for (const TraceSpan& layer : step.layers) layers_.push_back({.forward = layer});
        for (const BackwardSpan& span : backward_)
            layers_[span.layer].parameters += span.parameters;
    }

    std::vector<ProfiledLayer> layers() && {
        add_times();
        add_kept();
        add_workspace();
        return std::move(layers_);
    }

  private:
    double forward_end() const { return layers_.back().forward.end_us; }

    /// Returns which layer's forward runs at that time; layers_.size(): none.
    std::size_t forward_at(double us) const {
        const auto after = std::upper_bound(
            layers_.begin(), layers_.end(), us,
            [](double time, const ProfiledLayer& layer) { return time < layer.forward.start_us; });
        const std::size_t none = layers_.size();
        if (after == layers_.begin()) return none;
        const auto l = static_cast<std::size_t>(after - layers_.begin()) - 1;
        return us < layers_[l].forward.end_us ? l : none;
    }

    const BackwardSpan* backward_at(double us) const {
        const auto after = std::upper_bound(
            backward_.begin(), backward_.end(), us,
            [](double time, const BackwardSpan& span) { return time < span.start_us; });
        if (after == backward_.begin()) return nullptr;
        return us < (after - 1)->end_us ? &*(after - 1) : nullptr;
    }

    template <class Span>
    double time_of(const Span& span) const {
        const double aside = aside_.within(span.start_us, span.end_us, span.thread);
        return std::max(0.0, span.end_us - span.start_us - aside);
    }

    void add_times() {
        if (!trace_.kernels.empty()) return add_times_of_kernels();
        for (ProfiledLayer& layer : layers_) layer.forward_us = time_of(layer.forward);
        for (const BackwardSpan& span : backward_) layers_[span.layer].backward_us += time_of(span);
    }

    /// Adds the times of kernels to the layers. A kernel runs later than the operator that launched
    /// it; it carries that operator's number.
    void add_times_of_kernels() {
        std::unordered_map<std::int64_t, double> launched;
        for (const TraceSpan& op : trace_.operators)
            if (op.external >= 0 && !aside_.at(op.start_us, op.thread))
                launched[op.external] = op.start_us;
        for (const TraceKernel& kernel : trace_.kernels) {
            const auto launch = launched.find(kernel.external);
            if (launch == launched.end()) continue;
            const std::size_t layer = forward_at(launch->second);
            const BackwardSpan* backward = backward_at(launch->second);
            if (layer < layers_.size())
                layers_[layer].forward_us += kernel.us;
            else if (backward != nullptr)
                layers_[backward->layer].backward_us += kernel.us;
        }
    }

    /// Returns the innermost operator at work that does more than allocate.
    std::string operator_at(double us) const {
        auto op = std::upper_bound(
            trace_.operators.begin(), trace_.operators.end(), us,
            [](double time, const TraceSpan& span) { return time < span.start_us; });
        for (int looked = 0; op != trace_.operators.begin() && looked < 64; ++looked)
            if ((--op)->end_us >= us && op->thread == layers_.front().forward.thread &&
                !op->name.starts_with("aten::empty"))
                return name_of_kept(op->name);
        return "unknown";
    }

    void add_kept() {
        for (const Piece& piece : pieces_) {
            const std::size_t l = forward_at(piece.from_us);
            if (l == layers_.size() || piece.to_us <= forward_end() || !piece.ended_in_trace() ||
                aside_.at(piece.from_us))
                continue;
            layers_[l].kept.emplace_back(operator_at(piece.from_us), piece.bytes);
            layers_[l].kept_bytes += piece.bytes;
        }
        for (ProfiledLayer& layer : layers_) number_names(layer.kept);
    }

    double backward_end() const {
        double end = 0;
        for (const BackwardSpan& span : backward_) end = std::max(end, span.end_us);
        return end;
    }

    /// Adds what was in use beyond the start of the step, layer by layer, without gradients that
    /// stay, or that a hook has taken for its sum.
    void add_workspace() {
        // Times are whole microseconds, so the order in the trace decides.
        std::vector<std::int64_t> changes(trace_.memory.size(), 0);
        const double start = layers_.front().forward.start_us, end = backward_end();
        for (const Piece& piece : pieces_) {
            if (piece.from_us < start || piece.from_us > end) continue;
            if (piece.from_us > forward_end() && piece.to_us > end) continue;
            if (aside_.at(piece.from_us) || aside_.at(piece.to_us)) continue;
            changes[piece.first_change] += piece.bytes;
            if (piece.to_us <= end) changes[piece.last_change] -= piece.bytes;
        }
        std::int64_t held = 0;
        for (ProfiledLayer& layer : layers_) layer.held_bytes = held += layer.kept_bytes;
        std::int64_t in_use = 0;
        for (std::size_t n = 0; n < changes.size(); ++n) {
            in_use += changes[n];
            note_use(trace_.memory[n].at_us, in_use);
        }
    }

    void note_use(double at_us, std::int64_t in_use) {
        const std::size_t l = forward_at(at_us);
        const BackwardSpan* span = l < layers_.size() ? nullptr : backward_at(at_us);
        if (l == layers_.size() && span == nullptr) return;
        ProfiledLayer& layer = layers_[span != nullptr ? span->layer : l];
        std::int64_t& most = span != nullptr ? layer.backward_workspace : layer.workspace;
        most = std::max(most, in_use - layer.held_bytes);
    }

    const Trace& trace_;
    std::vector<ProfiledLayer> layers_;
    const std::vector<BackwardSpan>& backward_;
    Aside aside_;
    std::vector<Piece> pieces_;
};

nlohmann::json json_of(const ProfiledLayer& layer) {
    return {{"name", layer.forward.name},
            {"parameters", layer.parameters},
            {"kept", json_of_kept(layer.kept)},
            {"forward_us", layer.forward_us},
            {"backward_us", layer.backward_us},
            {"workspace_bytes", layer.workspace},
            {"backward_workspace_bytes", layer.backward_workspace}};
}

}  // namespace

Result<ProfiledModel> model_of_trace(const Trace& trace) {
    const StepLayers step = layers_of_last_step(trace);
    if (step.layers.empty()) return no_layers(step, trace.origin, "/traceEvents");
    nlohmann::json list = nlohmann::json::array();
    for (const ProfiledLayer& layer : StepReader(trace, step).layers())
        list.push_back(json_of(layer));
    return ProfiledModel{{trace.origin, {{"name", "profiled"}, {"layers", std::move(list)}}},
                         text_of(step, trace.origin)};
}

}  // namespace gradcoll::mover
