// mover/plan/count_layers.cpp - see count_layers.hpp.
#include "mover/plan/count_layers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace gradcoll::mover {
namespace {

/// A Place says where a layer, or a module of one, stands in its chunk.
struct Place {
    std::int64_t index = 0;
    std::int64_t chunk_size = 0;
};

/// Countables numbers the layers and modules of a rank. A chunk is a run of successive layers.
class Countables {
  public:
    explicit Countables(const RankProgram& rank) {
        for (const Operator& op : rank.operators)
            if (op.kind == OperatorKind::forward) {
                auto& parts = parts_of_[op.layer];
                parts = std::max(parts, op.part + 1);
            }
        for (auto first = parts_of_.cbegin(); first != parts_of_.cend();) first = add_chunk(first);
    }

    /// Returns null for a layer that has no forward, which is not counted.
    const Place* layer(std::int32_t layer) const { return find(layers_, layer); }
    Place module(std::int32_t layer, std::int32_t part) const {
        Place place = modules_.at(layer);
        place.index += part;
        return place;
    }
    std::int64_t most(Rule rule) const {
        std::int64_t most = 0;
        for (const auto& [layer, place] : rule == Rule::te ? layers_ : modules_)
            most = std::max(most, place.chunk_size - (rule == Rule::te ? 1 : 0));
        return most;
    }

  private:
    using Places = std::map<std::int32_t, Place>;
    using Parts = std::map<std::int32_t, std::int32_t>;

    static const Place* find(const Places& places, std::int32_t layer) {
        const auto found = places.find(layer);
        return found == places.end() ? nullptr : &found->second;
    }

    Parts::const_iterator add_chunk(Parts::const_iterator first) {
        auto end = first;
        std::int64_t layers = 0, modules = 0;
        for (; end != parts_of_.end() && end->first == first->first + layers; ++end) {
            layers_[end->first].index = layers++;
            modules_[end->first].index = modules;
            modules += end->second;
        }
        for (auto layer = first; layer != end; ++layer) {
            layers_[layer->first].chunk_size = layers;
            modules_[layer->first].chunk_size = modules;
        }
        return end;
    }

    Parts parts_of_;
    Places layers_;
    Places modules_;  ///< the place of each layer's first module
};

bool is_way_back(const Operator& op) {
    return op.kind == OperatorKind::backward || op.kind == OperatorKind::recompute;
}

/// Returns, for each operator, the last before it on the way back: backward, and what is recomputed
/// for it; -1: none.
std::vector<std::int32_t> before_on_way_back(const RankProgram& rank) {
    std::vector<std::int32_t> before;
    before.reserve(rank.operators.size());
    std::int32_t last = -1;
    for (const Operator& op : rank.operators) {
        before.push_back(last);
        if (is_way_back(op)) last = static_cast<std::int32_t>(before.size()) - 1;
    }
    return before;
}

/// Begins finds the first operator of each layer and micro-batch on the way back.
class Begins {
  public:
    explicit Begins(const RankProgram& rank) {
        for (std::size_t n = 0; n < rank.operators.size(); ++n) {
            const Operator& op = rank.operators[n];
            if (is_way_back(op))
                begins_.emplace(std::pair(op.layer, op.micro_batch), static_cast<std::int32_t>(n));
        }
    }
    std::int32_t of(std::int32_t layer, std::int32_t micro_batch) const {
        return begins_.at({layer, micro_batch});
    }

