// topology/probe/figures.cpp - runs rounds and repetitions, and keeps their results.
#include "topology/probe/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradcoll {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

constexpr double settled_within = 1.1;
constexpr double far_from = 1.5;  ///< times the best figure of either host of a pair

struct Repeats {
    int least = 0;
    int most = 0;          ///< if the two smallest figures do not agree
    int most_if_busy = 0;  ///< if hosts are too busy to measure undisturbed
};
/// Returns how often a pair is measured. A short message costs little, so more of them are sent.
Repeats repeats_of(Signal signal, ProbeEffort effort) {
    if (effort == ProbeEffort::quick)
        return signal == Signal::stream ? Repeats{1, 1, 12} : Repeats{2, 6, 12};
    if (signal == Signal::stream) return {3, 3, 6};
    return signal == Signal::latency ? Repeats{5, 11, 11} : Repeats{3, 15, 15};
}

/// Moves every pair to the first round that has neither of its hosts yet.
std::vector<std::vector<HostPair>> packed(const std::vector<std::vector<HostPair>>& rounds,
                                          int host_count) {
    std::vector<std::vector<HostPair>> all;
    std::vector<std::vector<bool>> busy;
    for (const auto& round : rounds)
        for (const HostPair pair : round) {
            const auto from = static_cast<std::size_t>(pair.from);
            const auto to = static_cast<std::size_t>(pair.to);
            std::size_t at = 0;
            while (at < all.size() && (busy[at][from] || busy[at][to])) ++at;
            if (at == all.size()) {
                all.emplace_back();
                busy.emplace_back(static_cast<std::size_t>(host_count), false);
            }
            all[at].push_back(pair);
            busy[at][from] = busy[at][to] = true;
        }
    return all;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

Rounds tournament(std::span<const int> hosts, int most) {
    // The circle method keeps one host in place and turns the others; an odd one out meets nobody.
    std::vector<int> circle(hosts.begin(), hosts.end());
    if (circle.size() % 2 != 0) circle.push_back(-1);
    const std::size_t count = circle.size();
    const std::size_t all = count == 0 ? 0 : count - 1;
    Rounds rounds(std::min(all, static_cast<std::size_t>(most)));
    for (auto& round : rounds) {
        for (std::size_t i = 0; i < count / 2; ++i)
            if (circle[i] >= 0 && circle[count - 1 - i] >= 0)
                round.push_back({circle[i], circle[count - 1 - i]});
        std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
    }
    return rounds;
}

Rounds one_by_one(std::span<const int> hosts) {
    Rounds rounds;
    for (const auto& round : tournament(hosts, static_cast<int>(hosts.size())))
        for (const HostPair pair : round) rounds.push_back({pair});
    return rounds;
}

Figures::Figures(Ruler& ruler, int host_count, ProbeEffort effort)
    : ruler_(ruler), host_count_(host_count), effort_(effort) {
    best_.fill(unknown);
    best_of_.fill(std::vector<double>(static_cast<std::size_t>(host_count), unknown));
}

std::uint64_t Figures::key(int a, int b) const {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::uint64_t>(low) * static_cast<std::uint64_t>(host_count_) +
           static_cast<std::uint64_t>(high);
}

std::vector<std::vector<HostPair>> Figures::merged(Signal signal,
                                                   std::span<const Rounds> groups) const {
    std::vector<std::vector<HostPair>> rounds;
    for (const Rounds& group : groups) {
        rounds.resize(std::max(rounds.size(), group.size()));
        for (std::size_t i = 0; i < group.size(); ++i)
            for (const HostPair pair : group[i])
                if (find(signal, pair.from, pair.to) == nullptr) rounds[i].push_back(pair);
    }
    std::erase_if(rounds, [](const auto& round) { return round.empty(); });
    return rounds;
}

Status Figures::ask(Signal signal, std::span<const Rounds> groups) {
    std::vector<std::vector<HostPair>> rounds = merged(signal, groups);
    const Repeats repeats = repeats_of(signal, effort_);
    for (int repeat = 0; repeat < repeats.most_if_busy && !rounds.empty(); ++repeat) {
        if (repeat > 0) leave_out(rounds, signal, repeat >= repeats.least);
        for (const auto& round : rounds) {
            if (spent()) return {};
            GRADCOLL_TRY(run(signal, round, repeat % 2 != 0));
        }
    }
    return {};
}

/// Leaves out settled pairs once all regular repeats are done, and far ones at once if there is no
/// time to lose: the other pairs then share fewer rounds.
void Figures::leave_out(std::vector<std::vector<HostPair>>& rounds, Signal signal,
                        bool all_due) const {
    const bool quick = effort_ == ProbeEffort::quick;
    if (!all_due && !quick) return;
    for (auto& round : rounds)
        std::erase_if(round, [&](HostPair pair) {
            return all_due ? settled(signal, pair) : is_far(signal, pair);
        });
    if (quick) rounds = packed(rounds, host_count_);
    std::erase_if(rounds, [](const auto& round) { return round.empty(); });
}

bool Figures::is_far(Signal signal, HostPair pair) const {
    const Cost* cost = find(signal, pair.from, pair.to);
    const double near = std::max(best_of(signal, pair.from), best_of(signal, pair.to));
    return cost != nullptr && cost->calm > 0 && cost->low > far_from * near;
}

/// Disturbances only add time, so the smallest figures are no worse than the undisturbed ones.
bool Figures::is_disturbed(Signal signal, HostPair pair) const {
    const Cost* cost = find(signal, pair.from, pair.to);
    return cost != nullptr && cost->calm < 2 && !is_far(signal, pair);
}

/// Returns whether the pair needs no further measurement. A far pair needs none, since how far it
/// is does not matter: pairs that share links with others differ each time.
bool Figures::settled(Signal signal, HostPair pair) const {
    const Cost* cost = find(signal, pair.from, pair.to);
    return cost != nullptr && !is_disturbed(signal, pair) &&
           (cost->count >= repeats_of(signal, effort_).most ||
            cost->second <= settled_within * cost->low || is_far(signal, pair));
}

Status Figures::run(Signal signal, std::vector<HostPair> pairs, bool reversed) {
    if (reversed)
        for (HostPair& pair : pairs) std::swap(pair.from, pair.to);
    const std::vector<Measured> measured = GRADCOLL_VALUE(ruler_.measure(signal, pairs));
    ++rounds_;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const double figure = measured[i].figure;
        if (!(figure > 0) || !std::isfinite(figure))
            return {Code::internal, fmt::format("probe: hosts {} and {} measured {}, which is no "
                                                "positive figure",
                                                pairs[i].from, pairs[i].to, figure)};
        add(signal, pairs[i], measured[i]);
    }
    return {};
}

