// tests/topology/fabric_property_test.cpp - trees that are cabled redundantly come back; large
// fabrics take time in proportion.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/switch_tree.hpp"

namespace gradcoll {
namespace {

/// A Nest is a tree as nested sets of host names, which two equal trees share.
struct Nest {
    std::vector<std::string> hosts;
    std::vector<Nest> branches;
};

std::string text_of(const Nest& nest) {
    std::vector<std::string> parts = nest.hosts;
    for (const Nest& branch : nest.branches) parts.push_back(text_of(branch));
    std::sort(parts.begin(), parts.end());
    std::string text = "(";
    for (const std::string& part : parts) text += part + " ";
    return text + ")";
}

std::string text_of(const SwitchTree& tree) {
    std::vector<Nest> nests(tree.switches.size());
    for (const auto& [name, host] : tree.hosts)
        nests[static_cast<std::size_t>(host.at)].hosts.push_back(name);
    for (std::size_t s = tree.switches.size() - 1; s > 0; --s)
        nests[static_cast<std::size_t>(tree.switches[s].parent)].branches.push_back(
            std::move(nests[s]));
    return text_of(nests[0]);
}

/// RandomClos makes a Clos network of a random tree: every vertex is one to four switches, some
/// leaves are rails. If nothing says what the root is, all leaves are equally deep: the middle is
/// the top.
class RandomClos {
  public:
    RandomClos(std::uint64_t seed, bool rooted) : random_(seed), rooted_(rooted) {
        builder_.fabric().rooted = rooted;
    }

    Nest grow() {
        Nest nest;
        vertex(2 + below(3), {}, nest);
        return nest;
    }
    Fabric fabric() {
        Fabric fabric = builder_.take().value();
        if (!rooted_) {
            std::shuffle(fabric.cables.begin(), fabric.cables.end(), random_);
            for (Fabric::Cable& cable : fabric.cables)
                if (below(2) == 0) std::swap(cable.a, cable.b);
        }
        return fabric;
    }

  private:
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

    /// Adds a vertex of this height; 0 is a leaf, whose switches are rails of each of its hosts.
    void vertex(int height, const std::vector<int>& above, Nest& nest) {
        const bool is_leaf = height == 0;
        std::vector<int> switches;
        for (int count = 1 + below(4); count > 0; --count)
            switches.push_back(builder_.switch_named("s" + std::to_string(next_switch_++)));
        for (const int lower : switches)
            for (const int upper : above)
                for (int parallel = 1 + below(2); parallel > 0; --parallel)
                    builder_.add_cable(upper, lower, 1);
        if (is_leaf) {
            for (int count = 1 + below(4); count > 0; --count) {
                nest.hosts.push_back("h" + std::to_string(next_host_++));
                for (const int rail : switches)
                    builder_.add_cable(rail, builder_.host_named(nest.hosts.back()), 1);
            }
            return;
        }
        for (int count = 2 + below(3); count > 0; --count) {
            nest.branches.emplace_back();
            const int lower = rooted_ ? below(height) : height - 1;
            vertex(lower, switches, nest.branches.back());
        }
    }

    std::mt19937_64 random_;
    bool rooted_;
    FabricBuilder builder_;
    int next_switch_ = 0, next_host_ = 0;
};

class SwitchTreeOfClos : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RootedOrNot, SwitchTreeOfClos, ::testing::Bool());

TEST_P(SwitchTreeOfClos, IsTheTreeThatWasCabled) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomClos clos(seed, GetParam());
        const Nest nest = clos.grow();
        const Result<SwitchTree> tree = switch_tree(clos.fabric());
        ASSERT_TRUE(tree.ok()) << tree.status().message();
        ASSERT_EQ(text_of(*tree), text_of(nest)) << "seed " << seed;
        ASSERT_TRUE(tree->notes.empty()) << "seed " << seed << ": " << tree->notes.front();
    }
}

/// Any graph gives a tree in which every host is once, and parents come first.
TEST(SwitchTree, OfAnyGraphHoldsEveryHostOnce) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t limit) { return static_cast<int>(random() % limit); };
        FabricBuilder builder;
        builder.fabric().rooted = seed % 3 == 0;
        const int switches = below(12), hosts = 1 + below(12);
        for (int s = 0; s < switches; ++s) builder.switch_named("s" + std::to_string(s));
        for (int h = 0; h < hosts; ++h) builder.host_named("h" + std::to_string(h));
        for (int cables = below(40); cables > 0; --cables)
            builder.add_cable(below(static_cast<std::size_t>(switches + hosts)),
                              below(static_cast<std::size_t>(switches + hosts)), below(3));
        const Result<SwitchTree> tree = switch_tree(builder.take().value());
        if (!tree) {
            ASSERT_NE(tree.status().message().find("cycle"), std::string::npos);
            continue;
        }
        ASSERT_EQ(tree->hosts.size(), static_cast<std::size_t>(hosts));
        ASSERT_EQ(tree->switches[0].parent, -1);
        for (std::size_t s = 1; s < tree->switches.size(); ++s) {
            ASSERT_GE(tree->switches[s].parent, 0) << "seed " << seed;
            ASSERT_LT(tree->switches[s].parent, static_cast<int>(s)) << "seed " << seed;
        }
        for (const auto& [name, host] : tree->hosts) {
            ASSERT_GE(host.at, 0) << "seed " << seed;
            ASSERT_LT(host.at, static_cast<int>(tree->switches.size()));
        }
    }
}

