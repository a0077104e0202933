// tests/mover/shared_tokens_test.cpp - devices that share the tokens of a sample, and devices that
// share experts: what each keeps, holds, sends and waits for, beside plain sums of the figures.
#include <gtest/gtest.h>

#include <numeric>

#include "mover/analysis/build.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/analysis/part_sizes.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::int64_t hidden = 512, width = 1536, heads = 8, kv_heads = 4, head_size = 64;
constexpr std::int64_t sequence = 8192, layers = 2;
constexpr std::int64_t block_dense =
    2 * hidden * heads * head_size + 2 * hidden * kv_heads * head_size + 2 * hidden;
constexpr std::int64_t expert_numbers = 3 * hidden * width;

std::string sizes(std::int64_t window = 0) {
    return "\"hidden_size\": 512, \"intermediate_size\": 1536, \"num_attention_heads\": 8, "
           "\"num_key_value_heads\": 4, \"num_hidden_layers\": 2, \"vocab_size\": 1000, "
           "\"max_position_embeddings\": 8192, \"tie_word_embeddings\": false" +
           (window > 0 ? ", \"sliding_window\": " + std::to_string(window) : std::string());
}

const std::string dense = R"({"model_type": "llama", )" + sizes() + "}";
const std::string windowed = R"({"model_type": "mistral", )" + sizes(1024) + "}";
const std::string experts = R"({"model_type": "mixtral", "num_local_experts": 8, )" + sizes() + "}";

Description description_of(const std::string& model, const std::string& parallel) {
    return {given(model_of(given(document_of_text("f", model)))),
            given(parallel_of(given(read_document("--parallel", parallel)))),
            given(cluster_of(given(document_of_text("f", cluster_text))))};
}

std::vector<DeviceLayer> layers_with(const Description& description) {
    const auto found =
        layers_on_device(description.model, description.parallel, description.cluster);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *found : std::vector<DeviceLayer>{};
}

std::string fault(const std::string& model, const std::string& parallel) {
    const auto strategy = parallel_of(*read_document("--parallel", parallel));
    if (!strategy.ok()) return strategy.status().message();
    const Description description{*model_of(*document_of_text("f", model)), *strategy,
                                  *cluster_of(*document_of_text("f", cluster_text))};
    return layers_on_device(description.model, description.parallel, description.cluster)
        .status()
        .message();
}

TEST(MoverSharedTokens, EachDeviceKeepsItsTokensAndHoldsAllParameters) {
    const auto whole = layers_with(description_of(dense, "micro_batch_size=2"));
    const auto shared = layers_with(description_of(dense, "micro_batch_size=2,context=4"));
    ASSERT_EQ(whole.size(), shared.size());
    for (std::size_t l = 0; l < whole.size(); ++l) {
        EXPECT_EQ(whole[l].parameters, shared[l].parameters);
        EXPECT_EQ(whole[l].input_bytes, 4 * shared[l].input_bytes);
        for (std::size_t p = 0; p < whole[l].parts.size(); ++p)
            for (std::size_t k = 0; k < whole[l].parts[p].kept.size(); ++k)
                EXPECT_EQ(whole[l].parts[p].kept[k].bytes, 4 * shared[l].parts[p].kept[k].bytes)
                    << whole[l].parts[p].kept[k].name;
    }
    EXPECT_EQ(boundary_bytes(description_of(dense, "data=1").model,
                             *parallel_of(*read_document("p", "data=1"))),
              4 * boundary_bytes(description_of(dense, "data=1").model,
                                 *parallel_of(*read_document("p", "context=4"))));
}

/// Returns how long the first block's attention waits for keys and values, forward and backward,
/// over links of `gbytes_per_s`.
Waits waits_of_attention(const std::string& model, std::int64_t context, double gbytes_per_s) {
    Description slow = description_of(model, "context=" + std::to_string(context));
    Description fast = slow;
    slow.cluster.tensor_gbytes_per_s = gbytes_per_s;
    fast.cluster.tensor_gbytes_per_s = fastest_link;
    const LayerPart with = layers_with(slow)[1].parts[0], without = layers_with(fast)[1].parts[0];
    return {with.forward - without.forward, with.backward - without.backward};
}

