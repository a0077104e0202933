// Plans are carried out in memory of a device, by its streams: what comes back is what left. On the
// emulated device, and by scripts/gpu-check on a GPU, where it tells what was measured.
#include <fmt/format.h>

#include "device/contract.hpp"
#include "mover/analysis/build.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/execution/execution.hpp"
#include "mover/plan/planner.hpp"

namespace gradcoll::test {
namespace {

using namespace mover;

constexpr std::int64_t layers = 8;
constexpr std::int64_t kept = 3 << 20;
constexpr std::int64_t numbers = 40'000;  ///< parameters of a layer

struct Planned {
    Program program;
    Rooms rooms;
    PlannedStep step;
};

/// Half of the activations may be there, and a third of the optimizer.
Planned half_of_the_activations() {
    Description description;
    std::vector<ListedLayer> listed;
    for (std::int64_t l = 0; l < layers; ++l)
        listed.push_back({.name = "l" + std::to_string(l),
                          .parameters = numbers,
                          .kept = {{"out", kept}},
                          .times = {.forward_us = 2000, .backward_us = 4000}});
    description.model = {"row", std::move(listed)};
    Cluster& cluster = description.cluster;
    cluster.device_memory = cluster.host_memory = most_bytes;
    cluster.device_tflops = cluster.device_memory_gbytes_per_s = 1;
    cluster.network_gbytes_per_s = 1;
    cluster.link_gbytes_per_s = 4;
    Planned out;
    out.program = *program_of(description);
    out.rooms = *rooms_of(description, out.program, layers * (numbers * 10 + kept / 2));
    auto step = plan_moves(out.program, out.rooms, MovableKinds{.least_bytes = 1});
    EXPECT_TRUE(succeeds(step.status()));
    out.step = std::move(step).value();
    return out;
}

class DeviceMover : public DeviceTest {
  protected:
    std::unique_ptr<Execution> execution_of(const Planned& planned) {
        auto machine = device_machine(*device_, stream_->native());
        EXPECT_TRUE(succeeds(machine.status()));
        auto made = Execution::make(planned.program.ranks[0], planned.step.plan.ranks[0],
                                    planned.step.plan.step_ticks, planned.rooms.ranks[0],
                                    std::move(machine).value());
        EXPECT_TRUE(succeeds(made.status()));
        return std::move(made).value();
    }

    /// Each operator's work goes to the program's stream and is not waited for: what it writes
    /// comes from pinned memory, which lives as long as the step.
    void run_step(Execution& execution, int step) {
        const RankProgram& rank = execution.rank();
        const DeviceBuffer written(*device_, kept, DeviceBuffer::Kind::pinned);
        std::memset(written.data(), step, kept);
        ASSERT_TRUE(succeeds(execution.begin_step()));
        for (std::size_t n = 0; n < rank.operators.size(); ++n) {
            const auto op = static_cast<std::int32_t>(n);
            ASSERT_TRUE(succeeds(execution.begin_operator(op)));
            for (std::size_t t = 0; t < rank.tensors.size(); ++t)
                touch(execution, t, op, step, written);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ASSERT_TRUE(succeeds(execution.end_operator(op)));
        }
        ASSERT_TRUE(succeeds(execution.end_step()));
    }

    void touch(Execution& execution, std::size_t t, std::int32_t op, int step,
               const DeviceBuffer& written) {
        const DeviceTensor& tensor = execution.rank().tensors[t];
        const auto size = static_cast<std::size_t>(tensor.bytes);
        const bool is_state = tensor.kind == MemoryKind::optimizer;
        if ((tensor.stays && !is_state) || (tensor.uses.front() != op && tensor.uses.back() != op))
            return;
        const auto data = execution.tensor(static_cast<std::int32_t>(t));
        ASSERT_TRUE(succeeds(data.status()));
        // A state has what the step before wrote; zeros at first.
        if (is_state || tensor.uses.back() == op) {
            const int expected = is_state ? step - 1 : step;
            ASSERT_EQ(std::vector<std::byte>(size, static_cast<std::byte>(expected)),
                      content(*data, size))
                << "tensor " << t;
        }
        if (is_state || tensor.uses.front() == op) {
            ASSERT_TRUE(succeeds(stream_->copy(*data, written.data(), size)));
        }
    }
};

TEST_F(DeviceMover, BytesThatLeaveTheDeviceComeBack) {
    const Planned planned = half_of_the_activations();
    const auto execution = execution_of(planned);
    for (int step = 1; step <= 3; ++step) {
        run_step(*execution, step);
        if (HasFatalFailure()) return;
    }
    const ExecutionFigures& figures = execution->figures();
    EXPECT_GE(figures.moves, layers / 2);
    EXPECT_LE(figures.peak_bytes, planned.rooms.ranks[0].device_bytes);
    const double rate =
        static_cast<double>(figures.moved_bytes) / static_cast<double>(figures.moving);
    fmt::print(
        "# summary: {} moves of a step, {:.1f} GB/s, overlap {:.1f} %, {} operators waited\n",
        figures.moves, rate, 100 * figures.overlap(),
        figures.waits_for_memory + figures.waits_for_tensors);
}

TEST_F(DeviceMover, StatesStayAsTheyAreWhenAnotherPlanIsFollowed) {
    const Planned planned = half_of_the_activations();
    const auto execution = execution_of(planned);
    run_step(*execution, 1);
    const auto& rank = planned.program.ranks[0];
    ASSERT_TRUE(succeeds(execution->follow(rank, planned.step.plan.ranks[0],
                                           planned.step.plan.step_ticks, planned.rooms.ranks[0])));
    run_step(*execution, 2);
}

}  // namespace
}  // namespace gradcoll::test
