// tests/topology/probe_measured_test.cpp - simulated networks are found as they are: small ones by
// their rates alone, large ones with their hosts in any order, in few rounds.
#include "topology/probe/measured_switches.hpp"

#include <gtest/gtest.h>

#include "topology/probe_fabric.hpp"

namespace gradcoll {
namespace {

constexpr double gbit = 0.125;
constexpr double host_rate = 10;
constexpr Noise moderate{0.05, 0.01};

Network lopsided() {
    Network network;
    const int top = network.add(-1, {});
    const int left = network.add(top, {0.5 * gbit, 5});
    const int right = network.add(top, {0.5 * gbit, 5});
    for (int i = 0; i < 2; ++i) network.add_host(left, {gbit, 10});
    for (int i = 0; i < 3; ++i) network.add_host(right, {gbit, 10});
    return network;
}

/// Makes three levels, with branches of one host.
Network deep() {
    Network network;
    const int top = network.add(-1, {});
    const int east = network.add(top, {0.3 * gbit, 5});
    const int west = network.add(top, {0.3 * gbit, 5});
    for (const auto& [pod, hosts] :
         {std::pair{east, 2}, {east, 1}, {east, 1}, {west, 2}, {west, 1}}) {
        const int rack = network.add(pod, {0.6 * gbit, 5});
        for (int i = 0; i < hosts; ++i) network.add_host(rack, {gbit, 10});
    }
    return network;
}

Network star(int hosts) {
    Network network;
    const int top = network.add(-1, {});
    for (int i = 0; i < hosts; ++i) network.add_host(top, {gbit, 10});
    return network;
}

void without_latency(Network& network) {
    for (auto& node : network.nodes)
        node.uplink.latency_us = node.uplink.latency_us > 5 ? 10 : 1e-3;
}

struct Shape {
    int hosts = 0;
    int degree = 4;       ///< most branches of a switch
    int depth = 4;        ///< most levels of switches; the lowest have as many hosts as are left
    double uplink = 0.6;  ///< the ratio of a link's rate to that of one below it; 0: as much as all
                          ///< hosts below send
};

/// Hangs `hosts` hosts below `at`, in two to `degree` parts of any size. The way up is equally long
/// for all hosts: one that is alone in its branch is below as many switches as the others.
void grow(Network& network, int at, int hosts, double rate, int depth, const Shape& shape,
          std::mt19937& random) {
    const auto any_below = [&](int count) {
        return static_cast<int>(random() % static_cast<unsigned>(count));
    };
    if (depth == 1) {
        for (int i = 0; i < hosts; ++i) network.add_host(at, {host_rate, 1});
        return;
    }
    const int parts = 2 + any_below(std::min(hosts, shape.degree) - 1);
    for (int part = 0; part < parts; ++part) {
        // A part has from a half to three halves of the fair share; the last part is what is left.
        const int left = parts - part - 1;
        const int fair = hosts / (left + 1);
        const int wanted = left == 0 ? hosts : std::max(1, fair / 2 + any_below(fair + 1));
        const int take = std::min(wanted, hosts - left);
        hosts -= take;
        const double up = shape.uplink == 0 ? host_rate * take : rate / shape.uplink;
        if (take == 1)
            network.add_host(at, {std::min(up, host_rate), 1 + 0.7 * (depth - 1)});
        else
            grow(network, network.add(at, {up, 0.7}), take, up, depth - 1, shape, random);
    }
}

Network random_network(const Shape& shape, unsigned seed) {
    std::mt19937 random(seed);
    Network network;
    const int top = network.add(-1, {});
    grow(network, top, shape.hosts, 0.8, shape.depth, shape, random);
    network.shuffle(random);
    return network;
}

SwitchTree measured(SimulatedRuler& ruler, int hosts, ProbeEffort effort = ProbeEffort::thorough) {
    Result<MeasuredTree> found = measured_switches(ruler, numbered_names(hosts), effort);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? std::move(found->tree) : SwitchTree{};
}

/// Returns in how many of so many seeded runs the tree is found.
int found(const Network& network, Noise noise, int runs,
          ProbeEffort effort = ProbeEffort::thorough) {
    int right = 0;
    for (int run = 0; run < runs; ++run) {
        SimulatedRuler ruler(network, noise, static_cast<unsigned>(run));
        right +=
            host_sets(measured(ruler, network.host_count(), effort)) == host_sets(network) ? 1 : 0;
    }
    return right;
}

TEST(ProbeMeasured, SmallNetworksComeBackInAllOfAHundredRunsWithNoise) {
    for (const Network& network : {lopsided(), deep(), star(1), star(2), star(3), star(8)})
        EXPECT_EQ(found(network, moderate, 100), 100) << network.host_count() << " hosts";
}

TEST(ProbeMeasured, RatesAloneAreEnough) {
    for (Network network : {lopsided(), deep(), star(5)}) {
        without_latency(network);
        EXPECT_EQ(found(network, moderate, 100), 100) << network.host_count() << " hosts";
    }
}

TEST(ProbeMeasured, QuickEffortFindsWhatRatesTellInAFewRounds) {
    for (const Network& network : {lopsided(), deep(), star(3), star(8)}) {
        EXPECT_GE(found(network, moderate, 100, ProbeEffort::quick), 95);
        SimulatedRuler ruler(network, {}, 1);
        measured(ruler, network.host_count(), ProbeEffort::quick);
        EXPECT_LE(ruler.bulk_rounds, 30) << network.host_count() << " hosts";
    }
    EXPECT_GE(found(random_network({48, 4, 3, 0.6}, 5), moderate, 20, ProbeEffort::quick), 18);
}

/// Undisturbed counts the quick measurements that are undisturbed, and those of them that are
/// right.
struct Undisturbed {
    int all = 0;
    int right = 0;
};

Undisturbed undisturbed(const Network& network, double busy_chance) {
    Undisturbed count;
    for (unsigned seed = 0; seed < 100; ++seed) {
        SimulatedRuler ruler(network, {0.05, 0.01, busy_chance}, seed);
        const auto found =
            measured_switches(ruler, numbered_names(network.host_count()), ProbeEffort::quick);
        EXPECT_TRUE(found.ok()) << found.status().message();
        if (found->disturbed) continue;
        ++count.all;
        count.right += host_sets(found->tree) == host_sets(network) ? 1 : 0;
    }
    return count;
}

TEST(ProbeMeasured, BusyHostsAreMeasuredAgainOrTheTreeIsSaidToBeDisturbed) {
    for (const Network& network : {lopsided(), deep(), star(5)}) {
        for (const double busy_chance : {0.0, 0.1, 0.3}) {
            const Undisturbed count = undisturbed(network, busy_chance);
            EXPECT_GE(count.all, 98) << busy_chance;
            EXPECT_GE(count.right, count.all * 95 / 100) << busy_chance;
        }
        EXPECT_LE(undisturbed(network, 0.97).all, 2);
    }
}

TEST(ProbeMeasured, LatencyAloneIsEnough) {
    for (Network network : {lopsided(), deep()}) {
        for (auto& node : network.nodes) node.uplink.bandwidth_gbytes_per_s = 100;
        EXPECT_EQ(found(network, moderate, 100), 100) << network.host_count() << " hosts";
    }
}

TEST(ProbeMeasured, HeavyNoiseMakesAStarFlatRatherThanATree) {
    EXPECT_GE(found(star(8), Noise{0.3, 0.05}, 100), 98);
}

TEST(ProbeMeasured, SixtyFourHostsInAnyOrderComeBack) {
    int right = 0;
    for (unsigned seed = 0; seed < 100; ++seed)
        right += found(random_network({64, 4, 4, seed % 2 == 0 ? 0 : 0.6}, seed), moderate, 1);
    EXPECT_EQ(right, 100);
}

TEST(ProbeMeasured, AThousandHostsInAnyOrderComeBack) {
    int right = 0;
    for (unsigned seed = 0; seed < 5; ++seed)
        right += found(random_network({1024, 8, 4, 0.6}, seed), moderate, 1);
    EXPECT_EQ(right, 5);
}

/// Makes five racks of eight hosts in two pods: 40 hosts, of which eight at once use a rack's link.
Network racks(std::mt19937& random) {
    Network network;
    const int top = network.add(-1, {});
    const int left = network.add(top, {0.4, 1e-3});
    const int right = network.add(top, {0.4, 1e-3});
    for (const int pod : {left, left, left, right, right}) {
        const int rack = network.add(pod, {1, 1e-3});
        for (int i = 0; i < 8; ++i) network.add_host(rack, {2, 10});
    }
    network.shuffle(random);
    return network;
}

TEST(ProbeMeasured, ManyHostsComeBackByRatesAloneThoughPairsShareLinks) {
    int right = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        right += found(racks(random), moderate, 1);
    }
    EXPECT_EQ(right, 20);
}

TEST(ProbeMeasured, ASlowHostBecomesABranchBesideTheOthers) {
    Network network = star(4);
    network.nodes.back().uplink.bandwidth_gbytes_per_s /= 10;
    SimulatedRuler ruler(network, moderate, 1);
    EXPECT_EQ(host_sets(measured(ruler, 4)), (HostSets{{0, 1, 2}}));
}

TEST(ProbeMeasured, AFatUplinkIsSeenWholeAndAThinOneAsItIs) {
    Network network;
    const int top = network.add(-1, {});
    const int fat = network.add(top, {4, 5});
    const int thin = network.add(top, {3, 5});
    const int other = network.add(top, {20, 5});
    for (const int at : {fat, thin, other})
        for (int i = 0; i < 4; ++i) network.add_host(at, {2, 10});
    SimulatedRuler ruler(network, {}, 1);
    const SwitchTree tree = measured(ruler, 12);
    const auto of_host = [&](const char* name) {
        return tree.switches.at(static_cast<std::size_t>(tree.hosts.at(name).at)).uplink;
    };
    EXPECT_NEAR(of_host("0").bandwidth_gbytes_per_s, 4, 0.01);
    EXPECT_NEAR(of_host("4").bandwidth_gbytes_per_s, 3, 0.01);
    EXPECT_GE(of_host("8").bandwidth_gbytes_per_s, 5.9);  // its siblings take no more than 7
    EXPECT_NEAR(of_host("0").latency_us, 5, 0.01);
    EXPECT_NEAR(tree.hosts.at("0").uplink.bandwidth_gbytes_per_s, 2, 0.01);
    EXPECT_NEAR(tree.hosts.at("0").uplink.latency_us, 10, 0.01);
}

TEST(ProbeMeasured, WhenTheTimeIsSpentTheTreeIsStillWholeAndSaysSo) {
    for (const int rounds : {0, 1, 7, 100, 300}) {
        const Network network = random_network({64, 4, 4, 0.6}, 3);
        SimulatedRuler ruler(network, moderate, 1);
        ruler.most_rounds = rounds;
        const SwitchTree tree = measured(ruler, 64);
        EXPECT_EQ(tree.hosts.size(), 64U);
        EXPECT_LE(ruler.rounds, rounds);
        EXPECT_NE(tree.notes.back().find("time"), std::string::npos);
    }
}

class BrokenRuler : public Ruler {
    Result<std::vector<Measured>> measure(Signal, std::span<const HostPair>) override {
        return Status(Code::transport, "the cable is gone");
    }
};

TEST(ProbeMeasured, WhatTheNetworkReportsIsTheError) {
    BrokenRuler ruler;
    for (const int hosts : {2, 20}) {
        const Result<MeasuredTree> tree =
            measured_switches(ruler, numbered_names(hosts), ProbeEffort::thorough);
        ASSERT_FALSE(tree.ok());
        EXPECT_EQ(tree.status().message(), "the cable is gone");
    }
}

TEST(ProbeMeasured, RoundsGrowWithTheLogarithm) {
    std::vector<int> rounds;
    for (const int hosts : {64, 256, 1024}) {
        const Network network = random_network({hosts, 8, 4, 0}, 1);
        SimulatedRuler ruler(network, {}, 1);
        measured(ruler, hosts);
        rounds.push_back(ruler.rounds);
    }
    EXPECT_LT(rounds[1], 3 * rounds[0]);
    EXPECT_LT(rounds[2], 2 * rounds[1]);
}

}  // namespace
}  // namespace gradcoll
