// tests/mover/execution_trace_test.cpp - reads an execution trace of PyTorch: what layers keep by
// the storages that run through it, and how much they calculate.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mover/listed_layers.hpp"
#include "mover/profile/profiled_model.hpp"

namespace gradcoll::mover {
namespace {

using Json = nlohmann::json;

/// Tensor is a tensor of 4-byte numbers: its storage, shape and strides (dense if empty).
struct Tensor {
    int storage = 0;
    std::vector<int> shape{};
    std::vector<int> strides{};
};

/// Maker makes an execution trace; nodes get ids in the order of their calls, inside each other.
class Maker {
  public:
    Maker() { begin("[pytorch|profiler|execution_trace|process]"); }

    void begin(const std::string& name, int scope = 0, int sequence = -1) {
        add(name, {}, {}, scope, sequence, false);
        around_.push_back(id_);
    }
    void end() { around_.pop_back(); }
    void layer(const std::string& name) { begin(name, 7); }
    void op(const std::string& name, const std::vector<Tensor>& inputs,
            const std::vector<Tensor>& outputs, int sequence = -1) {
        add(name, inputs, outputs, 0, sequence, true);
    }
    /// Begins an operator that calls others.
    void begin_op(const std::string& name, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs, int sequence = -1) {
        op(name, inputs, outputs, sequence);
        around_.push_back(id_);
    }
    /// Begins the evaluation of a node; end() has to be called twice.
    void backward(const std::string& name, int sequence) {
        begin("autograd::engine::evaluate_function: " + name);
        begin(name, 1, sequence);
    }
    void gradient(const std::vector<int>& shape) {
        begin("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
        add("torch::autograd::AccumulateGrad", {{900, shape}}, {}, 1, -1, false);
        end();
    }
    Json json() const { return {{"schema", "1.1.1-chakra.0.0.4"}, {"pid", 1}, {"nodes", nodes_}}; }
    std::string text() const { return json().dump(); }

  private:
    static Json side(const std::vector<Tensor>& tensors) {
        Json out = {{"values", Json::array()},
                    {"shapes", Json::array()},
                    {"types", Json::array()},
                    {"strides", Json::array()}};
        for (const Tensor& tensor : tensors) {
            int numbers = 1;
            for (const int size : tensor.shape) numbers *= size;
            std::vector<int> strides = tensor.strides;
            if (strides.empty()) {
                strides.resize(tensor.shape.size(), 1);
                for (std::size_t d = strides.size(); d-- > 1;)
                    strides[d - 1] = strides[d] * tensor.shape[d];
            }
            out["values"].push_back({7, tensor.storage, 0, numbers, 4, "cpu"});
            out["shapes"].push_back(tensor.shape);
            out["strides"].push_back(strides);
            out["types"].push_back("Tensor(float)");
        }
        return out;
    }

    void add(const std::string& name, const std::vector<Tensor>& inputs,
             const std::vector<Tensor>& outputs, int scope, int sequence, bool is_operator) {
        const auto attribute = [](const char* key, const Json& value) {
            return Json{{"name", key}, {"type", "uint64"}, {"value", value}};
        };
        const int parent = around_.empty() ? id_ + 1 : around_.back();
        nodes_.push_back(
            {{"name", name},
             {"id", ++id_},
             {"ctrl_deps", parent},
             {"inputs", side(inputs)},
             {"outputs", side(outputs)},
             {"attrs",
              {attribute("seq_id", sequence), attribute("scope", scope), attribute("tid", 1),
               attribute("op_schema", is_operator ? name + "()" : "")}}});
    }

    Json nodes_ = Json::array();
    std::vector<int> around_;
    int id_ = 0;
};

const std::vector<int> small = {2, 3}, square = {3, 3};

/// Makes a step of two layers. a keeps what its product makes (24 bytes), b the same, which its
/// loss reads as well, and a mask of 8 bytes that an inner operator makes.
Maker step() {
    Maker make;
    make.layer("a");
    make.op("aten::mm", {{1, small}, {2, square}}, {{10, small}}, 4);
    make.op("aten::relu", {{10, small}}, {{11, small}});  // read by b, but not after it
    make.end();
    make.layer("b");
    make.begin_op("aten::linear", {{11, small}, {3, square}}, {{12, small}}, 5);
    make.op("aten::addmm", {{4, {3}}, {11, small}, {3, square}}, {{12, small}}, 5);
    make.end();
    make.begin_op("aten::dropout", {{12, small}}, {{12, small}});
    make.op("aten::empty", {}, {{13, {2}}});
    make.op("aten::bernoulli_", {{13, {2}}}, {{13, {2}}});
    make.end();
    make.end();
    make.op("aten::mean", {{12, small}}, {{20, {1}}}, 6);
    make.backward("MeanBackward0", 6);
    make.op("aten::expand", {{20, {1}}}, {{20, {1}}});
    make.end();
    make.end();
    make.backward("AddmmBackward0", 5);
    make.op("aten::mul", {{12, small}, {13, {2}}}, {{21, small}});
    make.op("aten::mm", {{21, small}, {3, square}}, {{22, small}});
    make.end();
    make.end();
    make.gradient(square);
    make.backward("MmBackward0", 4);
    make.op("aten::mm", {{22, small}, {10, small}}, {{23, square}});
    make.end();
    make.end();
    make.gradient(square);
    return make;
}

std::vector<ListedLayer> layers_in(const Maker& make) {
    const auto trace = execution_trace_of_text("t", make.text());
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    return listed_layers(model_of_execution_trace(*trace));
}

std::string fault(const std::string& text) {
    const auto trace = execution_trace_of_text("t", text);
    if (!trace.ok()) return trace.status().message();
    const auto model = model_of_execution_trace(*trace);
    return model.ok() ? std::string() : model.status().message();
}

TEST(MoverExecutionTrace, ALayerKeepsWhatIsReadAfterTheForward) {
    const auto layers = layers_in(step());
    ASSERT_EQ(2U, layers.size());
    ASSERT_EQ(1U, layers[0].kept.size());
    EXPECT_EQ("mm", layers[0].kept[0].name);
    EXPECT_EQ(24, layers[0].kept[0].bytes);
    ASSERT_EQ(2U, layers[1].kept.size());
    EXPECT_EQ("addmm", layers[1].kept[0].name);
    EXPECT_EQ(24, layers[1].kept[0].bytes);
    EXPECT_EQ(8, layers[1].kept[1].bytes);
    EXPECT_EQ(9, layers[0].parameters);
    EXPECT_EQ(9, layers[1].parameters);
}

TEST(MoverExecutionTrace, ProductsConvolutionsAndAttentionAreCalculated) {
    Maker make;
    make.layer("a");
    make.op("aten::mm", {{1, {2, 3}}, {2, {3, 5}}}, {{10, {2, 5}}}, 4);
    make.op("aten::bmm", {{1, {7, 2, 3}}, {2, {7, 3, 5}}}, {{11, {7, 2, 5}}});
    make.end();
    make.layer("b");
    make.op("aten::convolution", {{1, {2, 4, 8, 8}}, {2, {6, 4, 3, 3}}}, {{12, {2, 6, 8, 8}}}, 5);
    make.end();
    make.layer("c");
    make.op("aten::_scaled_dot_product_flash_attention_for_cpu",
            {{1, {2, 4, 16, 8}}, {2, {2, 4, 32, 8}}, {3, {2, 4, 32, 8}}}, {{13, {2, 4, 16, 8}}}, 6);
    make.end();
    for (const int sequence : {6, 5, 4}) {
        make.backward("XBackward0", sequence);
        make.op("aten::mm", {}, {});
        make.end();
        make.end();
    }
    const auto layers = layers_in(make);
    ASSERT_EQ(3U, layers.size());
    EXPECT_EQ(2 * 2 * 3 * 5 + 7 * 2 * 2 * 3 * 5, layers[0].forward_flops);
    EXPECT_EQ(2 * (2 * 6 * 8 * 8) * (4 * 3 * 3), layers[1].forward_flops);
    EXPECT_EQ(2 * (2 * 4 * 16 * 32) * (8 + 8), layers[2].forward_flops);
    EXPECT_LT(layers[0].times.forward_us, 0);  // to be estimated
}

TEST(MoverExecutionTrace, NumbersOfStoragesThatAreGoneMayComeAgain) {
    Maker make;
    make.layer("a");
    make.op("aten::mm", {{1, small}, {2, square}}, {{10, small}}, 4);
    make.op("aten::relu", {{10, small}}, {{11, small}});
    make.end();
    make.op("aten::layer_norm", {{11, small}}, {{10, {2, 3, 100}}});  // not the one of a
    make.layer("b");
    make.op("aten::mm", {{10, {2, 3, 100}}, {3, square}}, {{12, small}}, 5);
    make.end();
    make.backward("MmBackward0", 5);
    make.op("aten::mm", {{10, {2, 3, 100}}}, {{11, small}});  // nor is this one
    make.op("aten::mm", {{11, small}}, {{14, small}});
    make.begin_op("aten::linear", {}, {{15, small}});
    make.op("aten::empty", {}, {{12, small}});  // nor what is made inside another operator
    make.end();
    make.op("aten::mm", {{12, small}}, {{16, small}});
    make.end();
    make.end();
    make.backward("MmBackward0", 4);
    make.op("aten::mm", {{14, small}}, {{16, small}});
    make.end();
    make.end();
    const auto layers = layers_in(make);
    ASSERT_EQ(2U, layers.size());
    EXPECT_TRUE(layers[0].kept.empty());
    EXPECT_TRUE(layers[1].kept.empty());
}

TEST(MoverExecutionTrace, AStorageIsAsLargeAsItsTensorReaches) {
    Maker make;
    make.layer("a");
    make.op("aten::mm", {{1, small}}, {{10, {2, 3}, {8, 1}}}, 4);  // rows with a gap
    make.op("aten::expand", {{2, {1}}}, {{11, {50, 2}, {0, 1}}});  // 50 times the same row
    make.end();
    make.backward("MmBackward0", 4);
    make.op("aten::mm", {{10, {2, 3}, {8, 1}}, {11, {50, 2}, {0, 1}}}, {{14, small}});
    make.end();
    make.end();
    const auto layers = layers_in(make);
    ASSERT_EQ(2U, layers[0].kept.size());
    EXPECT_EQ(4 * (8 + 3), layers[0].kept[0].bytes);
    EXPECT_EQ(4 * 2, layers[0].kept[1].bytes);
}

TEST(MoverExecutionTrace, AnEvaluationEndsWhereTheNextOneBegins) {
    Maker make;
    make.layer("a");
    make.op("aten::mm", {{1, small}, {2, square}}, {{10, small}}, 4);
    make.end();
    make.layer("b");
    make.op("aten::mm", {{10, small}, {2, square}}, {{11, small}}, 5);
    make.end();
    make.backward("MmBackward0", 5);
    make.layer("b");  // made again, and left early: what comes after is written as if inside
    make.op("aten::mm", {{10, small}, {2, square}}, {{12, small}}, 6);
    make.backward("MmBackward0", 4);
    make.op("aten::mm", {{12, small}}, {{13, small}});
    const auto trace = execution_trace_of_text("t", make.text());
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    const auto profiled = model_of_execution_trace(*trace);
    ASSERT_TRUE(profiled.ok()) << profiled.status().message();
    EXPECT_TRUE(profiled->found.starts_with(
        "Layers in the last step of t, 2 in all: a, b\n  left out, runs again in backward: b\n"
        "  times: "))
        << profiled->found;
}

TEST(MoverExecutionTrace, WhatDoesNotShowWhatItKeepsIsRefused) {
    Maker function;
    function.layer("a");
    function.op("aten::mm", {{1, small}}, {{10, small}}, 4);
    function.end();
    function.backward("FlashAttnFuncBackward", 4);
    function.end();
    function.end();
    EXPECT_EQ(
        "t: /nodes with id 4: found autograd::engine::evaluate_function: FlashAttnFuncBackward, "
        "which calls no operator and so does not show what it keeps: allowed is a trace of the "
        "profiler",
        fault(function.text()));
    Maker compiled;
    compiled.layer("a");
    compiled.op("aten::mm", {{1, small}}, {{10, small}}, 4);
    compiled.begin("## Call CompiledFxGraph fmhu5 ##", 7);
    compiled.end();
    compiled.end();
    compiled.backward("MmBackward0", 4);
    compiled.op("aten::mm", {}, {});
    EXPECT_EQ(
        "t: /nodes with id 4: found ## Call CompiledFxGraph fmhu5 ##, which does not show what it "
        "keeps: allowed are steps without torch.compile, or a trace of the profiler",
        fault(compiled.text()));
}

TEST(MoverExecutionTrace, WhatIsWrongIsNamed) {
    Json json = step().json();
    EXPECT_TRUE(is_execution_trace(json.dump()));
    EXPECT_FALSE(is_execution_trace(R"({"schemaVersion": 1, "traceEvents": []})"));
    json["schema"] = "1.0.1-chakra.0.0.4";
    EXPECT_EQ(
        "t: /schema: found \"1.0.1-chakra.0.0.4\", allowed are 1.1.0-chakra and later ones of 1.1",
        fault(json.dump()));
    json = step().json();
    json["nodes"][2]["id"] = "x";
    EXPECT_EQ("t: /nodes/2/id: found \"x\", allowed are integers from 0 to 9007199254740992",
              fault(json.dump()));
    json = step().json();
    json["nodes"] = Json::array();
    EXPECT_TRUE(fault(json.dump()).starts_with("t: /nodes: no layer is named (nothing is"));
    json["nodes"] = Json::array({{{"name", "a"}, {"id", 3}}});
    EXPECT_EQ("t: /nodes/0/ctrl_deps: is missing", fault(json.dump()));
}

}  // namespace
}  // namespace gradcoll::mover
