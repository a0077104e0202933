// tests/mover/config_test.cpp - a config.json of Hugging Face becomes the model that transformers
// builds from it. Counts of parameters are transformers' own (`scripts/measure mover-models`).
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "mover/analysis/layers.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

Model model_of_text(const std::string& text) {
    const auto model = model_of(*document_of_text("f", text));
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? *model : Model{};
}

std::vector<DeviceLayer> layers_of_text(const std::string& text, const std::string& parallel) {
    const auto layers =
        layers_on_device(model_of_text(text), *parallel_of(*read_document("--parallel", parallel)),
                         *cluster_of(*document_of_text("f", cluster_text)));
    EXPECT_TRUE(layers.ok()) << layers.status().message();
    return layers.ok() ? *layers : std::vector<DeviceLayer>{};
}

std::int64_t parameters_of(const std::vector<DeviceLayer>& layers) {
    return std::accumulate(
        layers.begin(), layers.end(), std::int64_t{0},
        [](std::int64_t sum, const DeviceLayer& layer) { return sum + layer.parameters; });
}

std::int64_t bytes_of(const LayerPart& part, const std::string& name) {
    for (const KeptPart& kept : part.kept)
        if (kept.name == name) return kept.bytes;
    return 0;
}

struct Counted {
    const char* config;
    std::int64_t parameters;
};

