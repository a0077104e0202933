// tests/mover/input_test.cpp - what people write is read, or refused with file, place, value and
// what is allowed.
#include <gtest/gtest.h>

#include <random>

#include "base/files.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

constexpr const char* llama =
    R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "vocab_size": 32000,
        "max_position_embeddings": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
        "num_key_value_heads": 8, "rope_theta": 10000.0})";
constexpr const char* own =
    R"({"transformer": {"layers": 2, "hidden": 64, "heads": 4, "sequence": 16}})";

TEST(MoverInput, ListedLayersAreRepeated) {
    const auto model = model_of(*document_of_text(
        "f", R"({"layers": [{"name": "a", "repeat": 3, "parameters": 5, "input_bytes": "2K",
                 "kept": [{"name": "x", "bytes": "1M"}], "forward_us": 7}]})"));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto& layers = std::get<std::vector<ListedLayer>>(model->body);
    ASSERT_EQ(1U, layers.size());
    EXPECT_EQ(3, layers[0].repeat);
    EXPECT_EQ(2048, layers[0].input_bytes);
    EXPECT_EQ(1 << 20, layers[0].kept[0].bytes);
    EXPECT_EQ(7, layers[0].times.forward_us);
    EXPECT_LT(layers[0].times.backward_us, 0);
}

TEST(MoverInput, WhatIsWrongIsNamed) {
    const auto model = [](const std::string& text) { return fault_of(model_of, text); };
    EXPECT_EQ("f: /transformer/layers: found -3, allowed are integers from 1 to 100000",
              model(R"({"transformer": {"layers": -3, "hidden": 1, "heads": 1, "sequence": 1}})"));
    EXPECT_EQ("f: /transformer/sequence: is missing",
              model(R"({"transformer": {"layers": 3, "hidden": 1, "heads": 1}})"));
    EXPECT_EQ(
        "f: /transformer/heads: found 3, allowed are divisors of hidden, 8, or a head_size "
        "beside",
        model(R"({"transformer": {"layers": 3, "hidden": 8, "heads": 3, "sequence": 1}})"));
    EXPECT_EQ(
        "f: /layers/0/kept/0/bytes: found \"many\", allowed are 0 to 1125899906842624 bytes, "
        "or a text as \"24GiB\"",
        model(R"({"layers": [{"name": "a", "kept": [{"name": "x", "bytes": "many"}]}]})"));
    EXPECT_EQ("f: /transformer: found an array, allowed is an object",
              model(R"({"transformer": []})"));
    EXPECT_EQ("f: /size: unknown key: allowed are name, transformer, layers",
              model(R"({"size": 3, "layers": []})"));
    EXPECT_NE("", model(R"({"transformer": {}, "layers": []})"));
    EXPECT_NE("", model("[]"));
    EXPECT_TRUE(model("{\"a\": \n }").starts_with("f: parse error at line 2, column 2"))
        << model("{\"a\": \n }");
}

TEST(MoverInput, StrategiesMustFitTogether) {
    const auto parallel = [](const std::string& text) { return fault_of(parallel_of, text); };
    EXPECT_EQ("", parallel(R"({"pipeline": 4, "virtual_stages": 2, "micro_batches": 8})"));
    EXPECT_EQ("f: /micro_batches: found 6, interleaved allows multiples of pipeline, 4",
              parallel(R"({"pipeline": 4, "virtual_stages": 2, "micro_batches": 6})"));
    EXPECT_EQ("f: /schedule: found \"pipedream\", allowed are gpipe, 1f1b, interleaved",
              parallel(R"({"schedule": "pipedream"})"));
    EXPECT_EQ("f: /virtual_stages: found nothing, interleaved needs at least 2",
              parallel(R"({"schedule": "interleaved"})"));
    EXPECT_EQ("f: /zero: found 4, allowed are integers from 0 to 3", parallel(R"({"zero": 4})"));
    EXPECT_EQ("f: /zero: found 18446744073709551615, allowed are integers from 0 to 3",
              parallel(R"({"zero": 18446744073709551615})"));
    EXPECT_NE("", parallel(R"({"data": 65536, "tensor": 65536})"));
}

TEST(MoverInput, KeysAndValuesMayStandBehindAnOption) {
    const auto document = read_document(
        "--parallel", "pipeline=4, micro-batches=16,schedule=1f1b,sequence_parallel=true");
    ASSERT_TRUE(document.ok()) << document.status().message();
    const auto parallel = parallel_of(*document);
    ASSERT_TRUE(parallel.ok()) << parallel.status().message();
    EXPECT_EQ(4, parallel->pipeline);
    EXPECT_EQ(16, parallel->micro_batches);
    EXPECT_TRUE(parallel->sequence_parallel);
    EXPECT_EQ("--parallel: /pipeline: stands twice",
              read_document("--parallel", "pipeline=4,pipeline=2").status().message());
    EXPECT_EQ(Code::io, read_document("--parallel", "/no/such/file").status().code());
}

