// mover/input/hugging_face.cpp - reads the model from a config.json of Hugging Face. Keys that say
// nothing about sizes are ignored.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "mover/input/model.hpp"

namespace gradcoll::mover {
namespace {

/// A Family says how the models of one type name their figures, and what all of the type share.
struct Family {
    std::string_view type;
    std::string_view layers, hidden, heads, feedforward, positions;
    bool gated, biases, learned_positions, tied;
};

constexpr Family like_llama(std::string_view type, bool tied) {
    return {type,
            "num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "intermediate_size",
            "max_position_embeddings",
            true,
            false,
            false,
            tied};
}

// `tied` is the default of tie_word_embeddings.
constexpr std::array families = {
    Family{"gpt2", "n_layer", "n_embd", "n_head", "n_inner", "n_positions", false, true, true,
           true},
    Family{"gpt_neox", "num_hidden_layers", "hidden_size", "num_attention_heads",
           "intermediate_size", "max_position_embeddings", false, true, false, false},
    like_llama("llama", false), like_llama("mistral", false), like_llama("qwen2", false)};

std::string types() {
    std::string list;
    for (const Family& family : families)
        list += (list.empty() ? "" : ", ") + std::string(family.type);
    return list;
}

const Family* family_of(const std::string& type) {
    for (const Family& family : families)
        if (family.type == type) return &family;
    return nullptr;
}

/// Returns whether the model keeps masks: any probability of dropping is above 0.
bool drops(Fields& in) {
    double most = 0;
    for (const char* key : {"resid_pdrop", "hidden_dropout", "attn_pdrop", "attention_dropout"}) {
        double probability = 0;
        in.number(key, 0, 1, probability);
        most = std::max(most, probability);
    }
    return most > 0;
}

void read_figures(Fields& in, const Family& family, TransformerModel& out) {
    in.require({family.layers, family.hidden, family.heads, "vocab_size", family.positions});
    in.integer(family.layers, 1, most_layers, out.layers);
    in.integer(family.hidden, 1, most_wide, out.hidden);
    in.integer(family.heads, 1, most_wide, out.heads);
    in.integer(family.feedforward, 1, most_wide, out.feedforward);
    in.integer("vocab_size", 1, most_wide, out.vocabulary);
    in.integer(family.positions, 1, most_wide, out.sequence);
    in.integer("num_key_value_heads", 1, most_wide, out.kv_heads);
    in.integer("head_dim", 1, most_wide, out.head_size);
    out.tied = family.tied;
    in.flag("tie_word_embeddings", out.tied);
    out.gated = family.gated;
    out.biases = family.biases;
    out.dropout = drops(in);
    if (family.learned_positions) out.positions = out.sequence;
}

void check_figures(Fields& in, const Family& family, TransformerModel& out) {
    if (out.kv_heads == 0) out.kv_heads = out.heads;
    if (out.feedforward == 0) out.feedforward = 4 * out.hidden;
    if (out.heads % out.kv_heads != 0)
        in.wrong("num_key_value_heads", fmt::format("allowed are divisors of {}", out.heads));
    if (out.head_size == 0 && out.hidden % out.heads != 0)
        in.wrong(family.heads, fmt::format("allowed are divisors of {}", out.hidden));
    if (out.head_size == 0) out.head_size = out.hidden / out.heads;
}

}  // namespace

Result<Model> model_of_hugging_face(const Document& document) {
    Model model;
    Fields in(document.json, document.origin);
    in.text("model_type", model.name);
    GRADCOLL_TRY(in.done_ignoring_others());
    const Family* family = family_of(model.name);
    if (family == nullptr) {
        in.wrong("model_type", "allowed are " + types());
        return in.done_ignoring_others();
    }
    for (const char* experts : {"num_local_experts", "num_experts"})
        if (in.has(experts)) in.wrong(experts, "models of experts are not read");
    auto& transformer = model.body.emplace<TransformerModel>();
    read_figures(in, *family, transformer);
    GRADCOLL_TRY(in.done_ignoring_others());
    check_figures(in, *family, transformer);
    GRADCOLL_TRY(in.done_ignoring_others());
    return model;
}

}  // namespace gradcoll::mover