/// Makes a three-level fat tree of switches with `ports` ports: ports^3 / 4 hosts.
Fabric fat_tree(int ports) {
    FabricBuilder builder;
    const int half = ports / 2;
    const auto named = [&](const char* kind, int x, int y) {
        return builder.switch_named(kind + std::to_string(x) + "-" + std::to_string(y));
    };
    for (int pod = 0; pod < ports; ++pod)
        for (int i = 0; i < half; ++i)
            for (int j = 0; j < half; ++j) {
                builder.add_cable(named("leaf", pod, i), named("agg", pod, j), 50);
                builder.add_cable(named("agg", pod, i), named("core", i, j), 50);
                builder.add_cable(named("leaf", pod, i),
                                  builder.host_named("h" + std::to_string(pod) + "-" +
                                                     std::to_string(i) + "-" + std::to_string(j)),
                                  50);
            }
    return builder.take().value();
}

TEST(SwitchTree, OfAFatTreeWithAHundredThousandHostsHasItsPods) {
    const int ports = 74;
    const Fabric fabric = fat_tree(ports);
    const auto begin = std::chrono::steady_clock::now();
    const SwitchTree tree = switch_tree(fabric).value();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    RecordProperty("seconds", std::to_string(seconds));
    std::map<int, int> children;
    for (const SwitchTree::Switch& place : tree.switches) ++children[place.parent];
    EXPECT_EQ(tree.hosts.size(), 101306U);
    EXPECT_EQ(children[-1], 1);
    EXPECT_EQ(children[0], ports);
    EXPECT_EQ(children[1], ports / 2);
    EXPECT_DOUBLE_EQ(tree.switches[1].uplink.bandwidth_gbytes_per_s, 50.0 * 37 * 37);
}

TEST(SwitchTree, OfAFatTreeThatLacksACableInEveryGroupOfCoresHasItsPods) {
    Fabric fabric = fat_tree(8);
    const auto is = [&](int node, const std::string& name) {
        return fabric.nodes[static_cast<std::size_t>(node)].name == name;
    };
    std::erase_if(fabric.cables, [&](const Fabric::Cable& cable) {
        for (int group = 1; group < 4; ++group)
            for (int core = 0; core < 4; ++core)
                if (is(cable.a, "agg" + std::to_string(2 * group) + "-" + std::to_string(group)) &&
                    is(cable.b, "core" + std::to_string(group) + "-" + std::to_string(core)))
                    return true;
        return false;
    });
    const SwitchTree tree = switch_tree(fabric).value();
    ASSERT_EQ(tree.switches.size(), 1U + 8 + 8 * 4);
    EXPECT_DOUBLE_EQ(tree.switches[1].uplink.bandwidth_gbytes_per_s, 50.0 * 16);
    EXPECT_DOUBLE_EQ(tree.switches[3].uplink.bandwidth_gbytes_per_s, 50.0 * 12);
}

/// These graphs would be slow if there were a search from each vertex or a walk up each time.
TEST(SwitchTree, OfLongRingsAndWideMeshesEndsSoon) {
    FabricBuilder ring;
    for (int i = 0; i < 1000; ++i) {
        ring.add_cable(ring.switch_named("s" + std::to_string(i)),
                       ring.switch_named("s" + std::to_string((i + 1) % 1000)));
        ring.add_cable(ring.switch_named("s" + std::to_string(i)),
                       ring.host_named("h" + std::to_string(i)));
    }
    EXPECT_EQ(switch_tree(ring.take().value()).value().hosts.size(), 1000U);

    FabricBuilder mesh;
    for (int i = 0; i < 400; ++i) {
        mesh.add_cable(mesh.switch_named("s" + std::to_string(i)),
                       mesh.host_named("h" + std::to_string(i)));
        for (int j = 0; j < i; ++j)
            mesh.add_cable(mesh.switch_named("s" + std::to_string(i)),
                           mesh.switch_named("s" + std::to_string(j)));
    }
    EXPECT_EQ(switch_tree(mesh.take().value()).value().hosts.size(), 400U);

    FabricBuilder pairs;
    for (int i = 0; i < 100000; ++i) {
        const int one = pairs.switch_named("s" + std::to_string(i));
        pairs.add_cable(one, pairs.switch_named("t" + std::to_string(i)));
        pairs.add_cable(one, pairs.host_named("h" + std::to_string(i)));
    }
    EXPECT_EQ(switch_tree(pairs.take().value()).value().switches.size(), 100001U);
}

}  // namespace
}  // namespace gradcoll
