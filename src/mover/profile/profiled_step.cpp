// mover/profile/profiled_step.cpp - see profiled_step.hpp.
#include "mover/profile/profiled_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gradcoll::mover {
namespace {

constexpr std::string_view evaluated = "autograd::engine::evaluate_function: ";
constexpr std::string_view accumulated = "torch::autograd::AccumulateGrad";
constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t most_kept = 64;  // the limit of our own form, for each layer

struct ProfiledLayer {
    TraceSpan forward;
    double backward_start = never, backward_end = -1;
    double forward_us = 0, backward_us = 0;
    std::int64_t parameters = 0;
    std::int64_t kept_bytes = 0;
    std::int64_t held_bytes = 0;  ///< including what layers before it keep
    std::int64_t workspace = 0, backward_workspace = 0;
    std::vector<std::pair<std::string, std::int64_t>> kept{};
};

/// A BackwardSpan is what autograd ran for a layer.
struct BackwardSpan {
    double start_us = 0, end_us = 0;
    std::size_t layer = 0;
};

/// A Piece lasts from an allocation to its end.
struct Piece {
    double from_us = 0, to_us = never;
    std::int64_t bytes = 0;
    std::size_t first_change = 0, last_change = 0;  ///< indices in the trace's memory events
};

bool is_layer_name(const std::string& name) {
    return !name.starts_with("ProfilerStep#") && !name.starts_with("Optimizer.");
}

/// Returns the layers of the last step: from the last one back until a name comes again.
std::vector<ProfiledLayer> last_layers(const Trace& trace) {
    std::vector<TraceSpan> outer;
    for (const TraceSpan& span : trace.annotations) {
        if (!is_layer_name(span.name)) continue;
        if (outer.empty() || span.start_us >= outer.back().end_us) outer.push_back(span);
    }
    std::unordered_set<std::string> names;
    std::size_t first = outer.size();
    while (first > 0 && names.insert(outer[first - 1].name).second) --first;
    std::vector<ProfiledLayer> layers;
    for (; first < outer.size(); ++first) layers.push_back({.forward = outer[first]});
    return layers;
}

std::vector<Piece> pieces_of(const Trace& trace) {
    std::vector<Piece> pieces;
    std::unordered_map<std::int64_t, std::size_t> open;
    for (std::size_t n = 0; n < trace.memory.size(); ++n) {
        const TraceMemory& change = trace.memory[n];
        const auto found = open.find(change.address);
        if (change.bytes > 0) {
            open[change.address] = pieces.size();
            pieces.push_back({.from_us = change.at_us, .bytes = change.bytes, .first_change = n});
        } else if (found != open.end()) {
            pieces[found->second].to_us = change.at_us;
            pieces[found->second].last_change = n;
            open.erase(found);
        }
    }
    return pieces;
}

class StepReader {
  public:
    explicit StepReader(const Trace& trace)
        : trace_(trace), layers_(last_layers(trace)), pieces_(pieces_of(trace)) {}