void Figures::add(Signal signal, HostPair pair, Measured measured) {
    const double figure = measured.figure;
    const auto s = static_cast<std::size_t>(signal);
    Cost& cost =
        costs_[s].try_emplace(key(pair.from, pair.to), Cost{unknown, unknown}).first->second;
    cost.second = std::min(cost.second, std::max(cost.low, figure));
    cost.low = std::min(cost.low, figure);
    ++cost.count;
    if (!measured.disturbed) ++cost.calm;
    best_[s] = std::min(best_[s], figure);
    for (const int host : {pair.from, pair.to}) {
        double& best = best_of_[s][static_cast<std::size_t>(host)];
        best = std::min(best, figure);
    }
}

void Figures::forget(Signal signal, std::span<const int> hosts) {
    auto& costs = costs_[static_cast<std::size_t>(signal)];
    for (const int a : hosts)
        for (const int b : hosts) costs.erase(key(a, b));
}

Result<std::vector<double>> Figures::rates_together(std::span<const std::vector<HostPair>> groups) {
    std::vector<HostPair> pairs;
    for (const auto& group : groups) pairs.insert(pairs.end(), group.begin(), group.end());
    std::vector<std::vector<double>> seen(groups.size());
    const Repeats repeats = repeats_of(Signal::stream, effort_);
    int calm = 0;
    for (int repeat = 0; repeat < repeats.most_if_busy && calm < repeats.least && !spent();
         ++repeat) {
        const std::vector<Measured> measured =
            GRADCOLL_VALUE(ruler_.measure(Signal::stream, pairs));
        ++rounds_;
        const bool disturbed = std::any_of(measured.begin(), measured.end(),
                                           [](const Measured& one) { return one.disturbed; });
        if (!disturbed && calm++ == 0) seen.assign(groups.size(), {});
        if (disturbed && calm > 0) continue;
        auto one = measured.begin();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            double sum = 0;
            for (std::size_t i = 0; i < groups[g].size(); ++i) sum += 1 / (one++)->figure;
            seen[g].push_back(sum);
        }
    }
    has_disturbed_rates_ = has_disturbed_rates_ || calm == 0;
    std::vector<double> rates;
    for (auto& one : seen) rates.push_back(one.empty() ? 0 : median(std::move(one)));
    return rates;
}

bool Figures::has_disturbed() const {
    const auto count = static_cast<std::uint64_t>(host_count_);
    const auto& costs = costs_[static_cast<std::size_t>(Signal::bulk)];
    return has_disturbed_rates_ || std::any_of(costs.begin(), costs.end(), [&](const auto& known) {
               return is_disturbed(Signal::bulk, {static_cast<int>(known.first / count),
                                                  static_cast<int>(known.first % count)});
           });
}

const Cost* Figures::find(Signal signal, int a, int b) const {
    const auto& costs = costs_[static_cast<std::size_t>(signal)];
    const auto found = costs.find(key(a, b));
    return found == costs.end() ? nullptr : &found->second;
}

double Figures::best_of(Signal signal, int host) const {
    return best_of_[static_cast<std::size_t>(signal)][static_cast<std::size_t>(host)];
}

double Figures::noise(Signal signal) const {
    std::vector<double> factors;
    for (const auto& [pair, cost] : costs_[static_cast<std::size_t>(signal)])
        if (std::isfinite(cost.second)) factors.push_back(cost.second / cost.low);
    return factors.empty() ? 1 : median(std::move(factors));
}

}  // namespace gradcoll