  private:
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> begins_;
};

/// Returns whether the rule counts tensors, and this is one of them.
bool counts_tensor(Rule rule, const RankProgram& rank, const DeviceTensor& tensor) {
    if (tensor.kind != MemoryKind::activations || tensor.stays || tensor.uses.size() < 2)
        return false;
    const auto next = static_cast<std::size_t>(tensor.uses[1]);
    return rule == Rule::torchtune ||
           (rule == Rule::deepspeed && rank.operators[next].kind == OperatorKind::recompute);
}

/// Returns how many tensors of a micro-batch the rule counts, by micro-batch.
std::vector<std::int64_t> tensors_of(Rule rule, const RankProgram& rank) {
    std::vector<std::int64_t> out;
    for (const DeviceTensor& tensor : rank.tensors) {
        if (!counts_tensor(rule, rank, tensor)) continue;
        const auto micro_batch = static_cast<std::size_t>(tensor.micro_batch);
        if (out.size() <= micro_batch) out.resize(micro_batch + 1);
        ++out[micro_batch];
    }
    return out;
}

/// Moves all tensors that the rule counts, but the last `staying` of each micro-batch.
RankChoice count_tensors(Rule rule, const RankProgram& rank, const std::vector<Gap>& gaps,
                         std::int64_t staying) {
    const auto way_back = before_on_way_back(rank);
    // Tensors are numbered in the order in which they are saved.
    auto left = tensors_of(rule, rank);
    std::vector<char> goes(rank.tensors.size());
    for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
        const DeviceTensor& tensor = rank.tensors[t];
        if (counts_tensor(rule, rank, tensor))
            goes[t] = left[static_cast<std::size_t>(tensor.micro_batch)]-- > staying ? 1 : 0;
    }
    RankChoice choice;
    for (const Gap& gap : gaps) {
        const auto t = static_cast<std::size_t>(gap.tensor);
        if (gap.must()) {
            choice.push_back({gap, std::max(gap.in_host + 1, 0)});
        } else if (goes[t] != 0 && gap.after == rank.tensors[t].uses.front()) {
            const std::int32_t before = way_back[static_cast<std::size_t>(gap.need)];
            choice.push_back({gap, before > gap.after ? before : gap.need});
        }
    }
    return choice;
}

}  // namespace

std::string_view name_of(Rule rule) {
    static constexpr std::array<std::string_view, 1 + rules_that_count.size()> names = {
        "ours", "te", "megatron", "torchtune", "deepspeed"};
    return names[static_cast<std::size_t>(rule)];
}

std::int64_t most_counted(Rule rule, const Program& program) {
    std::int64_t most = 0;
    for (const RankProgram& rank : program.ranks) {
        if (rule == Rule::te || rule == Rule::megatron)
            most = std::max(most, Countables(rank).most(rule));
        for (const std::int64_t tensors : tensors_of(rule, rank)) most = std::max(most, tensors);
    }
    return most;
}

RankChoice count_layers(Rule rule, const RankProgram& rank, const std::vector<Gap>& gaps,
                        std::int64_t count) {
    if (rule == Rule::torchtune || rule == Rule::deepspeed)
        return count_tensors(rule, rank, gaps, count);
    const Countables countables(rank);
    const auto way_back = before_on_way_back(rank);
    std::optional<Begins> begins;
    if (rule == Rule::te) begins.emplace(rank);
    RankChoice choice;
    for (const Gap& gap : gaps) {
        const DeviceTensor& tensor = rank.tensors[static_cast<std::size_t>(gap.tensor)];
        if (gap.must()) {
            choice.push_back({gap, std::max(gap.in_host + 1, 0)});
            continue;
        }
        const Place* layer = countables.layer(tensor.layer);
        if (tensor.kind != MemoryKind::activations || layer == nullptr || gap.after < 0) continue;
        std::int32_t fetched_at = gap.need;
        if (rule == Rule::te) {
            const std::int64_t going = std::min(count, layer->chunk_size - 1);
            if (layer->index >= going) continue;
            const std::int64_t ahead = layer->chunk_size - going - 1;
            fetched_at =
                begins->of(tensor.layer + static_cast<std::int32_t>(ahead), tensor.micro_batch);
        } else {
            const Operator& made_by = rank.operators[static_cast<std::size_t>(gap.after)];
            if (countables.module(tensor.layer, made_by.part).index >= count) continue;
            fetched_at = way_back[static_cast<std::size_t>(gap.need)];
        }
        // The rule would fetch the tensor before its last use, when it has not even gone: it cannot
        // be ahead here.
        choice.push_back({gap, fetched_at > gap.after ? fetched_at : gap.need});
    }
    return choice;
}

}  // namespace gradcoll::mover
