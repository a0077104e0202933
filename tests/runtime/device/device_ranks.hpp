// Ranks as threads whose data are on a device, or on the host, each as it likes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "device/devices.hpp"
#include "runtime/device/device_area.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {

/// Returns the plug-in that GC_DEVICE names.
inline const DevicePlugin& plugin_for_tests() {
    const DevicePlugin* plugin = Devices::of_process().plugin_if_in_use();
    if (!plugin) throw std::runtime_error(Devices::of_process().why_inactive());
    return *plugin;
}

/// DeviceFloats are in device memory; the CPU cannot touch them but by copies.
class DeviceFloats {
  public:
    DeviceFloats(DeviceSide& side, const Floats& content) : side_(side), count_(content.size()) {
        auto area = DeviceArea::make(side.device(), DeviceArea::Kind::on_device,
                                     count_ * sizeof(float) + 1);
        if (!area.ok()) throw std::runtime_error(area.status().message());
        area_ = std::move(area).value();
        move(area_.data(), content.data());
    }
    float* data() const { return reinterpret_cast<float*>(area_.data()); }
    Floats content() {
        Floats values(count_);
        move(values.data(), area_.data());
        return values;
    }

  private:
    void move(void* to, const void* from) {
        auto stream = std::move(side_.device().make_stream()).value();
        auto mark = std::move(side_.device().make_mark()).value();
        EXPECT_TRUE(stream->copy(to, from, count_ * sizeof(float)).ok());
        EXPECT_TRUE(stream->record(*mark).ok());
        while (!*mark->passed()) std::this_thread::yield();
    }

    DeviceSide& side_;
    std::size_t count_;
    DeviceArea area_;
};

/// DeviceRanks says how the ranks are placed.
struct DeviceRanks {
    std::vector<bool> on_device;  ///< one per rank: whether its data are there
    bool share = true;            ///< peers' memory is read in place
    bool knows_devices = true;    ///< ranks of the host read references, too
    bool mpi_takes_it = false;    ///< the lane sends from the device and receives to it
};

inline std::shared_ptr<DeviceSide> make_side(int rank_count, bool share,
                                             bool mpi_takes_it = false) {
    auto side = DeviceSide::make(
        plugin_for_tests(), 0,
        {std::vector<bool>(static_cast<std::size_t>(rank_count), share), mpi_takes_it});
    if (!side.ok()) throw std::runtime_error(side.status().message());
    return std::move(side).value();
}

/// Returns every rank's outcome of one allreduce of data on hosts, where a peer's device may be
/// read; `look` is called with each executor afterwards, by its rank's thread.
inline std::vector<Outcome> allreduce_beside_devices(
    const Scenario& shape, MakeInput input, const std::function<void(const Executor&)>& look) {
    const int ranks = shape.rank_count();
    LoopbackWorld world(ranks);
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    on_all_ranks(world, ranks, [&](Channel& channel) {
        Scenario mine = shape;
        mine.options.device = make_side(ranks, true);
        const auto executor = make_executor(mine, channel);
        outcomes[static_cast<std::size_t>(channel.rank())] = run_once(*executor, input);
        look(*executor);
    });
    return outcomes;
}

/// A CarriedChannel works as if the MPI library carried all messages.
class CarriedChannel final : public Channel {
  public:
    explicit CarriedChannel(Channel& channel) : channel_(channel) {}
    int rank() const override { return channel_.rank(); }
    int rank_count() const override { return channel_.rank_count(); }
    int tag_limit() const override { return channel_.tag_limit(); }
    Capabilities capabilities(int) const override { return {.device_memory = DeviceReach::as_mpi}; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override {
        return channel_.open_lane(capacity);
    }

  private:
    Channel& channel_;
};

struct DeviceOutcome : Outcome {
    RunStats stats;
};

/// Does one rank's allreduce with its data on the device, as often as wanted, and returns the last
/// outcome.
inline DeviceOutcome run_on_device(const Scenario& scenario, Channel& channel, MakeInput input,
                                   const std::shared_ptr<DeviceSide>& side, int calls) {
    Scenario with_device = scenario;
    with_device.options.device = side;
    with_device.options.data_on_device = true;
    const auto executor = make_executor(with_device, channel);
    const Floats in = input(channel.rank(), scenario.spec.count_elems);
    DeviceOutcome outcome;
    for (int call = 0; call < calls && outcome.status.ok(); ++call) {
        DeviceFloats from(*side, in);
        DeviceFloats to(*side, scenario.spec.in_place ? in : Floats(in.size(), -99.0F));
        Binding binding;
        binding.input = scenario.spec.in_place ? to.data() : from.data();
        binding.output = to.data();
        binding.reducer = reducer_for(ReduceOp::sum, ElementType::f32);
        binding.op = ReduceOp::sum;
        binding.sequence = static_cast<std::uint32_t>(call);
        outcome.status = executor->start(binding);
        if (outcome.status.ok()) outcome.status = finish(*executor);
        outcome.output = to.content();
    }
    outcome.stats = executor->stats();
    return outcome;
}

inline DeviceOutcome run_on_host(const Scenario& scenario, Channel& channel, MakeInput input,
                                 const std::shared_ptr<DeviceSide>& side, int calls) {
    Scenario with_device = scenario;
    with_device.options.device = side;
    const auto executor = make_executor(with_device, channel);
    Outcome outcome;
    for (int call = 0; call < calls && outcome.status.ok(); ++call)
        outcome = run_once(*executor, input, static_cast<std::uint32_t>(call));
    return {outcome, executor->stats()};
}

inline std::vector<DeviceOutcome> allreduce_on(const DeviceRanks& ranks, const Scenario& scenario,
                                               MakeInput input, int calls = 1,
                                               LoopbackOptions options = {}) {
    const int count = scenario.rank_count();
    LoopbackWorld world(count, std::move(options));
    std::vector<DeviceOutcome> outcomes(static_cast<std::size_t>(count));
    on_all_ranks(world, count, [&](Channel& loopback) {
        CarriedChannel channel(loopback);
        const auto rank = static_cast<std::size_t>(channel.rank());
        const auto side = make_side(count, ranks.share, ranks.mpi_takes_it);
        outcomes[rank] = ranks.on_device[rank]
                             ? run_on_device(scenario, channel, input, side, calls)
                             : run_on_host(scenario, channel, input,
                                           ranks.knows_devices ? side : nullptr, calls);
    });
    return outcomes;
}

inline std::vector<bool> all(const Scenario& scenario, bool value) {
    return std::vector<bool>(static_cast<std::size_t>(scenario.rank_count()), value);
}

inline void expect_same_bits(const std::vector<DeviceOutcome>& got,
                             const std::vector<Outcome>& expected) {
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
        ASSERT_TRUE(got[rank].status.ok()) << "rank " << rank << got[rank].status.message();
        ASSERT_TRUE(std::equal(got[rank].output.begin(), got[rank].output.end(),
                               expected[rank].output.begin(), expected[rank].output.end(),
                               [](float a, float b) {
                                   return std::bit_cast<std::uint32_t>(a) ==
                                          std::bit_cast<std::uint32_t>(b);
                               }))
            << "rank " << rank;
    }
}

}  // namespace gradcoll
