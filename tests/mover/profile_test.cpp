// tests/mover/profile_test.cpp - reads a trace of PyTorch's profiler: layers, what they keep and
// take, and its memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mover/listed_layers.hpp"
#include "mover/profile/aside.hpp"
#include "mover/profile/measured_peak.hpp"
#include "mover/profile/profiled_model.hpp"
#include "mover/profile/trace_file.hpp"

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
                           {"pid", 1},
                           {"tid", thread_},
                           {"ts", start},
                           {"dur", duration},
                           {"args", {{"External id", ++external_}}}});
        if (sequence >= 0) events_.back()["args"]["Sequence number"] = sequence;
        return events_.back();
    }
    Json& note(const std::string& name, int start, int duration) {
        return span("user_annotation", name, start, duration);
    }
    /// Sets the thread of what comes.
    void on(int thread) { thread_ = thread; }
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
    int total_ = 0, thread_ = 1;
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
    return listed_layers(model_of_trace(*trace));
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
    EXPECT_EQ(1187, peak->bytes);   // 1000 + 100 + 30 + 50 + 7
    EXPECT_EQ(180, peak->of_step);  // without the gradient, which stays
    EXPECT_EQ("backward of b", peak->of_step_in);
    EXPECT_EQ(219, peak->after_us);
    Maker make = step();
    make.memory(500, 77, 5, 1);  // a device, whose memory counts then
    EXPECT_EQ(1, static_cast<int>(trace_of_text("t", make.text())->memory.size()));
}

TEST(MoverProfile, GradientsAndStatesThatAreMadeAnewAreNoneOfTheStepsMemory) {
    Maker make;
    make.memory(1, 1, 1000);
    int next = 10;
    for (int step = 0; step < 2; ++step) {
        const int start = 1000 * step, gradient = next++, kept = next++;
        if (step == 1) {
            make.note("Optimizer.zero_grad#Adam.zero_grad", start, 5);
            make.memory(start + 1, 10, -500);
        }
        make.note("a", start + 100, 90);
        make.op("aten::mm", start + 110, 5, 4 + step);
        make.memory(start + 111, kept, 60);
        make.backward("MmBackward0", start + 200, 40, 4 + step);
        make.memory(start + 205, 7, 30);  // a temporary
        make.memory(start + 210, gradient, 500);
        make.memory(start + 220, 7, -30);
        make.memory(start + 230, kept, -60);
        make.note("Optimizer.step#Adam.step", start + 300, 50);
        if (step == 0) make.memory(start + 310, 8, 2000);
        make.memory(start + 320, 9, 20);
        make.memory(start + 330, 9, -20);
    }
    const auto peak = measured_peak(*trace_of_text("t", make.text()));
    EXPECT_EQ(1000 + 500 + 2000 + 60 + 30, peak->bytes);
    EXPECT_EQ(60 + 30, peak->of_step);
    EXPECT_EQ("backward of a", peak->of_step_in);
}

TEST(MoverProfile, GradientsOfBeforeTheTraceAreFoundAsTheyGo) {
    Maker make;
    make.memory(1, 1, 1000);
    make.note("a", 100, 90);
    make.op("aten::mm", 110, 5, 4);
    make.memory(111, 2, 60);
    make.note("Optimizer.zero_grad#Adam.zero_grad", 195, 4);
    make.memory(196, 3, -500);
    make.backward("MmBackward0", 200, 40, 4);
    make.memory(210, 4, 500);
    make.memory(220, 5, 30);
    make.memory(230, 5, -30);
    make.memory(235, 2, -60);
    make.note("Optimizer.step#Adam.step", 300, 50);
    make.memory(310, 6, 200);
    make.memory(320, 6, -200);
    const auto peak = measured_peak(*trace_of_text("t", make.text()));
    EXPECT_EQ(200, peak->of_step);
    EXPECT_EQ("Optimizer.step#Adam.step", peak->of_step_in);
}

TEST(MoverProfile, WhatIsWrongIsNamed) {
    const auto fault = [](const std::string& text) {
        const auto trace = trace_of_text("t", text);
        if (!trace.ok()) return trace.status().message();
        const auto model = model_of_trace(*trace);
        return model.ok() ? std::string() : model.status().message();
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
        fault(make.text())
            .starts_with("t: /traceEvents: no layer is named (nothing is annotated): allowed are"));
    make.note("a", 10, 90);
    make.note("ProfilerStep#3", 5, 100);
    EXPECT_TRUE(fault(make.text())
                    .starts_with("t: /traceEvents: no layer is named (left out, of PyTorch or a "
                                 "tool: ProfilerStep#3; left "
                                 "out, no backward of its operators is there: a): allowed are"))
        << fault(make.text());
    EXPECT_TRUE(measured_peak(*trace_of_text("t", make.text()))
                    .status()
                    .message()
                    .starts_with("t: /traceEvents: no \"[memory]\" events"));
}

std::string found_in(const Maker& make) {
    const auto profiled = model_of_trace(*trace_of_text("t", make.text()));
    EXPECT_TRUE(profiled.ok()) << profiled.status().message();
    return profiled->found;
}