constexpr std::array counted = {
    Counted{R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25,
                "n_inner": null})",
            1'557'611'200},
    Counted{R"({"model_type": "gpt_neox"})", 20'554'567'680},
    Counted{R"({"model_type": "llama", "dtype": "bfloat16"})", 6'738'415'616},
    Counted{R"({"model_type": "llama", "attention_bias": true, "mlp_bias": true})", 6'739'775'488},
    Counted{R"({"model_type": "mistral"})", 7'241'732'096},
    Counted{R"({"model_type": "mistral3", "tie_word_embeddings": false,
                "vision_config": {"patch_size": 14, "image_size": 1540},
                "text_config": {"vocab_size": 131072, "hidden_size": 5120,
                "intermediate_size": 32768, "num_hidden_layers": 40, "head_dim": 128}})",
            24'011'361'280},
    Counted{R"({"model_type": "qwen2", "vocab_size": 152064, "hidden_size": 3584,
                "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
                "num_key_value_heads": 4})",
            7'615'616'512},
    Counted{R"({"model_type": "qwen2_vl", "vocab_size": 152064, "hidden_size": 3584,
                "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
                "num_key_value_heads": 4, "vision_config": {"hidden_size": 3584}})",
            8'291'375'616},
    Counted{R"({"model_type": "qwen2_5_vl", "vision_config": {"hidden_size": 1280},
                "text_config": {"vocab_size": 152064, "hidden_size": 3584,
                "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
                "num_key_value_heads": 4}})",
            8'292'166'656},
    Counted{R"({"model_type": "qwen3_vl", "vision_config": {"out_hidden_size": 4096},
                "text_config": {"intermediate_size": 12288, "num_hidden_layers": 36,
                "num_key_value_heads": 8}})",
            8'767'123'696},
    Counted{R"({"model_type": "qwen3", "intermediate_size": 12288, "num_hidden_layers": 36,
                "num_key_value_heads": 8, "rope_parameters": {"rope_theta": 1000000}})",
            8'190'735'360},
    Counted{R"({"model_type": "phi3", "vocab_size": 100352, "hidden_size": 5120,
                "intermediate_size": 17920, "num_hidden_layers": 40, "num_attention_heads": 40,
                "num_key_value_heads": 10})",
            14'659'507'200},
    Counted{R"({"model_type": "gemma3_text", "vocab_size": 262144, "hidden_size": 1152,
                "intermediate_size": 6912, "num_attention_heads": 4, "num_key_value_heads": 1})",
            999'885'952},
    Counted{R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
                "intermediate_size": 10240, "num_hidden_layers": 34},
                "vision_config": {"hidden_size": 1152, "intermediate_size": 4304,
                "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 896,
                "patch_size": 14, "vision_use_head": false}})",
            4'300'079'472},
    Counted{R"({"model_type": "gemma3", "text_config": {"hidden_size": 5376,
                "intermediate_size": 21504, "num_hidden_layers": 62, "num_attention_heads": 32,
                "num_key_value_heads": 16, "head_dim": 128},
                "vision_config": {"hidden_size": 1152, "intermediate_size": 4304,
                "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 896,
                "patch_size": 14, "vision_use_head": false}})",
            27'432'406'640},
    Counted{R"({"model_type": "mixtral"})", 46'702'792'704},
    Counted{R"({"model_type": "qwen3_moe", "num_hidden_layers": 48, "head_dim": 128,
                "num_local_experts": 128})",
            30'532'122'624},
    Counted{R"({"model_type": "gpt_oss", "num_hidden_layers": 24, "num_local_experts": 32})",
            20'914'757'184},
    Counted{R"({"model_type": "glm4_moe", "head_dim": 128, "attention_bias": true})",
            106'852'245'504},
    Counted{R"({"model_type": "deepseek_v3"})", 671'026'404'352},
    Counted{
        R"({"model_type": "llama4", "text_config": {}, "vision_config": {"hidden_size": 1408, "vision_output_dim": 4096,
                "image_size": 336}})",
        108'641'793'536},
    Counted{R"({"model_type": "llama4", "text_config": {"num_local_experts": 128,
                "interleave_moe_layer_step": 2}, "vision_config": {"hidden_size": 1408, "vision_output_dim": 4096,
                "image_size": 336}})",
            401'583'781'376},
    Counted{R"({"model_type": "mamba2", "vocab_size": 50288, "hidden_size": 2560, "num_heads": 80,
                "n_groups": 1})",
            2'831'336'960},
    Counted{R"({"model_type": "falcon_h1", "vocab_size": 130049, "hidden_size": 3072,
                "intermediate_size": 12288, "num_hidden_layers": 44, "num_attention_heads": 12,
                "num_key_value_heads": 2, "head_dim": 128, "mamba_d_ssm": 3072,
                "mamba_n_heads": 24})",
            7'585'519'712},
    Counted{R"({"model_type": "modernbert"})", 149'655'232},
    Counted{R"({"model_type": "modernbert", "hidden_size": 1024, "intermediate_size": 2624,
                "num_hidden_layers": 28, "num_attention_heads": 16})",
            395'881'664},
    Counted{R"({"model_type": "vit", "hidden_size": 1024, "intermediate_size": 4096,
                "num_hidden_layers": 24, "num_attention_heads": 16, "num_labels": 1000})",
            304'326'632},
    Counted{R"({"model_type": "t5", "d_model": 1024, "d_ff": 16384, "d_kv": 128,
                "num_layers": 24, "num_heads": 32})",
            2'851'598'336},
    Counted{R"({"model_type": "t5", "d_model": 1024, "d_ff": 2816, "num_layers": 24,
                "num_heads": 16, "feed_forward_proj": "gated-gelu"})",
            750'251'008},
    Counted{R"({"model_type": "whisper", "vocab_size": 51866, "num_mel_bins": 128,
                "d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20,
                "encoder_ffn_dim": 5120, "decoder_layers": 32, "decoder_attention_heads": 20,
                "decoder_ffn_dim": 5120})",
            1'543'490'560},
};

TEST(MoverConfig, ParametersAreThoseThatTransformersBuilds) {
    for (const Counted& one : counted)
        EXPECT_EQ(one.parameters, parameters_of(layers_of_text(one.config, "sequence=16")))
            << one.config;
}

TEST(MoverConfig, TensorParallelismSplitsWhatItMay) {
    for (const char* config :
         {R"({"model_type": "deepseek_v3"})", R"({"model_type": "mixtral"})",
          R"({"model_type": "qwen2"})", R"({"model_type": "mamba2"})", R"({"model_type": "t5"})"}) {
        const double whole =
            static_cast<double>(parameters_of(layers_of_text(config, "sequence=16")));
        const double split =
            static_cast<double>(parameters_of(layers_of_text(config, "sequence=16,tensor=4")));
        EXPECT_GT(split, whole / 4) << config;
        EXPECT_LT(split, whole / 4 * 1.01) << config;
    }
}