TEST(MoverSharedTokens, WhatGoesAroundBesideTheCoreIsWaitedForWhereItTakesLonger) {
    const double rate = 0.01;
    const auto expected = [&](std::int64_t elsewhere, std::int64_t context, std::int64_t seen) {
        const double bytes = 2.0 * 2 * kv_heads * head_size * static_cast<double>(elsewhere);
        const double flops = 4.0 * heads * head_size * static_cast<double>(sequence / context) *
                             static_cast<double>(seen);
        return bytes / (rate * 1e9) - flops / (312e12 * 0.5);
    };
    for (const std::int64_t context : {2, 4, 8}) {
        const Waits all = waits_of_attention(dense, context, rate);
        const double seconds = expected(sequence - sequence / context, context, sequence);
        EXPECT_NEAR(seconds * 1e9, static_cast<double>(all.forward), 10);
        EXPECT_NEAR(2 * seconds * 1e9, static_cast<double>(all.backward), 20);
        // Of tokens in a window those before a device's own are needed.
        const Waits some = waits_of_attention(windowed, context, rate);
        EXPECT_NEAR(expected(1024, context, 1024) * 1e9, static_cast<double>(some.forward), 10);
    }
    EXPECT_EQ(0, waits_of_attention(dense, 4, 1000).forward);
}

TEST(MoverSharedTokens, HeadsAreSwappedBeforeAndBehindTheCore) {
    const double rate = 0.01;
    for (const std::int64_t context : {2, 4}) {
        const std::string strategy = "context=" + std::to_string(context);
        Description slow = description_of(dense, strategy + ",context_by=heads");
        Description fast = slow;
        slow.cluster.tensor_gbytes_per_s = rate;
        fast.cluster.tensor_gbytes_per_s = fastest_link;
        const LayerPart with = layers_with(slow)[1].parts[0];
        const LayerPart without = layers_with(fast)[1].parts[0];
        // Queries, keys, values and results of a device's own tokens, but for its own heads.
        const std::int64_t tokens = sequence / context;
        const std::int64_t numbers = (2 * heads + 2 * kv_heads) * head_size * tokens;
        const double bytes = 2.0 * static_cast<double>(numbers * (context - 1) / context);
        EXPECT_NEAR(bytes / rate, static_cast<double>(with.forward - without.forward), 10);
        EXPECT_NEAR(bytes / rate, static_cast<double>(with.backward - without.backward), 10);
        EXPECT_EQ(2 * (heads + 2 * kv_heads) * head_size * tokens, with.workspace_bytes);
        // What is kept is as much as where keys and values go around.
        EXPECT_EQ(layers_with(description_of(dense, strategy))[1].parts[0].kept, with.kept);
    }
    EXPECT_EQ(
        "context: found 8 by heads, allowed are divisors of the model's heads of keys, 4, on each "
        "of 1 tensor-parallel devices",
        fault(dense, "context=8,context_by=heads"));
    EXPECT_EQ("", fault(dense, "context=8"));
}

TEST(MoverSharedTokens, AGroupOverSeveralHostsHasTheNetworksRate) {
    Description description = description_of(dense, "context=16");
    description.cluster.network_gbytes_per_s = 0.01;
    const Tick over_network = layers_with(description)[1].parts[0].forward;
    description.parallel.context = 8;
    const Tick in_host = layers_with(description)[1].parts[0].forward;
    EXPECT_GT(over_network, 10 * in_host);
}

TEST(MoverSharedTokens, GradientsAreSummedAndStatesSharedByContextRanksToo) {
    const auto states = [](const char* parallel) {
        const Description description = description_of(dense, parallel);
        const Program program = *program_of(description);
        std::int64_t optimizer = 0;
        for (const DeviceTensor& tensor : program.ranks[0].tensors)
            if (tensor.kind == MemoryKind::optimizer) optimizer += tensor.bytes;
        Tick reduced = 0;
        for (const Operator& op : program.ranks[0].operators)
            if (op.kind == OperatorKind::reduce) reduced += op.duration;
        return std::pair{optimizer, reduced};
    };
    EXPECT_EQ(states("data=8,zero=1"), states("data=2,context=4,zero=1"));
    EXPECT_EQ(states("data=4"), states("context=4"));
}

TEST(MoverSharedTokens, HostsAreFilledWithAllDevicesOfARank) {
    const Description description = description_of(dense, "context=2,data=2,tensor=2,pipeline=2");
    const Program program = *program_of(description);
    const auto rooms = rooms_of(description, program, 0);
    ASSERT_TRUE(rooms.ok());
    ASSERT_EQ(2U, rooms->hosts.size());
    EXPECT_EQ((std::vector<std::pair<std::int32_t, std::int64_t>>{{0, 8}}),
              rooms->hosts[0].devices);
}

TEST(MoverSharedExperts, EachDeviceHoldsItsExpertsAndSumsTheOthersParameters) {
    const auto block = [](const char* parallel) {
        return layers_with(description_of(experts, parallel))[1];
    };
    const DeviceLayer all = block("data=4"), quarter = block("data=4,expert=4");
    constexpr std::int64_t router = hidden * 8;
    EXPECT_EQ(block_dense + router + 8 * expert_numbers, all.parameters);
    EXPECT_EQ(0, all.of_experts);
    EXPECT_EQ(block_dense + router + 2 * expert_numbers, quarter.parameters);
    EXPECT_EQ(2 * expert_numbers, quarter.of_experts);
    for (std::size_t k = 0; k < all.parts[1].kept.size(); ++k)
        EXPECT_EQ(all.parts[1].kept[k].bytes, quarter.parts[1].kept[k].bytes);
    // Tensor parallelism splits experts' matrices beside that.
    EXPECT_EQ(expert_numbers, block("data=4,expert=4,tensor=2").of_experts);
}

