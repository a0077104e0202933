#include "ways/learn/network_learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/hash.hpp"
#include "collectives/predict/model.hpp"
#include "comm/started_calls.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/cluster/kept_networks.hpp"

namespace gradcoll {
namespace {

/// Slices may take these shares of the time of calls.
constexpr double share_to_learn = 0.1;
constexpr double share_to_watch = 0.01;
/// A round of the probe takes about as long as this slice. Ranks come out of a call one after the
/// other, and a slice makes them wait for each other, a fifth of a call: so there are not many.
constexpr double slice_ns = 5e6;
constexpr int calls_between_slices = 8;
/// One or two slices of this length do all of the probe.
constexpr double long_slice_ns = 50e6;
/// If the tree that is found first stays, slices take so much time each, and in all.
constexpr double at_once_slice_ns = 250e6;
constexpr double most_at_once_ns = 3e9;
constexpr double window_wanted_ns = 200e6;
/// A tree stays if calls are not slower with it by more than machines vary.
constexpr double slower_by = 1.1;
constexpr double another_time = 1.25;
constexpr double another_rate = 1.25;
/// Calls do more than send, so a tree from before is doubted only if they take so many times as
/// long as its links say.
constexpr double doubtful_from = 2;
constexpr int proving_calls = 4;
/// A proof takes so many times as many calls that end apart, as each rank has to come last once.
constexpr int apart_calls_a_call = 4;
/// A tree that seems slower is tried so often, as machines are disturbed now and then, and
/// connections are new.
constexpr int proofs = 3;
/// If so many calls have too few sizes that were there before, the tree is believed.
constexpr int most_calls_to_prove = 64;
/// A tree that seems so much slower is tried once.
constexpr double much_slower_by = 1.5;
/// After so many measurements for which hosts were too busy the next ones have time.
constexpr int most_disturbed = 3;
constexpr std::size_t least_hosts = 3;  ///< two hosts have but one way between them

/// Returns the bytes that go over links: a compressed vector is taken for half as long.
std::uint64_t wire_bytes(const LongCall& call) {
    return call.exact ? call.vector_bytes : call.vector_bytes / 2;
}

int lowest_rank(const Tree& tree, int vertex) {
    const Vertex& at = tree.vertex(vertex);
    int lowest = tree.rank_at(at.first_leaf);
    for (int leaf = 1; leaf < at.leaf_count; ++leaf)
        lowest = std::min(lowest, tree.rank_at(at.first_leaf + leaf));
    return lowest;
}

/// Returns nothing if hosts cannot be told apart, or are too few for a tree.
std::vector<ProbeHost> hosts_to_measure(const Tree& tree) {
    std::vector<ProbeHost> hosts;
    std::unordered_set<std::string> names;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (!is_host(tree, vertex)) continue;
        hosts.push_back({lowest_rank(tree, vertex), tree.vertex(vertex).name});
        if (hosts.back().name.empty() || !names.insert(hosts.back().name).second) return {};
    }
    if (hosts.size() < least_hosts) return {};
    return hosts;
}

bool knows_switches(const Tree& tree) {
    const auto inner = tree.inner_vertices();
    return std::any_of(inner.begin(), inner.end(), [&](int vertex) {
        return tree.vertex(vertex).kind == VertexKind::fabric_switch;
    });
}

/// Returns which hosts hang together below which switches, with names in their order.
std::string shape_below(const SwitchTree& tree, int at) {
    std::vector<std::string> below;
    for (const auto& [name, host] : tree.hosts)
        if (host.at == at) below.push_back(name);
    for (std::size_t id = 1; id < tree.switches.size(); ++id)
        if (tree.switches[id].parent == at)
            below.push_back(shape_below(tree, static_cast<int>(id)));
    std::sort(below.begin(), below.end());
    return fmt::format("({})", fmt::join(below, " "));
}

bool are_close(double a, double b) {
    return a == b || (a > 0 && b > 0 && std::max(a, b) / std::min(a, b) <= another_rate);
}

}  // namespace

void NetworkLearning::begin(const Tree& tree) {
    stop();
    hosts_ = hosts_to_measure(tree);
    is_measured_ = knows_links(tree) && knows_switches(tree);
    said_gbytes_per_s_ = is_measured_ ? rate_said_by(tree) : 0;
    passes_ = timing_.begin(tree);
    usual_ = now_ = {};
    timed_bytes_ = window_ns_ = 0;
    disturbed_ = 0;
    spent_ = {};
    if (passes_ > 0 && !(is_measured_ && hosts_.empty())) phase_ = Phase::timing;
}

