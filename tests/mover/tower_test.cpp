// tests/mover/tower_test.cpp - encoders of images beside text models: what they keep for how many
// images, where they stand, and what strategies may ask for.
#include <gtest/gtest.h>

#include <set>

#include "mover/analysis/build.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

constexpr const char* mistral =
    R"({"model_type": "mistral3", "vision_config": {"hidden_size": 256, "intermediate_size": 512,
        "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 112, "patch_size": 14},
        "text_config": {"vocab_size": 512, "hidden_size": 512, "intermediate_size": 1024,
        "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
        "max_position_embeddings": 128}})";
constexpr const char* gemma =
    R"({"model_type": "gemma3", "mm_tokens_per_image": 16, "vision_config": {"hidden_size": 256,
        "intermediate_size": 512, "num_hidden_layers": 3, "num_attention_heads": 4,
        "image_size": 112, "patch_size": 14}, "text_config": {"vocab_size": 512,
        "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "head_dim": 64,
        "max_position_embeddings": 128}})";
constexpr const char* qwen =
    R"({"model_type": "qwen2_5_vl", "vision_config": {"hidden_size": 256, "intermediate_size": 512,
        "depth": 3, "num_heads": 4, "window_size": 56, "fullatt_block_indexes": [1],
        "out_hidden_size": 512}, "text_config": {"vocab_size": 512, "hidden_size": 512,
        "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
        "num_key_value_heads": 4, "max_position_embeddings": 128}})";

Description description_of(const std::string& model, const std::string& parallel) {
    return {given(model_of(given(document_of_text("f", model)))),
            given(parallel_of(given(read_document("--parallel", parallel)))),
            given(cluster_of(given(document_of_text("f", cluster_text))))};
}

Result<std::vector<DeviceLayer>> layers_with(const std::string& model,
                                             const std::string& parallel) {
    const Description description = description_of(model, parallel);
    return layers_on_device(description.model, description.parallel, description.cluster);
}

std::string fault(const std::string& model, const std::string& parallel) {
    return layers_with(model, parallel).status().message();
}

std::int64_t kept_by(const DeviceLayer& layer) {
    std::int64_t bytes = 0;
    for (const LayerPart& part : layer.parts)
        for (const KeptPart& kept : part.kept) bytes += kept.bytes;
    return bytes;
}

TEST(MoverTower, StandsBeforeTheTextModel) {
    const auto layers = *layers_with(mistral, "sequence=64");
    ASSERT_EQ(3U + 2 + 4 + 2, layers.size());
    EXPECT_EQ("image embedding", layers[0].name);
    EXPECT_EQ("image layer 2", layers[3].name);
    EXPECT_EQ("image projector", layers[4].name);
    EXPECT_EQ("embedding", layers[5].name);
    EXPECT_EQ("layer 0", layers[6].name);
    // 64 patches of 16-bit numbers; four of them are a token.
    EXPECT_EQ(64 * (588 + 256) * 2, kept_by(layers[0]));
    EXPECT_EQ(64 * 256 * 2 + 16 * (4 * 256 + 256 + 512 + 512) * 2, kept_by(layers[4]));
    EXPECT_EQ(256 + 4 * 256 * 256 + 256 * 512 + 512 * 512, layers[4].parameters);
    // All of it is on the first pipeline rank, and the text model is shared evenly.
    const Program program = *program_of(description_of(mistral, "sequence=64,pipeline=4"));
    std::vector<std::set<std::int32_t>> found(4);
    for (std::size_t r = 0; r < 4; ++r)
        for (const Operator& op : program.ranks[r].operators) found[r].insert(op.layer);
    EXPECT_EQ(5U + 2, found[0].size());
    EXPECT_EQ(1U, found[1].size());
}