TEST(MoverConfig, AQueryNormKeepsItsInput) {
    const auto layers = layers_of_text(R"({"model_type": "qwen3"})", "sequence=16");
    const LayerPart& attention = layers[1].parts[0];
    EXPECT_EQ(16 * 4096 * 2, bytes_of(attention, "query_norm.in"));
    EXPECT_EQ(16 * 4096 * 2, bytes_of(attention, "key_norm.in"));
}

TEST(MoverConfig, ASandwichHasNormsBehindItsParts) {
    const auto layers = layers_of_text(R"({"model_type": "gemma3_text"})", "sequence=16");
    for (const LayerPart& part : layers[1].parts)
        EXPECT_EQ(16 * 2304 * 2, bytes_of(part, "norm_behind.in"));
}

TEST(MoverConfig, AWindowBoundsTheCoreOfItsLayers) {
    const auto layers =
        layers_of_text(R"({"model_type": "gemma3_text", "sliding_window": 1024})", "sequence=8192");
    const auto core = [&](std::size_t layer) { return layers[layer + 1].parts[0].core_forward; };
    EXPECT_NEAR(8.0, static_cast<double>(core(5)) / static_cast<double>(core(4)), 1e-3);
    EXPECT_EQ(core(5), core(11));
    const auto short_ones =
        layers_of_text(R"({"model_type": "gemma3_text", "sliding_window": 1024})", "sequence=512");
    EXPECT_EQ(short_ones[5].parts[0].core_forward, short_ones[6].parts[0].core_forward);
}

TEST(MoverConfig, LayerTypesAreTakenAsWritten) {
    const std::string three =
        R"({"model_type": "gemma3_text", "num_hidden_layers": 3, "sliding_window": 64,)";
    const auto layers = layers_of_text(
        three + R"("layer_types": ["full_attention", "sliding_attention", "full_attention"]})",
        "sequence=512");
    EXPECT_EQ(layers[1].parts[0].core_forward, layers[3].parts[0].core_forward);
    EXPECT_GT(layers[1].parts[0].core_forward, 2 * layers[2].parts[0].core_forward);
    EXPECT_EQ(
        "f: /layer_types: found an array, allowed is an array of 3 words of sliding_attention, "
        "full_attention",
        fault_of(model_of, three + R"("layer_types": ["full_attention"]})"));
    EXPECT_EQ(
        "f: /layer_types/1: found \"linear\", allowed are sliding_attention, full_attention",
        fault_of(model_of, three + R"("layer_types": ["full_attention", "linear", "linear"]})"));
}

TEST(MoverConfig, ChosenExpertsAreComputedAndAllAreHeld) {
    const std::string mixtral = R"({"model_type": "mixtral", "num_local_experts": )";
    const auto eight = layers_of_text(mixtral + "8}", "sequence=4096");
    const auto four = layers_of_text(mixtral + "4}", "sequence=4096");
    const auto all = layers_of_text(mixtral + R"(8, "num_experts_per_tok": 8})", "sequence=4096");
    EXPECT_EQ(4 * (3 * 4096 * std::int64_t{14336} + 4096),
              eight[1].parameters - four[1].parameters);
    const auto forward = [](const std::vector<DeviceLayer>& layers) {
        return static_cast<double>(layers[1].parts[1].forward);
    };
    EXPECT_NEAR(1.0, forward(eight) / forward(four), 1e-2);
    EXPECT_NEAR(4.0, forward(all) / forward(eight), 1e-2);
    const LayerPart& experts = eight[1].parts[1];
    EXPECT_EQ(4096 * 4096 * 2, bytes_of(experts, "router.in"));
    EXPECT_EQ(2 * 4096 * 4096 * 2, bytes_of(experts, "experts.in"));
    EXPECT_EQ(std::int64_t{2} * 4096 * 14336 * 2, bytes_of(experts, "experts.gate.out"));
    EXPECT_EQ(2 * 4096 * 4096 * 2, bytes_of(experts, "experts.out"));
}