void NetworkLearning::stop() {
    phase_ = Phase::off;
    slices_.reset();
}

Result<NetworkLearning::Advice> NetworkLearning::add(MPI_Comm comm, const LongCall& call) {
    switch (phase_) {
        case Phase::off:
            return Advice::keep;
        case Phase::timing:
            return add_timed(comm, call);
        case Phase::measuring:
            usual_.add(call);
            break;
        case Phase::proving:
            return add_proof(comm, call);
        case Phase::watching:
            now_.add(call);
            window_ns_ += usual_time_ns(call);
            GRADCOLL_TRY(watch(comm));
            break;
    }
    credit_ns_ += usual_time_ns(call);
    return measure(comm);
}

double NetworkLearning::usual_time_ns(const LongCall& call) const {
    return passes_ * static_cast<double>(wire_bytes(call)) / rate_gbytes_per_s_;
}

/// Adds a call while calls are timed. A tree that was measured from the beginning keeps its rates.
Result<NetworkLearning::Advice> NetworkLearning::add_timed(MPI_Comm comm, const LongCall& call) {
    timed_bytes_ += static_cast<double>(wire_bytes(call));
    if (!is_measured_) usual_.add(call);
    if (!timing_.add(wire_bytes(call), call)) return Advice::keep;
    rate_gbytes_per_s_ = GRADCOLL_VALUE(timing_.agree(comm));
    if (rate_gbytes_per_s_ <= 0) {
        stop();
        return Advice::keep;
    }
    credit_ns_ = passes_ * timed_bytes_ / rate_gbytes_per_s_;
    calls_since_slice_ = LinkTiming::calls;
    is_calm_ = is_measured_ && doubtful_from * rate_gbytes_per_s_ >= said_gbytes_per_s_;
    if (is_measured_) {
        phase_ = Phase::watching;
        return Advice::keep;
    }
    phase_ = hosts_.empty() ? Phase::off : Phase::measuring;
    return Advice::set_rate;
}

Result<NetworkLearning::Advice> NetworkLearning::measure(MPI_Comm comm) {
    const bool is_in_vain = disturbed_ >= most_disturbed;
    const bool only_watches = (phase_ == Phase::watching && is_calm_) || is_in_vain;
    const double share = only_watches ? share_to_watch : share_to_learn;
    const double allowed_ns = share * credit_ns_;
    ++calls_since_slice_;
    const bool may_be_short = calls_since_slice_ >= calls_between_slices && !only_watches;
    if (allowed_ns < (may_be_short ? slice_ns : long_slice_ns)) return Advice::keep;
    calls_since_slice_ = 0;
    std::optional<SwitchTree> tree;
    if (phase_ == Phase::measuring) GRADCOLL_TRY(take(tree, measured_by_others(comm)));
    if (!tree) {
        const std::uint64_t spent_before_ns = spent_.ns;
        GRADCOLL_TRY(take(tree, measure_slice(comm, allowed_ns)));
        credit_ns_ -= static_cast<double>(spent_.ns - spent_before_ns) / share;
    }
    if (!tree) return Advice::keep;
    measured_ = std::move(*tree);
    // Another tree has to stand up to the newest times that there are.
    CallRates& newest = phase_ == Phase::watching ? now_ : usual_;
    GRADCOLL_TRY(newest.agree(comm));
    if (!newest.is_empty()) usual_ = newest;
    return Advice::look_again;
}

/// Returns, on all ranks alike, what another communicator has measured of these hosts meanwhile;
/// nothing if not all ranks know the same of it.
Result<std::optional<SwitchTree>> NetworkLearning::measured_by_others(MPI_Comm comm) {
    std::vector<JobHost> hosts;
    for (const ProbeHost& host : hosts_) hosts.emplace_back().name = host.name;
    const std::optional<Switches> known = kept_network(hosts, /*in_file=*/false);
    const bool has_tree = known && known->tree;
    const std::uint64_t hash =
        has_tree ? Hash().text(probe_cache_text(*known->tree)).digest() : std::uint64_t{0};
    const std::array<std::uint64_t, 2> mine{hash, ~hash};
    std::array<std::uint64_t, 2> highest = mine;
    GRADCOLL_TRY(allreduce_going_on(highest.data(), 2, MPI_UINT64_T, MPI_MAX, comm));
    std::optional<SwitchTree> tree;
    if (has_tree && highest == mine) tree = *known->tree;
    return tree;
}

