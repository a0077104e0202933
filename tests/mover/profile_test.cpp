// tests/mover/profile_test.cpp - reads a trace of PyTorch's profiler: layers, what they keep and
// take, and its memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mover/input/any_form.hpp"
#include "mover/profile/gunzip.hpp"
#include "mover/profile/profiled_step.hpp"

namespace gradcoll::mover {
namespace {

using Json = nlohmann::json;

/// Maker makes a trace; memory is counted as an allocator does.
class Maker {
  public:
    Json& span(const char* kind, const std::string& name, int start, int duration,
               int sequence = -1) {
        events_.push_back({{"ph", "X"},
                           {"cat", kind},
                           {"name", name},
                           {"ts", start},
                           {"dur", duration},
                           {"args", {{"External id", ++external_}}}});
        if (sequence >= 0) events_.back()["args"]["Sequence number"] = sequence;
        return events_.back();
    }
    void op(const std::string& name, int start, int duration, int sequence = -1) {
        span("cpu_op", name, start, duration, sequence);
    }
    void backward(const std::string& name, int start, int duration, int sequence = -1) {
        op("autograd::engine::evaluate_function: " + name, start, duration, sequence);
    }
    void memory(int at, int address, int bytes, int device = 0) {
        total_ += bytes;
        events_.push_back({{"ph", "i"},
                           {"name", "[memory]"},
                           {"ts", at},
                           {"args",
                            {{"Addr", address},
                             {"Bytes", bytes},
                             {"Total Allocated", total_},
                             {"Device Type", device}}}});
    }
    void kernel(int duration, std::int64_t external) {
        events_.push_back({{"ph", "X"},
                           {"cat", "kernel"},
                           {"name", "k"},
                           {"ts", 5000},
                           {"dur", duration},
                           {"args", {{"External id", external}}}});
    }
    std::int64_t last_external() const { return external_; }
    std::string text() const {
        return Json{{"schemaVersion", 1},
                    {"deviceProperties", Json::array({Json::object()})},
                    {"traceEvents", events_}}
            .dump();
    }

