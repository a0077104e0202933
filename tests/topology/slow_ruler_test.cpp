// tests/topology/slow_ruler_test.cpp - a measurement with breaks finds what one without finds, and
// measures nothing twice.
#include "topology/probe/slow_ruler.hpp"

#include <gtest/gtest.h>

#include "topology/probe/cache.hpp"
#include "topology/probe/measured_switches.hpp"
#include "topology/probe_fabric.hpp"

namespace gradcoll {
namespace {

Network two_racks() {
    Network network;
    const int top = network.add(-1, {});
    for (const int hosts : {3, 4}) {
        const int rack = network.add(top, {0.5, 5});
        for (int i = 0; i < hosts; ++i) network.add_host(rack, {1, 10});
    }
    return network;
}

TEST(SlowRuler, FindsTheSameWithABreakAfterEveryFewRounds) {
    const Network network = two_racks();
    const auto names = numbered_names(network.host_count());
    for (const ProbeEffort effort : {ProbeEffort::quick, ProbeEffort::thorough}) {
        SimulatedRuler alone(network, {0.05, 0.01}, 3);
        const auto wanted = measured_switches(alone, names, effort);
        for (const int rounds : {1, 2, 7}) {
            SimulatedRuler ruler(network, {0.05, 0.01}, 3);
            SlowRuler slow(ruler);
            Result<MeasuredTree> found = Status(Code::internal, "not asked");
            for (int slice = 0; !found.ok(); ++slice) {
                ASSERT_LE(slice, alone.rounds);
                EXPECT_EQ(slow.has_break(), slice > 0);
                slow.start([left = rounds](Signal) mutable { return left-- > 0; });
                found = measured_switches(slow, names, effort);
            }
            EXPECT_EQ(probe_cache_text(found->tree), probe_cache_text(wanted->tree));
            EXPECT_EQ(ruler.rounds, alone.rounds);
            EXPECT_FALSE(slow.has_break());
        }
    }
}

class BrokenRuler : public Ruler {
    Result<std::vector<Measured>> measure(Signal, std::span<const HostPair>) override {
        return Status(Code::transport, "the cable is gone");
    }
};

TEST(SlowRuler, AnErrorIsNoBreak) {
    BrokenRuler broken;
    SlowRuler slow(broken);
    slow.start([](Signal) { return true; });
    EXPECT_FALSE(slow.measure(Signal::bulk, {}).ok());
    EXPECT_FALSE(slow.has_break());
}

}  // namespace
}  // namespace gradcoll
