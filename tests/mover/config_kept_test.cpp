// tests/mover/config_kept_test.cpp - small models keep what transformers' own do, whose norms,
// gates, attention and state spaces were replaced by ones that keep what fused kernels keep
// (`scripts/measure mover-models`, in bfloat16). Theirs count a number for each row of a norm, too.
#include <gtest/gtest.h>

#include <array>

#include "mover/analysis/layers.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

struct Kept {
    const char* type;
    const char* figures;
    std::int64_t bytes;  ///< of two samples with 128 tokens
};

constexpr const char* decoder =
    R"("vocab_size": 512, "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 6,
       "num_attention_heads": 8, "max_position_embeddings": 128)";

constexpr std::array measured = {
    Kept{"llama", R"("num_key_value_heads": 4)", 21'595'140},
    Kept{"qwen3", R"("num_key_value_heads": 4, "head_dim": 128)", 31'138'820},
    Kept{"phi3", R"("num_key_value_heads": 4)", 23'954'436},
    Kept{"gemma3_text", R"("num_key_value_heads": 4, "head_dim": 128)", 34'362'372},
    Kept{"mixtral", R"("num_key_value_heads": 4, "num_local_experts": 4)", 37'477'476},
    Kept{"qwen3_moe",
         R"("num_key_value_heads": 4, "head_dim": 128, "num_experts": 8, "num_experts_per_tok": 2,
            "moe_intermediate_size": 256)",
         32'865'476},
    Kept{"gpt_oss", R"("num_key_value_heads": 4, "num_local_experts": 4, "num_experts_per_tok": 2)",
         37'442'660},
    Kept{"glm4_moe",
         R"("num_key_value_heads": 4, "n_routed_experts": 8, "num_experts_per_tok": 2,
            "moe_intermediate_size": 256, "use_qk_norm": true)",
         30'099'620},
    Kept{"deepseek_v3",
         R"("num_key_value_heads": 8, "n_routed_experts": 8, "num_experts_per_tok": 2,
            "moe_intermediate_size": 256, "q_lora_rank": 192, "kv_lora_rank": 128,
            "qk_rope_head_dim": 32, "qk_nope_head_dim": 64, "v_head_dim": 64,
            "first_k_dense_replace": 2)",
         33'260'676},
    Kept{"llama4_text",
         R"("num_key_value_heads": 4, "head_dim": 64, "num_local_experts": 2,
            "num_experts_per_tok": 2, "intermediate_size_mlp": 1024,
            "interleave_moe_layer_step": 2)",
         36'227'588},
    Kept{"falcon_h1",
         R"("num_key_value_heads": 4, "mamba_d_ssm": 768, "mamba_n_heads": 12,
            "mamba_d_state": 64)",
         30'676'260},
    Kept{"gpt_neox", R"("intermediate_size": 2048)", 27'862'020},
    Kept{"mamba2", R"("num_heads": 16, "state_size": 64, "n_groups": 1)", 14'347'652},
    Kept{"modernbert", R"("intermediate_size": 768)", 24'772'612},
    Kept{"vit", R"("intermediate_size": 2048, "image_size": 176)", 24'917'162},
    Kept{"t5",
         R"("d_model": 512, "d_ff": 2048, "num_layers": 3, "num_heads": 8, "dropout_rate": 0)",
         25'785'346},
    Kept{"whisper",
         R"("d_model": 512, "encoder_layers": 3, "decoder_layers": 3,
            "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048,
            "decoder_ffn_dim": 2048, "max_source_positions": 128, "max_target_positions": 128)",
         32'685'058},
};

std::int64_t kept_bytes(const Kept& one) {
    auto json = nlohmann::json::parse(std::string("{") + decoder + "}");
    json["model_type"] = one.type;
    json.update(nlohmann::json::parse(std::string("{") + one.figures + "}"));
    const char* parallel =
        json.contains("image_size") ? "micro_batch_size=2" : "micro_batch_size=2,sequence=128";
    const auto model = model_of(Document{"f", json});
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return 0;
    const auto layers =
        layers_on_device(*model, *parallel_of(*read_document("--parallel", parallel)),
                         *cluster_of(*document_of_text("f", cluster_text)));
    EXPECT_TRUE(layers.ok()) << layers.status().message();
    std::int64_t bytes = 0;
    for (const DeviceLayer& layer : *layers)
        for (const LayerPart& part : layer.parts)
            for (const KeptPart& kept : part.kept) bytes += kept.bytes;
    return bytes;
}

TEST(MoverConfigKept, IsWithinOnePerCentOfTransformers) {
    for (const Kept& one : measured) {
        const auto theirs = static_cast<double>(one.bytes);
        EXPECT_NEAR(theirs, static_cast<double>(kept_bytes(one)), 0.01 * theirs) << one.type;
    }
}

}  // namespace
}  // namespace gradcoll::mover