TEST(MoverConfig, FirstLayersOfDeepSeekAreDense) {
    const auto layers = layers_of_text(R"({"model_type": "deepseek_v3"})", "sequence=16");
    EXPECT_EQ(0, bytes_of(layers[3].parts[1], "experts.in"));
    EXPECT_EQ(8 * 16 * 7168 * 2, bytes_of(layers[4].parts[1], "experts.in"));
    EXPECT_EQ(16 * 2048 * 2, bytes_of(layers[4].parts[1], "shared.down.in"));
    const LayerPart& attention = layers[4].parts[0];
    EXPECT_EQ(16 * 128 * 192 * 2, bytes_of(attention, "query"));
    EXPECT_EQ(16 * 512 * 2, bytes_of(attention, "kv_up.in"));
    EXPECT_EQ(16 * 128 * 128 * 2, bytes_of(attention, "out.in"));
}

TEST(MoverConfig, LayersOfLlama4Differ) {
    const auto layers = layers_of_text(
        R"({"model_type": "llama4_text", "moe_layers": [1], "num_hidden_layers": 4})",
        "sequence=16");
    const auto has_experts = [&](std::size_t layer) {
        return bytes_of(layers[layer + 1].parts[1], "experts.weighed") > 0;
    };
    const auto norms_queries = [&](std::size_t layer) {
        return bytes_of(layers[layer + 1].parts[0], "query_norm.in") > 0;
    };
    for (const std::size_t layer : {0U, 1U, 2U, 3U}) {
        EXPECT_EQ(layer == 1, has_experts(layer)) << layer;
        EXPECT_EQ(layer != 3, norms_queries(layer)) << layer;
    }
}

TEST(MoverConfig, AStateSpaceKeepsWhatItProjectsAndScans) {
    const auto layers = layers_of_text(R"({"model_type": "mamba2"})", "sequence=16");
    const LayerPart& states = layers[1].parts[0];
    EXPECT_EQ(16 * (2 * 8192 + 2 * 8 * 128 + 128) * 2, bytes_of(states, "projected"));
    EXPECT_EQ(16 * 8192 * 2, bytes_of(states, "scanned"));
    EXPECT_EQ(16 * 4096 * 4, layers[1].input_bytes);
    EXPECT_EQ(1U, layers[1].parts.size());
}

TEST(MoverConfig, AttentionBesideAStateSpaceReadsTheSameNorm) {
    const auto layers = layers_of_text(R"({"model_type": "falcon_h1"})", "sequence=16");
    ASSERT_EQ(3U, layers[1].parts.size());
    EXPECT_EQ(16 * 4096 * 2, bytes_of(layers[1].parts[0], "norm.in"));
    EXPECT_EQ(0, bytes_of(layers[1].parts[1], "norm.in"));
    EXPECT_EQ(16 * 4096 * 2, bytes_of(layers[1].parts[1], "qkv.in"));
}

TEST(MoverConfig, ADecoderLooksAtAllThatItsEncoderReturns) {
    const auto layers = layers_of_text(R"({"model_type": "whisper"})", "sequence=16");
    ASSERT_EQ(12U, layers.size());
    EXPECT_EQ("encoder end", layers[5].name);
    EXPECT_EQ(1500 * 384 * 2, bytes_of(layers[5].parts[0], "encoder.out"));
    EXPECT_FALSE(layers[5].recomputable);
    EXPECT_EQ("decoder embedding", layers[6].name);
    EXPECT_EQ("layer 4", layers[7].name);
    const LayerPart& cross = layers[7].parts[1];
    EXPECT_EQ(16 * 384 * 2, bytes_of(cross, "query"));
    EXPECT_EQ(1500 * 384 * 2, bytes_of(cross, "key"));
    EXPECT_EQ(1500 * 384 * 2, bytes_of(layers[1].parts[0], "query"));
    const auto refused =
        layers_on_device(model_of_text(R"({"model_type": "whisper"})"),
                         *parallel_of(*read_document("--parallel", "pipeline=2,micro_batches=2")),
                         *cluster_of(*document_of_text("f", cluster_text)));
    EXPECT_EQ("pipeline: found 2, allowed is 1 for a model of encoder and decoder",
              refused.status().message());
}