Result<std::optional<SwitchTree>> NetworkLearning::measure_slice(MPI_Comm comm, double allowed_ns) {
    if (slices_ == nullptr) slices_ = GRADCOLL_VALUE(ProbeSlices::make(comm, hosts_));
    ProbeSlices::Slice slice =
        GRADCOLL_VALUE(slices_->measure(static_cast<std::uint64_t>(allowed_ns)));
    ++spent_.slices;
    spent_.ns += slice.took_ns;
    if (slice.disturbed) ++disturbed_;
    if (slice.tree) disturbed_ = 0;
    return std::move(slice.tree);
}

/// All ranks end together, as slices take the same time on all of them: that of rank 0.
Result<bool> NetworkLearning::measure_now(MPI_Comm comm) {
    const bool is_open = phase_ == Phase::timing || phase_ == Phase::measuring;
    if (!is_open || is_measured_ || hosts_.empty()) return false;
    std::vector<std::string> found;
    while (static_cast<double>(spent_.ns) < most_at_once_ns) {
        auto tree = GRADCOLL_VALUE(measure_slice(comm, at_once_slice_ns));
        if (!tree) continue;
        std::string shape = shape_below(*tree, 0);
        measured_ = std::move(*tree);
        if (std::find(found.begin(), found.end(), shape) != found.end()) return true;
        found.push_back(std::move(shape));
    }
    disturbed_ = 0;
    return found.size() == 1;
}

void NetworkLearning::took(bool is_another) {
    now_ = {};
    window_ns_ = 0;
    is_calm_ = true;
    phase_ = is_another ? Phase::proving : Phase::watching;
    proof_left_ = (proving_calls + 1) * apart_calls_a_call;  // the first one makes connections
    calls_left_ = most_calls_to_prove;
    proofs_left_ = proofs;
}

Result<NetworkLearning::Advice> NetworkLearning::add_proof(MPI_Comm comm, const LongCall& call) {
    constexpr int proof = proving_calls * apart_calls_a_call;
    if (proof_left_ <= proof) now_.add(call);
    if (usual_.has(call) || proof_left_ > proof)
        proof_left_ -= call.ends_apart ? 1 : apart_calls_a_call;
    if (proof_left_ > 0 && --calls_left_ > 0) return Advice::keep;
    GRADCOLL_TRY(now_.agree(comm));
    const double slowness = now_.slowness_to(usual_).value_or(1);
    if (slowness > slower_by && slowness < much_slower_by && --proofs_left_ > 0) {
        proof_left_ = proof;
        return Advice::keep;
    }
    if (slowness > slower_by) {
        stop();
        return Advice::go_back;
    }
    usual_ = std::exchange(now_, {});
    rate_gbytes_per_s_ /= slowness;
    phase_ = Phase::watching;
    return Advice::keep;
}

Status NetworkLearning::watch(MPI_Comm comm) {
    if (window_ns_ < window_wanted_ns) return {};
    GRADCOLL_TRY(now_.agree(comm));
    const double slowness = now_.slowness_to(usual_).value_or(1);
    if (slowness > another_time || slowness < 1 / another_time) {
        is_calm_ = false;
        usual_ = now_;
    }
    usual_.add_sizes_of(now_);
    now_ = {};
    window_ns_ = 0;
    return {};
}

bool are_alike(const Tree& a, const Tree& b) {
    if (a.vertex_count() != b.vertex_count()) return false;
    for (int vertex = 0; vertex < a.vertex_count(); ++vertex) {
        const Vertex& of_a = a.vertex(vertex);
        const Vertex& of_b = b.vertex(vertex);
        if (of_a.parent != of_b.parent || of_a.rank != of_b.rank || of_a.kind != of_b.kind ||
            !are_close(of_a.uplink.bandwidth_gbytes_per_s, of_b.uplink.bandwidth_gbytes_per_s))
            return false;
    }
    return true;
}

}  // namespace gradcoll
