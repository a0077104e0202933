// mover/input/config_figures.cpp - see config_figures.hpp.
#include "mover/input/config_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/json_value.hpp"

namespace gradcoll::mover {
namespace {

/// Returns whether the model keeps masks: any probability of dropping is above 0.
bool drops(Fields& in) {
    double most = 0;
    for (const char* key :
         {"resid_pdrop", "hidden_dropout", "attn_pdrop", "embd_pdrop", "attention_dropout",
          "hidden_dropout_prob", "attention_probs_dropout_prob", "dropout_rate", "dropout",
          "embedding_dropout", "mlp_dropout"}) {
        double probability = 0;
        in.number(key, 0, 1, probability);
        most = std::max(most, probability);
    }
    return most > 0;
}

}  // namespace

Figures read_figures(Fields& in, TransformerModel& out, const FigureNames& names) {
    Figures figures;
    figures.layers = required_at(in, names.layers, 1, most_layers);
    out.hidden = required_at(in, names.hidden);
    figures.heads = required_at(in, names.heads);
    if (!names.feedforward.empty()) figures.feedforward = required_at(in, names.feedforward);
    if (!names.vocabulary.empty()) out.vocabulary = required_at(in, names.vocabulary);
    if (!names.positions.empty()) out.sequence = required_at(in, names.positions);
    in.integer("num_key_value_heads", 1, most_wide, figures.kv_heads);
    in.integer(names.head_size, 1, most_wide, figures.head_size);
    in.flag("tie_word_embeddings", out.tied);
    out.dropout = drops(in);
    if (!in.done_ignoring_others().ok()) return {};
    if (figures.kv_heads == 0) figures.kv_heads = figures.heads;
    if (figures.heads % figures.kv_heads != 0)
        in.wrong("num_key_value_heads", fmt::format("allowed are divisors of {}", figures.heads));
    if (figures.head_size == 0 && out.hidden % figures.heads != 0)
        in.wrong(names.heads, fmt::format("allowed are divisors of {}", out.hidden));
    if (!in.done_ignoring_others().ok()) return {};
    if (figures.head_size == 0) figures.head_size = out.hidden / figures.heads;
    return figures;
}

bool flag_at(Fields& in, std::string_view key) {
    bool flag = false;
    in.flag(key, flag);
    return flag;
}

std::int64_t integer_at(Fields& in, std::string_view key, std::int64_t least, std::int64_t most) {
    std::int64_t integer = 0;
    in.integer(key, least, most, integer);
    return integer;
}

std::int64_t required_at(Fields& in, std::string_view key, std::int64_t least, std::int64_t most) {
    in.require({key});
    return integer_at(in, key, least, most);
}

std::array<std::int64_t, 2> two_sides_at(Fields& in, std::string_view key) {
    const nlohmann::json* value = in.inner(key);
    if (value == nullptr || !value->is_array()) {
        const std::int64_t side = required_at(in, key);
        return {side, side};
    }
    const auto is_side = [](const nlohmann::json& one) {
        return one.is_number_unsigned() && one.get<std::uint64_t>() >= 1 &&
               one.get<std::uint64_t>() <= 1 << 20;
    };
    if (value->size() == 2 && is_side((*value)[0]) && is_side((*value)[1]))
        return {(*value)[0].get<std::int64_t>(), (*value)[1].get<std::int64_t>()};
    in.wrong(key, "allowed are a number, or height and width");
    return {0, 0};
}

void refuse_flag(Fields& in, std::string_view key, const std::string& why) {
    if (flag_at(in, key)) in.wrong(key, "allowed is false: " + why);
}

std::vector<std::int64_t> windows_at(Fields& in, std::int64_t layers,
                                     const std::vector<LayerType>& types,
                                     const std::function<bool(std::int64_t layer)>& otherwise) {
    const auto count = static_cast<std::size_t>(layers);
    std::vector<std::int64_t> windows(count);
    const nlohmann::json* list = in.inner("layer_types");
    if (list == nullptr) {
        for (std::size_t l = 0; l < count; ++l)
            if (otherwise(static_cast<std::int64_t>(l))) windows[l] = types.front().window;
        return windows;
    }
    std::string words;
    for (const LayerType& type : types)
        words += (words.empty() ? "" : ", ") + std::string(type.word);
    const bool fits = list->is_array() && list->size() == count;
    if (!fits)
        in.wrong("layer_types",
                 fmt::format("allowed is an array of {} words of {}", layers, words));
    for (std::size_t l = 0; fits && l < count; ++l) {
        const auto type = std::find_if(types.begin(), types.end(), [&](const LayerType& known) {
            return (*list)[l] == known.word;
        });
        if (type != types.end())
            windows[l] = type->window;
        else
            in.fault(
                wrong_input(in.origin(), fmt::format("{}/{}", in.pointer_to("layer_types"), l),
                            fmt::format("found {}, allowed are {}", shown((*list)[l]), words)));
    }
    return windows;
}

std::vector<bool> layers_listed_at(Fields& in, std::string_view key, std::int64_t layers) {
    std::vector<bool> listed(static_cast<std::size_t>(layers));
    const nlohmann::json* list = in.inner(key);
    if (list == nullptr) return listed;
    const auto is_layer = [](const nlohmann::json& one) {
        return one.is_number_unsigned() && one.get<std::uint64_t>() < most_layers;
    };
    if (!list->is_array() || !std::all_of(list->begin(), list->end(), is_layer)) {
        in.wrong(key, "allowed is an array of layers' numbers");
        return listed;
    }
    for (const nlohmann::json& one : *list)
        if (one.get<std::size_t>() < listed.size()) listed[one.get<std::size_t>()] = true;
    return listed;
}

SelfAttention attention_of(const Figures& figures, bool in_bias, bool out_bias) {
    return {.heads = figures.heads,
            .kv_heads = figures.kv_heads,
            .head_size = figures.head_size,
            .query_bias = in_bias,
            .key_bias = in_bias,
            .value_bias = in_bias,
            .out_bias = out_bias};
}

FeedForward gated_of(const Figures& figures, bool bias) {
    return {.width = figures.feedforward, .gated = true, .up_bias = bias, .down_bias = bias};
}

Part part_of(const decltype(Part::body)& body, Norm before, Norm behind) {
    return {.norm_before = before, .norm_behind = behind, .body = body};
}

}  // namespace gradcoll::mover