TEST(MoverSharedExperts, TokensTravelToTheirExpertsAndBack) {
    Description description = description_of(experts, "data=4,expert=4");
    const LayerPart fast = layers_with(description)[1].parts[1];
    description.cluster.tensor_gbytes_per_s = 1;
    const LayerPart slow = layers_with(description)[1].parts[1];
    const double bytes = 2.0 * 2 * 2 * hidden * sequence * 3 / 4;
    const double seconds = bytes / 1e9 - bytes / 25e9;
    EXPECT_NEAR(seconds * 1e9, static_cast<double>(slow.forward - fast.forward), 10);
    EXPECT_NEAR(seconds * 1e9, static_cast<double>(slow.backward - fast.backward), 10);
    EXPECT_EQ(2 * 2 * hidden * sequence, fast.workspace_bytes);
}

TEST(MoverSharedExperts, StatesOfExpertsAreSharedByTheRanksThatHaveThem) {
    const auto optimizer = [](const char* parallel) {
        const Program program = *program_of(description_of(experts, parallel));
        for (const DeviceTensor& tensor : program.ranks[0].tensors)
            if (tensor.kind == MemoryKind::optimizer && tensor.layer == 1) return tensor.bytes;
        return std::int64_t{0};
    };
    const std::int64_t without = 12 * (block_dense + hidden * 8);
    EXPECT_EQ(without / 8 + 12 * 8 * expert_numbers / 8, optimizer("data=8,zero=1"));
    EXPECT_EQ(without / 8 + 12 * 2 * expert_numbers / 2, optimizer("data=8,expert=4,zero=1"));
    EXPECT_EQ(without / 8 + 12 * expert_numbers, optimizer("data=8,expert=8,zero=1"));
    const auto reduced = [](const char* parallel) {
        const Program program = *program_of(description_of(experts, parallel));
        for (const Operator& op : program.ranks[0].operators)
            if (op.kind == OperatorKind::reduce && op.layer == 1) return op.duration;
        return Tick{0};
    };
    const double dense_bytes = 4.0 * (block_dense + hidden * 8);
    EXPECT_NEAR(2 * dense_bytes * 7 / 8 / 25e9 * 1e9,
                static_cast<double>(reduced("data=8,expert=8")), 2);
    EXPECT_NEAR((2 * dense_bytes * 7 / 8 + 2 * 4.0 * 2 * expert_numbers / 2) / 25e9 * 1e9,
                static_cast<double>(reduced("data=8,expert=4")), 2);
}

TEST(MoverSharedExperts, ZeroGathersOnlyWhatSeveralRanksHave) {
    const auto workspace = [](const char* parallel) {
        const Program program = *program_of(description_of(experts, parallel));
        for (const Operator& op : program.ranks[0].operators)
            if (op.kind == OperatorKind::forward && op.layer == 1 && op.part == 0)
                return op.workspace_bytes;
        return std::int64_t{0};
    };
    const std::int64_t gathered = 2 * (block_dense + hidden * 8);
    EXPECT_EQ(gathered, workspace("data=8,expert=8,zero=3"));
    EXPECT_EQ(gathered + 2 * 2 * expert_numbers, workspace("data=8,expert=4,zero=3"));
}

TEST(MoverSharedTokens, WhatCannotBeSharedIsRefused) {
    EXPECT_EQ(
        "--parallel: /expert: found 4, allowed are divisors of the data- and context-parallel "
        "ranks, 6",
        fault(experts, "data=3,context=2,expert=4"));
    EXPECT_EQ("expert: found 3, allowed are divisors of the model's experts, 8",
              fault(experts, "data=3,expert=3"));
    EXPECT_EQ("expert: found 2, allowed is 1 for a model without experts",
              fault(dense, "data=2,expert=2"));
    EXPECT_EQ("context: found 3, allowed are divisors of the tokens of a sample, 8192",
              fault(dense, "context=3"));
    const std::string only =
        "context: found 2, allowed is 1 but for decoders with \"attention\": \"flash\" and without "
        "state spaces";
    EXPECT_EQ(only, fault(R"({"model_type": "mamba2"})", "context=2,sequence=4096"));
    EXPECT_EQ(only, fault(R"({"model_type": "t5"})", "context=2"));
    EXPECT_EQ(only, fault(R"({"model_type": "vit"})", "context=2"));
}

}  // namespace
}  // namespace gradcoll::mover