    Result<std::vector<ProfiledLayer>> layers() && {
        if (layers_.empty())
            return wrong_input(trace_.origin, "/traceEvents",
                               "no layers are named: allowed are traces of programs that run each "
                               "layer under torch.profiler.record_function()");
        find_backward();
        if (backward_.empty())
            return wrong_input(trace_.origin, "/traceEvents",
                               "no operators with the layers' \"Sequence number\" run backward "
                               "after them");
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

    /// Maps the number of each node to the layer that made it. An operator has the number that the
    /// next node will get, so the last operator with a number made the node.
    std::unordered_map<std::int64_t, std::size_t> layers_of_nodes() const {
        std::unordered_map<std::int64_t, std::size_t> out;
        for (const TraceSpan& op : trace_.operators) {
            const std::size_t layer = forward_at(op.start_us);
            if (op.sequence >= 0 && layer < layers_.size()) out[op.sequence] = layer;
        }
        return out;
    }

    /// Finds the backward of each layer. Sums of gradients have no number: they belong to the node
    /// before them.
    void find_backward() {
        const auto nodes = layers_of_nodes();
        std::size_t layer = layers_.size();
        double node_end = 0;
        for (const TraceSpan& op : trace_.operators) {
            if (op.start_us < forward_end()) continue;
            if (op.name == accumulated && layer < layers_.size())
                layers_[layer].parameters += op.numbers;
            if (!op.name.starts_with(evaluated) || op.start_us < node_end) continue;
            if (const auto node = nodes.find(op.sequence); node != nodes.end())
                layer = node->second;
            else if (op.sequence >= 0)
                layer = layers_.size();
            node_end = op.end_us;
            if (layer == layers_.size()) continue;
            backward_.push_back({op.start_us, op.end_us, layer});
            ProfiledLayer& of = layers_[layer];
            of.backward_start = std::min(of.backward_start, op.start_us);
            of.backward_end = std::max(of.backward_end, op.end_us);
        }
    }

    const BackwardSpan* backward_at(double us) const {
        const auto after = std::upper_bound(
            backward_.begin(), backward_.end(), us,
            [](double time, const BackwardSpan& span) { return time < span.start_us; });
        if (after == backward_.begin()) return nullptr;
        return us < (after - 1)->end_us ? &*(after - 1) : nullptr;
    }

    void add_times() {
        if (!trace_.kernels.empty()) return add_times_of_kernels();
        for (ProfiledLayer& layer : layers_)
            layer.forward_us = layer.forward.end_us - layer.forward.start_us;
        for (const BackwardSpan& span : backward_)
            layers_[span.layer].backward_us += span.end_us - span.start_us;
    }

    /// Adds the times of kernels to the layers. A kernel runs later than the operator that launched
    /// it; it carries that operator's number.
    void add_times_of_kernels() {
        std::unordered_map<std::int64_t, double> launched;
        for (const TraceSpan& op : trace_.operators)
            if (op.external >= 0) launched[op.external] = op.start_us;
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
            if ((--op)->end_us >= us && !op->name.starts_with("aten::empty"))
                return op->name.starts_with("aten::") ? op->name.substr(6) : op->name;
        return "unknown";
    }

    void add_kept() {
        for (const Piece& piece : pieces_) {
            const std::size_t l = forward_at(piece.from_us);
            if (l == layers_.size() || piece.to_us <= forward_end() || piece.to_us == never)
                continue;
            layers_[l].kept.emplace_back(operator_at(piece.from_us), piece.bytes);
            layers_[l].kept_bytes += piece.bytes;
        }
        for (ProfiledLayer& layer : layers_) number_names(layer);
    }

    /// Makes the names of a layer's tensors unique; if there are too many, the smallest are merged
    /// into one.
    static void number_names(ProfiledLayer& layer) {
        auto& kept = layer.kept;
        std::stable_sort(kept.begin(), kept.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        while (kept.size() > most_kept) {
            kept[most_kept - 1].first = "others";
            kept[most_kept - 1].second += kept.back().second;
            kept.pop_back();
        }
        std::map<std::string, int> seen;
        for (auto& [name, bytes] : kept)
            if (const int number = ++seen[name]; number > 1) name += fmt::format(" {}", number);
    }

    double backward_end() const {
        double end = 0;
        for (const BackwardSpan& span : backward_) end = std::max(end, span.end_us);
        return end;
    }

    /// Adds what was in use beyond the start of the step, layer by layer, without gradients that
    /// stay.
    void add_workspace() {
        // Times are whole microseconds, so the order in the trace decides.
        std::vector<std::int64_t> changes(trace_.memory.size(), 0);
        const double start = layers_.front().forward.start_us, end = backward_end();
        for (const Piece& piece : pieces_) {
            if (piece.from_us < start || piece.from_us > end) continue;
            if (piece.from_us > forward_end() && piece.to_us > end) continue;
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
    std::vector<Piece> pieces_;
    std::vector<BackwardSpan> backward_;
};

nlohmann::json json_of(const ProfiledLayer& layer) {
    nlohmann::json kept = nlohmann::json::array();
    for (const auto& [name, bytes] : layer.kept) kept.push_back({{"name", name}, {"bytes", bytes}});
    return {{"name", layer.forward.name},
            {"parameters", layer.parameters},
            {"kept", kept},
            {"forward_us", layer.forward_us},
            {"backward_us", layer.backward_us},
            {"workspace_bytes", layer.workspace},
            {"backward_workspace_bytes", layer.backward_workspace}};
}

}  // namespace

Result<Document> layers_of_trace(const Trace& trace) {
    const auto layers = GRADCOLL_VALUE(StepReader(trace).layers());
    nlohmann::json list = nlohmann::json::array();
    for (const ProfiledLayer& layer : layers) list.push_back(json_of(layer));
    return Document{trace.origin, {{"name", "profiled"}, {"layers", std::move(list)}}};
}

Result<MeasuredPeak> measured_peak(const Trace& trace) {
    if (trace.memory.empty())
        return wrong_input(trace.origin, "/traceEvents",
                           "no \"[memory]\" events are there: allowed are traces with "
                           "profile_memory=True");
    const auto layers = last_layers(trace);
    const double step =
        layers.empty() ? trace.memory.front().at_us : layers.front().forward.start_us;
    MeasuredPeak out;
    std::int64_t before = 0, most = 0;
    for (const TraceMemory& change : trace.memory) {
        if (change.at_us < step)
            before = change.total;
        else
            most = std::max(most, change.total);
        if (change.total <= out.bytes) continue;
        out.bytes = change.total;
        out.after_us = change.at_us - trace.memory.front().at_us;
    }
    out.of_step = std::max<std::int64_t>(0, most - before);
    return out;
}

}  // namespace gradcoll::mover