TEST(MoverConfig, DistancesAreMadeOnceForAllBlocksOfASide) {
    const auto layers = layers_of_text(R"({"model_type": "t5"})", "sequence=16");
    std::vector<std::string> names;
    for (const DeviceLayer& layer : layers)
        if (layer.parts[0].name == "distances") {
            names.push_back(layer.name);
            EXPECT_EQ(32 * 8, layer.parameters);
            EXPECT_EQ(8 * 16 * 16 * 2, bytes_of(layer.parts[0], "out"));
            EXPECT_FALSE(layer.recomputable);
        }
    EXPECT_EQ((std::vector<std::string>{"encoder distances", "decoder distances"}), names);
}

TEST(MoverConfig, AnActivationThatKeepsItsResultKeepsNothingMore) {
    const auto up = [](const std::string& more) {
        const auto layers = layers_of_text(R"({"model_type": "t5")" + more + "}", "sequence=16");
        return bytes_of(layers[2].parts[1], "up.out");
    };
    EXPECT_EQ(0, up(R"(, "dropout_rate": 0)"));
    EXPECT_EQ(16 * 2048 * 2, up(""));
    EXPECT_EQ(16 * 2048 * 2, up(R"(, "dropout_rate": 0, "feed_forward_proj": "gelu")"));
}

TEST(MoverConfig, PatchesOfAnImageAreTokens) {
    const std::string vit = R"({"model_type": "vit")";
    const auto model = model_of_text(vit + R"(, "image_size": [224, 112], "patch_size": 14})");
    EXPECT_EQ(16 * 8 + 1, std::get<TransformerModel>(model.body).sequence);
    const auto layers =
        layers_of_text(vit + R"(, "id2label": {"0": "cat", "1": "dog"}})", "data=1");
    EXPECT_EQ(3 * 224 * 224 * 2, bytes_of(layers[0].parts[0], "pixels"));
    EXPECT_EQ(2 * 4, bytes_of(layers.back().parts[0], "logits"));
}

TEST(MoverConfig, AFirstBlockMayHaveNoNorm) {
    const auto layers = layers_of_text(R"({"model_type": "modernbert"})", "sequence=16");
    EXPECT_EQ(16 * 768 * 2, bytes_of(layers[0].parts[0], "norm.in"));
    EXPECT_EQ(0, bytes_of(layers[1].parts[0], "norm.in"));
    EXPECT_EQ(16 * 768 * 2, bytes_of(layers[2].parts[0], "norm.in"));
    EXPECT_EQ(16 * 3 * 768 * 2, bytes_of(layers[2].parts[0], "value"));
    EXPECT_EQ(16 * 768 * 2, bytes_of(layers.back().parts[0], "dense_norm.in"));
}

TEST(MoverConfig, WithoutASequenceOneHasToBeGiven) {
    const auto refused = layers_on_device(model_of_text(R"({"model_type": "mamba2"})"), {},
                                          *cluster_of(*document_of_text("f", cluster_text)));
    EXPECT_EQ("sequence: is missing: the model does not say how many tokens a sample has",
              refused.status().message());
}

TEST(MoverConfig, MasksAreKeptWhereSomethingIsDropped) {
    const std::string neox = R"({"model_type": "gpt_neox")";
    EXPECT_FALSE(std::get<TransformerModel>(model_of_text(neox + "}").body).dropout);
    EXPECT_TRUE(std::get<TransformerModel>(model_of_text(neox + R"(, "hidden_dropout": 0.1})").body)
                    .dropout);
    EXPECT_TRUE(
        std::get<TransformerModel>(model_of_text(R"({"model_type": "gpt2"})").body).dropout);
}

