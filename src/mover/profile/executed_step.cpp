// mover/profile/executed_step.cpp - see profiled_model.hpp.
#include "mover/profile/profiled_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "mover/profile/aside.hpp"
#include "mover/profile/kept_names.hpp"
#include "mover/profile/step_layers.hpp"

namespace gradcoll::mover {
namespace {

using Shape = std::vector<std::int64_t>;

double product_of(const Shape& shape, std::size_t from = 0) {
    double product = 1;
    for (std::size_t d = from; d < shape.size(); ++d) product *= static_cast<double>(shape[d]);
    return product;
}

/// The shapes are [..., rows, inner] and [..., inner, columns].
double flops_of_product(const Shape& left, const Shape& right) {
    if (left.size() < 2 || right.size() < 2) return 0;
    return 2 * product_of(left) * static_cast<double>(right.back());
}

/// Queries, keys and values are [batch, heads, sequence, size].
double flops_of_attention(const Shape& query, const Shape& key, const Shape& value) {
    if (query.size() != 4 || key.size() != 4 || value.size() != 4) return 0;
    const double pairs = static_cast<double>(query[0]) * static_cast<double>(query[1]) *
                         static_cast<double>(query[2]) * static_cast<double>(key[2]);
    return 2 * pairs * static_cast<double>(query[3] + value[3]);
}

/// Attention whose name begins so has no matrix product inside, unless it ends with "_math".
constexpr std::string_view attention = "aten::_scaled_dot_product_";

constexpr std::string_view convolution = "aten::convolution";

/// Returns the additions and multiplications of a matrix product, convolution or attention that
/// calls none of the others; 0 for all other operators.
double flops_of(const ExecutedNode& node) {
    const auto shape = [&](std::size_t input) {
        return input < node.inputs.size() ? node.inputs[input].shape : Shape();
    };
    if (node.name == "aten::mm" || node.name == "aten::bmm")
        return flops_of_product(shape(0), shape(1));
    if (node.name == "aten::addmm" || node.name == "aten::baddbmm")
        return flops_of_product(shape(1), shape(2));
    if (node.name.starts_with(attention) && !node.name.ends_with("_math"))
        return flops_of_attention(shape(0), shape(1), shape(2));
    if (node.name == convolution && !node.outputs.empty())
        return 2 * product_of(node.outputs.front().shape) * product_of(shape(1), 1);
    return 0;
}

struct ExecutedLayer {
    TraceSpan forward;
    std::int64_t parameters = 0;
    double flops = 0;
    KeptPieces kept{};
};

/// A Storage is a piece of memory as it was made last.
struct Storage {
    std::size_t layer = 0;  ///< the number of layers: none
    std::int64_t bytes = 0;
    const ExecutedNode* maker = nullptr;
};

bool has_storage(const std::vector<ExecutedTensor>& tensors, std::int64_t storage) {
    return std::any_of(tensors.begin(), tensors.end(), [storage](const ExecutedTensor& tensor) {
        return tensor.storage == storage;
    });
}

class ExecutedStepReader {
  public:
    ExecutedStepReader(const ExecutionTrace& trace, const StepLayers& step)
        : trace_(trace), aside_(step.aside) {
        for (const TraceSpan& layer : step.layers) layers_.push_back({.forward = layer});
        for (const BackwardSpan& span : step.backward)
            layers_[span.layer].parameters += span.parameters;
    }

    Result<std::vector<ExecutedLayer>> layers() && {
        for (const ExecutedNode& node : trace_.nodes) {
            if (at(node) >= layers_.back().forward.end_us) break;
            // Storages of others may have the number of one that is gone.
            const std::size_t layer = layer_of(node);
            make_storages(node, layer);
            if (layer == layers_.size() || aside_.at(at(node))) continue;
            GRADCOLL_TRY(check_compiled(node));
            layers_[layer].flops += flops_of(node);
        }
        GRADCOLL_TRY(read_after_forward());
        for (ExecutedLayer& layer : layers_) number_names(layer.kept);
        return std::move(layers_);
    }

  private:
    static double at(const ExecutedNode& node) { return static_cast<double>(node.id); }

    std::size_t layer_of(const ExecutedNode& node) const {
        const auto after = std::upper_bound(
            layers_.begin(), layers_.end(), at(node),
            [](double id, const ExecutedLayer& layer) { return id < layer.forward.start_us; });
        if (after == layers_.begin()) return layers_.size();
        const auto layer = static_cast<std::size_t>(after - layers_.begin()) - 1;
        return node.thread == layers_[layer].forward.thread &&
                       at(node) < layers_[layer].forward.end_us
                   ? layer
                   : layers_.size();
    }

    Status refused(const ExecutedNode& node, const std::string& why) const {
        return wrong_input(trace_.origin, fmt::format("/nodes with id {}", node.id),
                           fmt::format("found {}, {}", printable(node.name), why));
    }