TEST(MoverTower, KeepsAsMuchForEachImage) {
    const auto one = *layers_with(mistral, "sequence=64,images=1,micro_batch_size=3");
    const auto three = *layers_with(mistral, "sequence=64,images=3");
    const auto none = *layers_with(mistral, "sequence=64,images=0");
    for (std::size_t l = 0; l < 5; ++l) {
        EXPECT_EQ(kept_by(one[l]), kept_by(three[l])) << one[l].name;
        EXPECT_GT(kept_by(one[l]), 0) << one[l].name;
        EXPECT_EQ(0, kept_by(none[l])) << one[l].name;
        EXPECT_EQ(one[l].parameters, none[l].parameters);
        for (const LayerPart& part : none[l].parts) EXPECT_EQ(0, part.forward);
    }
    EXPECT_EQ(kept_by(three[6]), kept_by(none[6]));
    const auto large = *layers_with(mistral, "sequence=64,image_size=224");
    EXPECT_EQ(4 * kept_by(three[0]), 3 * kept_by(large[0]));
}

TEST(MoverTower, DevicesThatCannotShareItsHeadsEachHaveAll) {
    const auto whole = *layers_with(mistral, "sequence=64");
    const auto shared = *layers_with(mistral, "sequence=64,tensor=4");
    const auto too_many = *layers_with(mistral, "sequence=64,tensor=8");
    EXPECT_LT(shared[1].parameters, whole[1].parameters / 3);
    EXPECT_EQ(whole[1].parameters, too_many[1].parameters);
    EXPECT_LT(too_many[6].parameters, whole[6].parameters / 7);
    // Devices that share a sample's tokens read all of its images.
    const auto context = *layers_with(mistral, "sequence=64,context=2");
    EXPECT_EQ(kept_by(whole[1]), kept_by(context[1]));
    EXPECT_EQ(kept_by(whole[6]), 2 * kept_by(context[6]));
}

TEST(MoverTower, AWindowIsSeenInSomeLayersAlone) {
    const Model model = *model_of(*document_of_text("f", qwen));
    ASSERT_EQ(3U, model.tower->model.blocks.size());
    const auto window = [&](std::size_t block) {
        return std::get<SelfAttention>(model.tower->model.blocks[block].parts[0].body).window;
    };
    EXPECT_EQ(16, window(0));
    EXPECT_EQ(0, window(1));
    EXPECT_EQ(16, window(2));
}

TEST(MoverTower, ImagesAreThoseThatHaveRoom) {
    const auto images = [](const char* model, const char* parallel) {
        const Description description = description_of(model, parallel);
        return images_of(description.model, description.parallel).value().count;
    };
    EXPECT_EQ(1, images(mistral, "sequence=16"));
    EXPECT_EQ(0, images(mistral, "sequence=15"));
    EXPECT_EQ(1, images(gemma, "sequence=16"));
    EXPECT_EQ(0, images(qwen, "sequence=128"));
    EXPECT_EQ(1, images(qwen, "sequence=128,image_size=112"));
    EXPECT_EQ("images: found 5, allowed are at most 4: one takes 16 tokens of a sample's 64",
              fault(mistral, "sequence=64,images=5"));
    EXPECT_EQ(
        "images: found 1, allowed is 0 without image_size: the model does not say how large images "
        "are",
        fault(qwen, "images=1"));
    EXPECT_EQ("images: found 1, allowed is 0: 196 patches do not make the model's tokens",
              fault(R"({"model_type": "gemma3", "text_config": {}})", "images=1"));
    EXPECT_EQ("image_size: found 224, allowed is the model's, 112 x 112",
              fault(gemma, "image_size=224"));
    EXPECT_EQ(
        "images: found 1, allowed is none: the model reads no images among the tokens of a sample",
        fault(R"({"model_type": "llama"})", "images=1"));
}

TEST(MoverTower, WhatIsWrongIsNamed) {
    const auto wrong = [](const std::string& more) {
        return fault_of(model_of, R"({"model_type": "mistral3", "text_config": {}, )" + more + "}");
    };
    EXPECT_EQ("f: /vision_config/model_type: found \"clip\", allowed is pixtral",
              wrong(R"("vision_config": {"model_type": "clip"})"));
    EXPECT_EQ("f: /vision_config: found an array, allowed is an object",
              wrong(R"("vision_config": [])"));
    EXPECT_EQ("f: /vision_feature_layer: found -2, allowed is -1, the last layer",
              wrong(R"("vision_feature_layer": -2)"));
    EXPECT_EQ("f: /vision_config/num_attention_heads: found 3, allowed are divisors of 1024",
              wrong(R"("vision_config": {"num_attention_heads": 3})"));
}

}  // namespace
}  // namespace gradcoll::mover