  private:
    Json events_ = Json::array();
    int total_ = 0;
    std::int64_t external_ = 0;
};

/// Makes a step of two layers. Layer a keeps 100 bytes and needs 40 more, b keeps 30; b's backward
/// needs 50, and makes a gradient of 7 that stays. The state of 1000 existed before.
Maker step() {
    Maker make;
    make.memory(1, 1, 1000);
    make.span("user_annotation", "ProfilerStep#3", 5, 900);
    make.span("user_annotation", "a", 10, 90);
    make.op("aten::linear", 20, 30, 4);
    make.memory(25, 2, 100);
    make.memory(30, 3, 40);
    make.memory(40, 3, -40);
    make.op("aten::t", 60, 5, 5);  // makes no node: 5 is the next one's
    make.span("user_annotation", "b", 100, 50);
    make.op("aten::gelu", 110, 20, 5);
    make.memory(115, 4, 30);
    make.backward("GeluBackward0", 200, 40, 5);
    make.memory(210, 5, 50);
    make.memory(220, 6, 7);
    make.memory(230, 5, -50);
    make.memory(239, 4, -30);
    make.backward("AddmmBackward0", 250, 60, 4);
    make.backward("torch::autograd::AccumulateGrad", 320, 5);
    make.span("cpu_op", "torch::autograd::AccumulateGrad", 321, 3)["args"]["Input Dims"] = {{3, 4}};
    make.memory(328, 2, -100);
    make.span("user_annotation", "Optimizer.step#SGD.step", 400, 10);
    return make;
}

std::vector<ListedLayer> layers_in(const Maker& make) {
    const auto trace = trace_of_text("t", make.text());
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    const auto document = layers_of_trace(*trace);
    EXPECT_TRUE(document.ok()) << document.status().message();
    const auto model = model_of(*document);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return std::get<std::vector<ListedLayer>>(model->body);
}

TEST(MoverProfile, LayersHaveTheirTimesForwardAndBackward) {
    const auto layers = layers_in(step());
    ASSERT_EQ(2U, layers.size());
    EXPECT_EQ("a", layers[0].name);
    EXPECT_EQ(90, layers[0].times.forward_us);
    EXPECT_EQ(65, layers[0].times.backward_us);  // with the sum of its gradient
    EXPECT_EQ(50, layers[1].times.forward_us);
    EXPECT_EQ(40, layers[1].times.backward_us);
    EXPECT_EQ(12, layers[0].parameters);
    EXPECT_EQ(0, layers[1].parameters);
}

TEST(MoverProfile, WhatOutlivesTheForwardIsKeptAndTheRestIsWorkspace) {
    const auto layers = layers_in(step());
    ASSERT_EQ(2U, layers.size());
    ASSERT_EQ(1U, layers[0].kept.size());
    EXPECT_EQ("linear", layers[0].kept[0].name);
    EXPECT_EQ(100, layers[0].kept[0].bytes);
    EXPECT_EQ(40, layers[0].workspace_bytes);
    EXPECT_EQ(0, layers[0].backward_workspace_bytes);
    ASSERT_EQ(1U, layers[1].kept.size());
    EXPECT_EQ(30, layers[1].kept[0].bytes);
    EXPECT_EQ(0, layers[1].workspace_bytes);
    EXPECT_EQ(50, layers[1].backward_workspace_bytes);  // without the gradient, which stays
}

TEST(MoverProfile, TheLastStepCountsAndKernelsTellTheTime) {
    Maker make;
    make.span("user_annotation", "a", 1, 5);  // of a step before
    make.span("user_annotation", "a", 10, 90);
    make.op("aten::mm", 20, 5, 4);
    make.kernel(33, make.last_external());
    make.backward("MmBackward0", 200, 40, 4);
    make.op("aten::mm", 210, 5);
    make.kernel(77, make.last_external());
    make.kernel(1000, 999);  // belongs to no operator
    const auto layers = layers_in(make);
    ASSERT_EQ(1U, layers.size());
    EXPECT_EQ(33, layers[0].times.forward_us);
    EXPECT_EQ(77, layers[0].times.backward_us);
}

TEST(MoverProfile, ThePeakIsTheAllocatorsAndThatOfTheLastStep) {
    const auto peak = measured_peak(*trace_of_text("t", step().text()));
    ASSERT_TRUE(peak.ok()) << peak.status().message();
    EXPECT_EQ(1187, peak->bytes);  // 1000 + 100 + 30 + 50 + 7
    EXPECT_EQ(187, peak->of_step);
    EXPECT_EQ(219, peak->after_us);
    Maker make = step();
    make.memory(500, 77, 5, 1);  // a device, whose memory counts then
    EXPECT_EQ(1, static_cast<int>(trace_of_text("t", make.text())->memory.size()));
}

TEST(MoverProfile, WhatIsWrongIsNamed) {
    const auto fault = [](const std::string& text) {
        const auto trace = trace_of_text("t", text);
        if (!trace.ok()) return trace.status().message();
        const auto layers = layers_of_trace(*trace);
        return layers.ok() ? std::string() : layers.status().message();
    };
    EXPECT_TRUE(fault("[{\"ph\": \"X\"}]").starts_with("t: it has no events, allowed is a trace"));
    EXPECT_TRUE(fault("{\"traceEvents\": [").starts_with("t: parse error at line 1, column 18"))
        << fault("{\"traceEvents\": [");
    EXPECT_EQ("t: /traceEvents/0/dur: found \"x\", allowed are numbers from 0 to 1e+18",
              fault(R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1,
                                         "dur": "x"}]})"));
    EXPECT_TRUE(fault(R"({"traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1, "args": {}}]})")
                    .starts_with("t: /traceEvents/0/args/Addr: is missing"));
    Maker make;
    make.op("aten::mm", 20, 5, 4);
    EXPECT_TRUE(
        fault(make.text()).starts_with("t: /traceEvents: no layers are named: allowed are"));
    make.span("user_annotation", "a", 10, 90);
    EXPECT_TRUE(fault(make.text()).starts_with("t: /traceEvents: no operators with the layers'"));
    EXPECT_TRUE(measured_peak(*trace_of_text("t", make.text()))
                    .status()
                    .message()
                    .starts_with("t: /traceEvents: no \"[memory]\" events"));
}

TEST(MoverProfile, DamagedGzipIsRefused) {
    EXPECT_EQ("plain", *unpacked("plain", 10));
    EXPECT_EQ("its gzip data are damaged or cut off",
              unpacked(std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10), 10).status().message());
    EXPECT_FALSE(unpacked("\x1f\x8b garbage, and more of it", 10).ok());
}

}  // namespace
}  // namespace gradcoll::mover