    Status check_compiled(const ExecutedNode& node) const {
        for (const char* start :
             {"## Call CompiledFxGraph", "Torch-Compiled Region", "CompiledFunction"})
            if (node.name.starts_with(start))
                return refused(node,
                               "which does not show what it keeps: allowed are steps without "
                               "torch.compile, or a trace of the profiler");
        return {};
    }

    /// Notes the storages that an operator has made. What it calls comes after it, and names them
    /// unless it only allocates.
    void make_storages(const ExecutedNode& node, std::size_t layer) {
        for (const ExecutedTensor& tensor : node.outputs) {
            if (has_storage(node.inputs, tensor.storage)) continue;
            const auto [found, is_new] = storages_.try_emplace(tensor.storage);
            Storage& storage = found->second;
            const bool inside = !is_new && node.id <= storage.maker->last_id;
            storage.layer = layer;
            storage.bytes = inside ? std::max(storage.bytes, tensor.bytes) : tensor.bytes;
            if (!inside || !node.name.starts_with("aten::empty")) storage.maker = &node;
        }
    }

    /// Goes through all that runs after the last forward, and finds what it reads of the layers'.
    /// What operators inside operators read may be temporary, so it is not looked at.
    Status read_after_forward() {
        const double start = layers_.back().forward.end_us;
        std::int64_t inside_until = -1;
        const ExecutedNode* evaluation = nullptr;
        bool shows_operators = true;
        for (const ExecutedNode& node : trace_.nodes) {
            if (at(node) < start) continue;
            if (node.id <= inside_until) {
                forget_made(node);
                continue;
            }
            if (evaluation != nullptr && node.id > evaluation->last_id) {
                GRADCOLL_TRY(check_shown(*evaluation, shows_operators));
                evaluation = nullptr;
            }
            if (is_evaluation(node) && evaluation == nullptr) {
                evaluation = &node;
                shows_operators = false;
            }
            GRADCOLL_TRY(check_compiled(node));
            if (!node.is_operator) continue;
            shows_operators = true;
            inside_until = node.last_id;
            for (const ExecutedTensor& tensor : node.inputs) read(tensor.storage);
            forget_made(node);
        }
        return evaluation == nullptr ? Status() : check_shown(*evaluation, shows_operators);
    }

    /// Refuses a function of a program that calls no operator: what it has kept is not in the
    /// trace.
    Status check_shown(const ExecutedNode& evaluation, bool shows_operators) const {
        const std::string_view name = evaluation.name;
        const bool keeps_nothing = name.ends_with(": _DDPSinkBackward") ||
                                   name.ends_with(": RegisterPostBackwardFunctionBackward");
        if (shows_operators || keeps_nothing || !is_of_program(evaluation)) return {};
        return refused(evaluation,
                       "which calls no operator and so does not show what it keeps: allowed is a "
                       "trace of the profiler");
    }

    /// Forgets storages whose number an operator has given to another one.
    void forget_made(const ExecutedNode& node) {
        for (const ExecutedTensor& tensor : node.outputs)
            if (!has_storage(node.inputs, tensor.storage)) storages_.erase(tensor.storage);
    }

    void read(std::int64_t storage) {
        const auto found = storages_.find(storage);
        if (found == storages_.end()) return;
        const Storage& made = found->second;
        if (made.layer < layers_.size() && made.bytes > 0 && !aside_.at(at(*made.maker)))
            layers_[made.layer].kept.emplace_back(name_of_kept(made.maker->name), made.bytes);
        storages_.erase(found);
    }

    const ExecutionTrace& trace_;
    std::vector<ExecutedLayer> layers_;
    Aside aside_;
    std::unordered_map<std::int64_t, Storage> storages_;  ///< that no operator has read since
};

nlohmann::json json_of(const ExecutedLayer& layer) {
    return {{"name", layer.forward.name},
            {"parameters", layer.parameters},
            {"kept", json_of_kept(layer.kept)},
            {"forward_flops", layer.flops}};
}

}  // namespace

Result<ProfiledModel> model_of_execution_trace(const ExecutionTrace& trace) {
    const StepLayers step = layers_of_last_step(trace.spans);
    if (step.layers.empty()) return no_layers(step, trace.origin, "/nodes");
    nlohmann::json list = nlohmann::json::array();
    for (const ExecutedLayer& layer : GRADCOLL_VALUE(ExecutedStepReader(trace, step).layers()))
        list.push_back(json_of(layer));
    std::string found = text_of(step, trace.origin);
    found.insert(found.size() - 1,
                 "  times: those of matrix products, convolutions and attention on the cluster, as "
                 "the trace has none\n");
    return ProfiledModel{{trace.origin, {{"name", "executed"}, {"layers", std::move(list)}}},
                         std::move(found)};
}

}  // namespace gradcoll::mover