TEST(MoverInput, ALaneIsAShareOfLinkAndHostMemory) {
    Cluster cluster = *cluster_of(*document_of_text("f", cluster_text));
    EXPECT_EQ(25'000'000'000, lane_of(cluster).bytes_per_second);
    cluster.devices_per_link = 2;
    EXPECT_EQ(12'500'000'000, lane_of(cluster).bytes_per_second);
    cluster.link_both_ways = false;
    EXPECT_EQ(12'500'000'000, lane_of(cluster).bytes_per_second);
    cluster.host_memory_gbytes_per_s = 16;
    EXPECT_EQ(2'000'000'000, lane_of(cluster).bytes_per_second);
}

TEST(MoverInput, SizesThatAreTooLargeAreRefusedAndNotWrapped) {
    const auto scene = [](const std::string& model, const std::string& parallel) {
        const Inputs inputs{*document_of_text("m", model), *document_of_text("p", parallel),
                            *document_of_text("c", cluster_text), 0};
        const auto read = scene_of(inputs);
        return read.ok() ? std::string() : read.status().message();
    };
    EXPECT_EQ("", scene(own, "{}"));
    const std::string large =
        R"({"transformer": {"layers": 2, "hidden": 16777216, "heads": 16777216,
        "sequence": 16777216, "attention": "eager"}})";
    EXPECT_NE(std::string::npos, scene(large, "{}").find("is larger than 1125899906842624 bytes"));
    const std::string deep =
        R"({"transformer": {"layers": 9, "hidden": 64, "heads": 4, "sequence": 16}})";
    EXPECT_NE(std::string::npos,
              scene(deep, R"({"micro_batches": 65536})").find("allowed are 1048576"));
    EXPECT_EQ("pipeline: 3 ranks of 1 virtual stages each need as many layers, the model has 2",
              scene(own, R"({"pipeline": 3})"));
    EXPECT_EQ("tensor: found 3, allowed are divisors of the model's heads, 4",
              scene(own, R"({"tensor": 3})"));
    EXPECT_NE("", scene(R"({"layers": [{"name": "a"}]})", R"({"tensor": 2})"));
}

TEST(MoverInput, AnyTextIsReadOrRefused) {
    const std::vector<std::string> texts = {
        llama,
        own,
        cluster_text,
        R"({"layers": [{"name": "a", "repeat": 2, "kept": [{"name": "x", "bytes": "1M"}]}]})",
        R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "n_routed_experts": 8})",
        R"({"model_type": "llama4", "text_config": {"num_hidden_layers": 2, "moe_layers": [1],
            "no_rope_layers": [0, 1], "layer_types": ["full_attention", "full_attention"]}})",
        R"({"model_type": "mamba2", "num_hidden_layers": 2, "expand": 2, "num_heads": 8})",
        R"({"model_type": "vit", "image_size": [32, 16], "patch_size": 8, "id2label": {}})",
        R"({"model_type": "whisper", "encoder_layers": 2, "decoder_layers": 1, "d_model": 12})",
        R"({"model_type": "t5", "num_layers": 2, "feed_forward_proj": "gated-gelu"})",
        R"({"model_type": "qwen3_moe", "num_experts": 4, "mlp_only_layers": [0]})",
        R"({"pipeline": 4, "virtual_stages": 2, "micro_batches": 8, "recompute": "full"})"};
    std::mt19937_64 chance(1);
    const std::string bytes = "0123456789{}[]\",:-+.eE truefalsn\\\xff";
    int refused = 0;
    for (int n = 0; n < 50'000; ++n) {
        std::string text = texts[chance() % texts.size()];
        for (std::uint64_t change = chance() % 4 + 1; change > 0; --change)
            text.replace(chance() % text.size(), chance() % 3, 1, bytes[chance() % bytes.size()]);
        for (const std::string& fault :
             {fault_of(model_of, text), fault_of(parallel_of, text), fault_of(cluster_of, text)}) {
            refused += fault.empty() ? 0 : 1;
            ASSERT_EQ(std::string::npos, fault.find('\n')) << text;
        }
    }
    EXPECT_GT(refused, 50'000);
}

TEST(MoverInput, DepthIsLimited) {
    const std::string deep(100'000, '[');
    EXPECT_NE(std::string::npos, fault_of(model_of, deep).find("deep"));
}

}  // namespace
}  // namespace gradcoll::mover