/// Makes a layer from an operator, whose node runs backward at `backward`.
void layer(Maker& make, const std::string& name, int start, int sequence, int backward) {
    make.note(name, start, 10);
    make.op("aten::mm", start + 1, 5, sequence);
    make.backward("MmBackward0", backward, 20, sequence);
}

TEST(MoverProfile, WhatHoldsLayersIsLookedIntoAndWhatIsNoneIsLeftOut) {
    Maker make = step();
    make.note("DistributedDataParallel.forward", 9, 145);
    make.note("train", 7, 380);  // holds the backward of its own nodes
    make.note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 6, 1);
    make.note("load", 8, 1);
    make.note("attention", 15, 40);
    make.op("aten::randn", 8, 1, 4);  // makes no node, as linear comes with the same number
    make.on(3);
    make.note("gloo:all_reduce", 500, 60)["args"] = {
        {"Input type", {"c10::BFloat16"}}, {"Input Dims", {{8}}}, {"Concrete Inputs", {""}}};
    make.span("cpu_op", "c10d::allreduce_", 510, 5)["args"]["Input Dims"] = {{{8}}, Json::array()};
    EXPECT_EQ(
        "Layers in the last step of t, 2 in all: a, b\n"
        "  looked into: train, ProfilerStep#3, DistributedDataParallel.forward\n"
        "  left out, of PyTorch or a tool: enumerate(DataLoader)#_SingleProcessDataLoaderIter."
        "__next__, Optimizer.step#SGD.step, gloo:all_reduce\n"
        "  left out, no backward of its operators is there: load\n"
        "  left out, inside a layer: attention\n\n",
        found_in(make));
    const auto layers = layers_in(make);
    ASSERT_EQ(2U, layers.size());
    EXPECT_EQ(90, layers[0].times.forward_us);
    EXPECT_EQ(65, layers[0].times.backward_us);
    EXPECT_EQ(50, layers[1].times.forward_us);
    EXPECT_EQ(12, layers[0].parameters);
}

TEST(MoverProfile, WhatFsdpDoesInALayerIsNeitherItsTimeNorItsMemory) {
    Maker make;
    make.note("a", 10, 90);
    make.note("FSDP::pre_forward (a)", 11, 30);
    make.note("FSDP::all_gather (a)", 12, 20);  // inside the one before: counts once
    make.memory(15, 1, 800);                    // stays until backward
    make.op("aten::linear", 50, 20, 4);
    make.memory(55, 2, 100);
    make.note("FSDP::cast_forward_outputs", 90, 5);
    make.memory(92, 3, 16);
    // A hook that runs first has taken the number from the evaluation.
    make.backward("AddmmBackward0", 200, 60);
    make.note("FSDP::pre_backward (a)", 201, 15);
    make.op("AddmmBackward0", 220, 30, 4);
    make.memory(225, 4, 400);  // a gradient, until its sum
    make.memory(255, 3, -16);
    make.memory(256, 2, -100);
    make.backward("torch::autograd::AccumulateGrad", 300, 50);
    make.note("FSDP::post_backward_reduce (a)", 310, 39);
    make.memory(320, 4, -400);
    make.memory(330, 1, -800);
    const auto layers = layers_in(make);
    ASSERT_EQ(1U, layers.size());
    EXPECT_EQ(90 - 30, layers[0].times.forward_us);
    EXPECT_EQ(60 - 15 + 50 - 39, layers[0].times.backward_us);
    ASSERT_EQ(2U, layers[0].kept.size());
    EXPECT_EQ(100, layers[0].kept[0].bytes);
    EXPECT_EQ(16, layers[0].kept[1].bytes);
    EXPECT_EQ(0, layers[0].workspace_bytes);
    EXPECT_EQ(0, layers[0].backward_workspace_bytes);
}

TEST(MoverProfile, KernelsOfSumsOfGradientsAreNoLayers) {
    Maker make;
    make.note("a", 10, 90);
    make.op("aten::mm", 20, 5, 4);
    make.note("nccl:all_reduce", 30, 9);  // in a layer it is its own, as of tensor parallelism
    make.op("record_param_comms", 31, 5);
    make.kernel(11, make.last_external());
    make.on(2);
    make.backward("MmBackward0", 200, 20, 4);
    make.op("aten::mm", 205, 5);
    make.kernel(7, make.last_external());
    make.backward("torch::autograd::AccumulateGrad", 230, 40);
    make.note("nccl:all_reduce", 240, 20);
    make.op("record_param_comms", 241, 15);
    make.kernel(5000, make.last_external());
    const auto layers = layers_in(make);
    ASSERT_EQ(1U, layers.size());
    EXPECT_EQ(11, layers[0].times.forward_us);
    EXPECT_EQ(7, layers[0].times.backward_us);
}

