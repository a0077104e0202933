// runtime/slow_links.cpp - whose messages pass a slow link.
#include "runtime/slow_links.hpp"

#include <algorithm>

#include "collectives/choose/hop_codecs.hpp"
#include "collectives/predict/links.hpp"
#include "runtime/program.hpp"

namespace gradcoll {
namespace {

/// Links up to this rate (10 Gbit Ethernet) are taken for slow. Faster networks place a long
/// message by themselves once the receiver has answered, without a copy.
constexpr double slow_gbytes_per_s = 1.25;

bool is_slow(const Tree& tree, int vertex) {
    const double rate = tree.vertex(vertex).uplink.bandwidth_gbytes_per_s;
    return rate > 0 && rate <= slow_gbytes_per_s;
}

bool pass_slow_link(const Tree& tree, int rank, int peer) {
    bool slow = false;
    visit_links_between(tree, rank, peer,
                        [&](int vertex, bool) { slow = slow || is_slow(tree, vertex); });
    return slow;
}

bool leave_host(const Tree& tree, int rank, int peer) {
    bool leave = false;
    visit_links_between(tree, rank, peer, [&](int vertex, bool) {
        leave = leave || !is_inside_host(tree, tree.vertex(vertex).parent);
    });
    return leave;
}

void add_peers(const Schedule& schedule, std::vector<int>& peers) {
    for (const Step& step : schedule.steps)
        if (is_message(step.kind)) peers.push_back(step.peer);
}

/// Returns each peer once, ascending.
std::vector<int> peers_of(const Plan& plan) {
    std::vector<int> peers;
    add_peers(plan.body, peers);
    add_peers(plan.tail, peers);
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    return peers;
}

}  // namespace

std::vector<int> peers_over_slow_links(const Tree& tree, const Plan& plan) {
    std::vector<int> peers = peers_of(plan);
    std::erase_if(peers, [&](int peer) { return !pass_slow_link(tree, plan.rank, peer); });
    return peers;
}

std::vector<int> peers_on_own_host(const Tree& tree, const Plan& plan) {
    std::vector<int> peers = peers_of(plan);
    std::erase_if(peers, [&](int peer) { return leave_host(tree, plan.rank, peer); });
    return peers;
}

}  // namespace gradcoll
