// mover/input/hugging_face.cpp - reads the model from a config.json of Hugging Face. Keys that say
// nothing about sizes are ignored.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "mover/input/config_figures.hpp"
#include "mover/input/model.hpp"

namespace gradcoll::mover {
namespace {

/// A Wrapper has the configuration of a text model inside, beside that of an encoder of images.
struct Wrapper {
    std::string_view type;
    std::string_view text_type;  ///< the model_type of `text_config`, if it has none
    bool may_be_flat = false;    ///< older files have no `text_config`
};

constexpr std::array wrappers = {Wrapper{"gemma3", "gemma3_text"},
                                 Wrapper{"llama4", "llama4_text"},
                                 Wrapper{"mistral3", "mistral"},
                                 Wrapper{"qwen2_5_vl", "qwen2_5_vl_text", true},
                                 Wrapper{"qwen2_vl", "qwen2_vl_text", true},
                                 Wrapper{"qwen3_vl", "qwen3_vl_text"}};

/// An Alias is another name of a key, which files have beside that key at most.
struct Alias {
    std::string_view type, alias, key;
};

constexpr std::array aliases = {
    Alias{"gpt2", "hidden_size", "n_embd"},
    Alias{"gpt2", "max_position_embeddings", "n_positions"},
    Alias{"gpt2", "num_attention_heads", "n_head"},
    Alias{"gpt2", "num_hidden_layers", "n_layer"},
    Alias{"t5", "head_dim", "d_kv"},
    Alias{"t5", "hidden_size", "d_model"},
    Alias{"t5", "num_attention_heads", "num_heads"},
    Alias{"t5", "num_hidden_layers", "num_layers"},
    Alias{"whisper", "hidden_size", "d_model"},
    Alias{"whisper", "num_attention_heads", "encoder_attention_heads"},
    Alias{"whisper", "num_hidden_layers", "encoder_layers"},
};

/// Keys of one row mean the same.
constexpr std::array<std::array<std::string_view, 3>, 1> synonyms = {
    {{"num_local_experts", "num_experts", "n_routed_experts"}}};

std::vector<Family> all_families() {
    std::vector<Family> all;
    for (const std::span<const Family> some :
         {dense_families(), expert_families(), state_space_families(), encoder_families()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

std::string types() {
    std::vector<std::string_view> all;
    for (const Family& family : all_families()) all.push_back(family.type);
    for (const Wrapper& wrapper : wrappers) all.push_back(wrapper.type);
    std::sort(all.begin(), all.end());
    std::string list;
    for (const std::string_view type : all) list += (list.empty() ? "" : ", ") + std::string(type);
    return list;
}

bool is_said(const nlohmann::json& file, const std::string& key) {
    const auto has = [&](std::string_view one) { return file.contains(one); };
    for (const auto& row : synonyms)
        if (std::find(row.begin(), row.end(), key) != row.end())
            return std::any_of(row.begin(), row.end(), has);
    return has(key);
}

/// Records a fault for figures that the family's reader would not find.
void check_names(Fields& in, const nlohmann::json& file, std::string_view type) {
    if (in.has("per_layer_config"))
        in.wrong("per_layer_config", "figures of single layers are not read");
    for (const Alias& one : aliases)
        if (one.type == type && in.has(one.alias) && !file.contains(one.key))
            in.wrong(one.alias, fmt::format("{} calls it {}", type, one.key));
}

/// Returns the file with the family's defaults for all that it does not say.
nlohmann::json completed(nlohmann::json file, std::string_view defaults) {
    const auto all = nlohmann::json::parse(defaults);
    for (const auto& [key, value] : all.items())
        if (!is_said(file, key)) file[key] = value;
    return file;
}

Result<Model> model_of_family(const nlohmann::json& file, const std::string& type,
                              const std::string& origin, const std::string& pointer) {
    const auto families = all_families();
    const auto family = std::find_if(families.begin(), families.end(),
                                     [&](const Family& one) { return one.type == type; });
    if (family == families.end())
        return wrong_input(origin, pointer + "/model_type",
                           fmt::format("found \"{}\", allowed are {}", printable(type), types()));
    const nlohmann::json whole = completed(file, family->defaults);
    Model model;
    model.name = type;
    Fields in(whole, origin, pointer);
    check_names(in, file, type);
    family->read(in, model.body.emplace<TransformerModel>());
    GRADCOLL_TRY(in.done_ignoring_others());
    return model;
}

/// Reads the encoder of images beside a text model.
Result<Tower> tower_of(const Document& document, std::string_view type, std::int64_t text_hidden) {
    static const nlohmann::json unsaid = nlohmann::json::object();
    const auto families = tower_families();
    const auto family = std::find_if(families.begin(), families.end(),
                                     [&](const TowerFamily& one) { return one.type == type; });
    const nlohmann::json outer = completed(document.json, family->outer_defaults);
    Fields around(outer, document.origin);
    const nlohmann::json* file = around.inner("vision_config");
    if (file != nullptr && !file->is_object())
        around.wrong("vision_config", "allowed is an object");
    GRADCOLL_TRY(around.done_ignoring_others());
    const nlohmann::json whole = completed(file != nullptr ? *file : unsaid, family->defaults);
    Fields in(whole, document.origin, "/vision_config");
    Tower tower;
    family->read(in, around, text_hidden, tower);
    GRADCOLL_TRY(in.done_ignoring_others());
    GRADCOLL_TRY(around.done_ignoring_others());
    return tower;
}

/// Reads a text model, and the encoder of images beside it.
Result<Model> model_of_both(const Document& document, const Wrapper& wrapper) {
    std::string type(wrapper.text_type), pointer;
    nlohmann::json file = document.json;
    if (document.json.contains("text_config")) {
        pointer = "/text_config";
        file = document.json["text_config"];
        Fields in(file, document.origin, pointer);
        in.text("model_type", type);
        GRADCOLL_TRY(in.done_ignoring_others());
        if (document.json.contains("tie_word_embeddings"))
            file["tie_word_embeddings"] = document.json["tie_word_embeddings"];
    } else if (!wrapper.may_be_flat) {
        return wrong_input(document.origin, "/text_config", "is missing");
    }
    Model model = GRADCOLL_VALUE(model_of_family(file, type, document.origin, pointer));
    model.tower = GRADCOLL_VALUE(
        tower_of(document, wrapper.type, std::get<TransformerModel>(model.body).hidden));
    model.name = wrapper.type;
    return model;
}

}  // namespace

Result<Model> model_of_hugging_face(const Document& document) {
    std::string type;
    Fields in(document.json, document.origin);
    in.text("model_type", type);
    GRADCOLL_TRY(in.done_ignoring_others());
    for (const Wrapper& wrapper : wrappers)
        if (wrapper.type == type) return model_of_both(document, wrapper);
    return model_of_family(document.json, type, document.origin, "");
}

}  // namespace gradcoll::mover