TEST(MoverProfile, TheOnlyLayerIsLookedInto) {
    Maker make;
    make.note("model", 5, 95);
    make.note("blocks", 9, 60);
    for (int l = 0; l < 4; ++l)
        layer(make, "block " + std::to_string(l), 10 + 10 * l, l, 400 - 20 * l);
    make.op("aten::mse_loss", 80, 5, 4);
    make.backward("MseLossBackward0", 300, 20, 4);
    EXPECT_EQ(
        "Layers in the last step of t, 4 in all: block 0 to block 3\n"
        "  looked into: model, blocks\n\n",
        found_in(make));
    EXPECT_EQ(20, layers_in(make)[2].times.backward_us);
    layer(make, "head", 105, 5, 280);  // now there are two
    EXPECT_EQ(
        "Layers in the last step of t, 2 in all: model, head\n"
        "  left out, inside a layer: blocks, block #\n\n",
        found_in(make));
}

TEST(MoverProfile, EachCallOfALayerIsOneAndTheLastMicroBatchCounts) {
    Maker make;
    layer(make, "a", 10, 0, 100);  // a micro-batch before
    layer(make, "a", 200, 1, 260);
    layer(make, "a", 220, 2, 240);
    const auto layers = layers_in(make);
    ASSERT_EQ(2U, layers.size());
    EXPECT_EQ("a", layers[0].name);
    EXPECT_EQ("a, call 2", layers[1].name);
    EXPECT_EQ(10, layers[0].times.forward_us);
    EXPECT_EQ(20, layers[0].times.backward_us);
    EXPECT_EQ(20, layers[1].times.backward_us);
}

TEST(MoverProfile, WhatBackwardRunsAgainIsNoLayer) {
    Maker make;
    layer(make, "a", 10, 0, 200);
    // This makes the node of b, whose own operators make none.
    make.span("cpu_op", "CheckpointFunction", 30, 20, 1)["args"]["Input Dims"] = {
        Json::array(), {2, 3}, {5}};
    make.note("b", 31, 10);
    make.op("aten::mm", 32, 5);
    make.backward("CheckpointFunctionBackward", 100, 90, 1);
    make.note("b", 110, 10);
    make.op("aten::mm", 111, 5, 2);
    make.backward("MmBackward0", 130, 20, 2);                    // inside the checkpoint's
    for (const Json& shape : {Json{3, 3}, Json{2, 3}, Json{4}})  // the second is an input's
        make.span("cpu_op", "torch::autograd::AccumulateGrad", 160,
                  1)["args"]["Input Dims"] = {shape};
    EXPECT_EQ(
        "Layers in the last step of t, 2 in all: a, b\n"
        "  left out, runs again in backward: b\n\n",
        found_in(make));
    const auto layers = layers_in(make);
    EXPECT_EQ(10, layers[1].times.forward_us);
    EXPECT_EQ(90, layers[1].times.backward_us);
    EXPECT_EQ(9 + 4, layers[1].parameters);
}

TEST(MoverProfile, AnnotationsOfToolsAreKnownByName) {
    for (const char* name :
         {"ProfilerStep#4", "DistributedDataParallel.forward", "DataParallel.forward",
          "FullyShardedDataParallel.forward", "FSDP::cast_forward_inputs", "gloo:all_reduce",
          "nccl:_all_gather_base", "PP:0F1", "Forward 12", "Backward 0", "TORCHDYNAMO",
          "[pl][profile][Strategy]SingleDeviceStrategy.training_step", "Torch-Compiled Region: 0/1",
          "## Call CompiledFxGraph fmhu5 ##", "backend_compile (dynamo_timed)",
          "graph_0_inductor_wrapper_call", "torch.distributed.ddp.reducer::copy_bucket_to_grad"})
        EXPECT_EQ(Annotator::tool, annotator_of(name)) << name;
    for (const char* name :
         {"Optimizer.step#AdamW.step", "Optimizer.zero_grad#SGD.zero_grad",
          "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "FSDP::pre_forward (l)",
          "FSDP::post_backward_reduce", "FullyShardedDataParallel._post_backward_hook",
          "FullyShardedDataParallel.rate_limiter"})
        EXPECT_EQ(Annotator::aside, annotator_of(name)) << name;
    for (const char* name : {"layer 0", "Forward", "Forward pass 2", "encoder: 3", "mpi", "gloo",
                             "[pl][module]torch.nn.modules.linear.Linear: layer.0", "Optimizer"})
        EXPECT_EQ(Annotator::program, annotator_of(name)) << name;
}

TEST(MoverProfile, TheThreadWithTheMostLayersCounts) {
    Maker make;
    layer(make, "a", 10, 0, 200);
    layer(make, "b", 30, 1, 150);
    make.on(2);
    make.note("c", 20, 15);
    make.op("aten::mm", 25, 5, 1);  // numbers are a thread's own
    EXPECT_EQ(
        "Layers in the last step of t, 2 in all: a, b\n"
        "  left out, in another thread than most layers: c\n\n",
        found_in(make));
    EXPECT_EQ(20, layers_in(make)[1].times.backward_us);
}

TEST(MoverProfile, DamagedGzipIsRefused) {
    EXPECT_EQ("plain", *unpacked("plain", 10));
    EXPECT_EQ("its gzip data are damaged or cut off",
              unpacked(std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10), 10).status().message());
    EXPECT_FALSE(unpacked("\x1f\x8b garbage, and more of it", 10).ok());
}

}  // namespace
}  // namespace gradcoll::mover
