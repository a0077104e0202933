// mover/input/own_model.cpp - reads docs/schemas/mover-model.json, the model in our own form.
#include <fmt/format.h>

#include "mover/input/model.hpp"

namespace gradcoll::mover {
namespace {

constexpr double longest_us = 2.4e8;

Status read_times(const nlohmann::json* json, const Fields& outer, std::string_view key,
                  GivenTimes& out) {
    if (json == nullptr) return {};
    Fields in(*json, outer.origin(), outer.pointer_to(key));
    in.number("forward_us", 0, longest_us, out.forward_us);
    in.number("backward_us", 0, longest_us, out.backward_us);
    return in.done();
}

Status consistent(Fields& in, const EqualBlocks& blocks, std::int64_t hidden) {
    if (blocks.kv_heads > 0 && blocks.heads % blocks.kv_heads != 0)
        in.wrong("kv_heads", fmt::format("allowed are divisors of heads, {}", blocks.heads));
    if (blocks.head_size == 0 && hidden % blocks.heads != 0)
        in.wrong("heads",
                 fmt::format("allowed are divisors of hidden, {}, or a head_size beside", hidden));
    return in.done();
}

void read_blocks(Fields& in, EqualBlocks& out) {
    in.integer("layers", 1, most_layers, out.layers);
    in.integer("heads", 1, most_wide, out.heads);
    in.integer("kv_heads", 1, most_wide, out.kv_heads);
    in.integer("head_size", 1, most_wide, out.head_size);
    in.integer("feedforward", 1, most_wide, out.feedforward);
    in.flag("gated", out.gated);
    in.flag("biases", out.biases);
}

Status read_transformer(const nlohmann::json& json, const std::string& origin,
                        TransformerModel& out) {
    Fields in(json, origin, "/transformer");
    EqualBlocks blocks;
    in.require({"layers", "hidden", "heads", "sequence"});
    read_blocks(in, blocks);
    in.integer("hidden", 1, most_wide, out.hidden);
    in.integer("vocabulary", 0, most_wide, out.vocabulary);
    in.integer("sequence", 1, most_wide, out.sequence);
    in.integer("positions", 0, most_wide, out.positions);
    in.integer("number_bytes", 1, 8, out.number_bytes);
    in.flag("tied", out.tied);
    in.flag("dropout", out.dropout);
    in.word<Attention>("attention", {{"eager", Attention::eager}, {"flash", Attention::flash}},
                       out.attention);
    in.word<Loss>("loss", {{"fused", Loss::fused}, {"eager", Loss::eager}}, out.loss);
    for (const auto& [key, times] : {std::pair{"embedding_times", &out.embedding_times},
                                     std::pair{"attention_times", &blocks.attention_times},
                                     std::pair{"feedforward_times", &blocks.feedforward_times},
                                     std::pair{"head_times", &out.head_times}})
        in.fault(read_times(in.inner(key), in, key, *times));
    GRADCOLL_TRY(in.done());
    GRADCOLL_TRY(consistent(in, blocks, out.hidden));
    set_blocks(blocks, out);
    return {};
}

Status read_kept(const nlohmann::json& list, Fields& outer, std::vector<KeptTensor>& out) {
    if (!list.is_array() || list.size() > 64) {
        outer.wrong("kept", "allowed is an array of at most 64 tensors");
        return {};
    }
    for (std::size_t t = 0; t < list.size(); ++t) {
        Fields in(list[t], outer.origin(), fmt::format("{}/{}", outer.pointer_to("kept"), t));
        in.require({"name", "bytes"});
        in.text("name", out.emplace_back().name);
        in.bytes("bytes", 0, most_bytes, out.back().bytes);
        GRADCOLL_TRY(in.done());
    }
    return {};
}

Status read_layer(const nlohmann::json& json, const std::string& origin, std::size_t index,
                  ListedLayer& out) {
    Fields in(json, origin, fmt::format("/layers/{}", index));
    in.require({"name"});
    in.text("name", out.name);
    in.integer("repeat", 1, most_layers, out.repeat);
    in.integer("parameters", 0, most_bytes / 16, out.parameters);
    in.bytes("input_bytes", 0, most_bytes, out.input_bytes);
    in.bytes("workspace_bytes", 0, most_bytes, out.workspace_bytes);
    in.bytes("backward_workspace_bytes", 0, most_bytes, out.backward_workspace_bytes);
    in.number("forward_flops", 0, 1e21, out.forward_flops);
    in.number("forward_us", 0, longest_us, out.times.forward_us);
    in.number("backward_us", 0, longest_us, out.times.backward_us);
    if (const auto* kept = in.inner("kept")) in.fault(read_kept(*kept, in, out.kept));
    return in.done();
}

Status read_layers(const nlohmann::json& list, Fields& outer, std::vector<ListedLayer>& out) {
    if (!list.is_array() || list.empty() || list.size() > most_layers) {
        outer.wrong("layers", fmt::format("allowed is an array of 1 to {} layers", most_layers));
        return {};
    }
    std::int64_t count = 0;
    for (std::size_t l = 0; l < list.size(); ++l) {
        GRADCOLL_TRY(read_layer(list[l], outer.origin(), l, out.emplace_back()));
        count += out.back().repeat;
        if (count > most_layers)
            return wrong_input(outer.origin(), "/layers",
                               fmt::format("at most {} layers are allowed", most_layers));
    }
    return {};
}

}  // namespace

Result<Model> own_model(const Document& document) {
    Model model;
    Fields in(document.json, document.origin);
    in.text("name", model.name);
    const auto* transformer = in.inner("transformer");
    const auto* layers = in.inner("layers");
    GRADCOLL_TRY(in.done());
    if ((transformer == nullptr) == (layers == nullptr))
        return wrong_input(document.origin, "",
                           "allowed is one of transformer and layers, a config.json of Hugging "
                           "Face with its model_type, or a model of Calculon or vTrain");
    if (transformer != nullptr)
        in.fault(read_transformer(*transformer, document.origin,
                                  model.body.emplace<TransformerModel>()));
    else
        in.fault(read_layers(*layers, in, model.body.emplace<std::vector<ListedLayer>>()));
    GRADCOLL_TRY(in.done());
    return model;
}

}  // namespace gradcoll::mover