TEST(MoverConfig, InfinityOfPythonIsNotJsonAndIsRead) {
    const auto read = [](const std::string& more) {
        return fault_of(model_of, R"({"model_type": "mamba2", )" + more + "}");
    };
    EXPECT_EQ("", read(R"("time_step_limit": [-Infinity, Infinity])"));
    EXPECT_EQ("f: /n_groups: found \"\\\"Infinity\", allowed are integers from 1 to 16777216",
              read(R"("n_groups": "\"Infinity")"));
    EXPECT_EQ("f: /n_groups: is missing", read(R"("n_groups": Infinity)"));
}

TEST(MoverConfig, TheOuterFileSaysWhetherTheHeadIsTied) {
    const std::string inner = R"(, "text_config": {"num_hidden_layers": 1}})";
    const auto tied = [&](const std::string& text) {
        return std::get<TransformerModel>(model_of_text(text + inner).body).tied;
    };
    EXPECT_TRUE(tied(R"({"model_type": "gemma3")"));
    EXPECT_FALSE(tied(R"({"model_type": "mistral3")"));
    EXPECT_TRUE(tied(R"({"model_type": "mistral3", "tie_word_embeddings": true)"));
}

TEST(MoverConfig, WhatIsWrongIsNamed) {
    const auto fault = [](const std::string& text) { return fault_of(model_of, text); };
    EXPECT_EQ(
        "f: /model_type: found \"rwkv\", allowed are deepseek_v3, falcon_h1, gemma3, gemma3_text, "
        "glm4_moe, gpt2, gpt_neox, gpt_oss, llama, llama4, llama4_text, mamba2, ministral3, "
        "mistral, mistral3, mixtral, modernbert, phi3, qwen2, qwen2_5_vl, qwen2_5_vl_text, "
        "qwen2_vl, qwen2_vl_text, qwen3, qwen3_moe, qwen3_vl, qwen3_vl_text, t5, vit, whisper",
        fault(R"({"model_type": "rwkv"})"));
    EXPECT_TRUE(fault(R"({"model_type": "gemma3", "text_config": {"model_type": "bert"}})")
                    .starts_with("f: /text_config/model_type: found \"bert\", allowed are "));
    EXPECT_EQ("f: /num_key_value_heads: found 32, allowed are divisors of 28",
              fault(R"({"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28})"));
    EXPECT_EQ("f: /intermediate_size: is missing",
              fault(R"({"model_type": "llama", "intermediate_size": null})"));
    EXPECT_EQ("f: /attention_bias: found \"yes\", allowed are true, false",
              fault(R"({"model_type": "llama", "attention_bias": "yes"})"));
    EXPECT_EQ("f: /num_experts_per_tok: found 9, allowed are numbers up to that of experts",
              fault(R"({"model_type": "mixtral", "num_experts_per_tok": 9})"));
    EXPECT_EQ("f: /add_cross_attention: found true, allowed is false: there is no encoder",
              fault(R"({"model_type": "gpt2", "add_cross_attention": true})"));
    EXPECT_EQ("f: /mlp_only_layers: found an array, allowed is an array of layers' numbers",
              fault(R"({"model_type": "qwen3_moe", "mlp_only_layers": [-1]})"));
    EXPECT_EQ("f: /text_config: is missing", fault(R"({"model_type": "gemma3"})"));
    EXPECT_EQ("f: /per_layer_config: found an object, figures of single layers are not read",
              fault(R"({"model_type": "llama", "per_layer_config": {"0": {}}})"));
    EXPECT_EQ("f: /hidden_size: found 1600, gpt2 calls it n_embd",
              fault(R"({"model_type": "gpt2", "hidden_size": 1600})"));
    EXPECT_EQ("", fault(R"({"model_type": "whisper", "hidden_size": 384, "d_model": 384})"));
    EXPECT_EQ("f: /num_heads: found 7, allowed are divisors of 8192",
              fault(R"({"model_type": "mamba2", "num_heads": 7})"));
    EXPECT_EQ("f: /patch_size: found an array, allowed are a number, or height and width",
              fault(R"({"model_type": "vit", "patch_size": [16]})"));
    EXPECT_EQ("f: /is_encoder_decoder: found false, allowed is true",
              fault(R"({"model_type": "t5", "is_encoder_decoder": false})"));
    EXPECT_EQ("f: /text_config: found an array, allowed is an object",
              fault(R"({"model_type": "llama4", "text_config": []})"));
}

}  // namespace
}  // namespace gradcoll::mover
