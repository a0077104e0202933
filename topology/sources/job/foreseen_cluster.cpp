// topology/sources/job/foreseen_cluster.cpp - jobs on clusters that need not exist: where each rank
// would be, and the tree.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "topology/derived_trees.hpp"
#include "topology/sources/job/foreseen.hpp"
#include "topology/sources/job/job_tree.hpp"

namespace gradcoll {

namespace {

/// Returns a host's name without domain, in lower case, since sources may differ in both.
std::string bare_name(const std::string& host) {
    std::string bare = host.substr(0, host.find('.'));
    for (char& c : bare) c = lower(c);
    return bare;
}

/// Returns all hosts that are described or connected, in natural order.
std::vector<std::string> known_hosts(std::vector<std::string> described,
                                     const std::optional<SwitchTree>& switches) {
    std::vector<std::string> names = std::move(described);
    std::unordered_set<std::string> seen;
    for (const std::string& name : names) seen.insert(bare_name(name));
    if (switches)
        for (const auto& [name, host] : switches->hosts)
            if (seen.find(bare_name(name)) == seen.end()) names.push_back(name);
    std::sort(names.begin(), names.end(), natural_less);
    return names;
}

/// SplitMix gives the same numbers on every machine, which the standard's distributions do not
/// promise. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014.
class SplitMix {
  public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

  private:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

void shuffle(std::vector<std::size_t>& places, std::uint64_t seed) {
    SplitMix random(seed);
    for (std::size_t left = places.size(); left > 1; --left)
        std::swap(places[left - 1], places[random.below(left)]);
}

class ForeseenCluster {
  public:
    ForeseenCluster(const ClusterSpec& cluster, const JobSources& sources)
        : cluster_(cluster),
          origin_(sources.origin()),
          inside_(*sources.source(Part::inside)),
          between_(*sources.source(Part::between)) {
        job_.can_be_measured = false;
    }

    Result<DiscoveredTree> tree() {
        if (inside_.needs().reports == Reports::host_paths)
            draft_.notes.push_back(
                "nothing describes the insides of hosts: ranks of one are equally near");
        GRADCOLL_TRY(between_.learn(job_, draft_));
        GRADCOLL_TRY(find_hosts());
        GRADCOLL_TRY(deal_ranks());
        name_switches_hosts();
        GRADCOLL_TRY(inside_.learn(job_, draft_));
        const Tree tree = GRADCOLL_VALUE(combined_tree(draft_));
        return DiscoveredTree{with_slow_branches_apart(tree), origin(), std::move(draft_.notes)};
    }

  private:
    Status find_hosts() {
        std::vector<std::string> names = cluster_.hosts;
        if (names.empty()) {
            std::vector<std::string> described = GRADCOLL_VALUE(inside_.host_names());
            names = known_hosts(std::move(described), draft_.switches.tree);
        }
        if (names.empty())
            return {Code::invalid_argument,
                    "no hosts are given, and neither a hosts folder nor switches name any"};
        for (const std::string& name : names) job_.hosts.emplace_back().name = name;
        return {};
    }

    /// Returns how many ranks `host` takes.
    Result<std::size_t> rank_count_on(const JobHost& host) {
        if (cluster_.ranks_per_host > 0) return static_cast<std::size_t>(cluster_.ranks_per_host);
        const Result<std::size_t> places = inside_.places_on(host.name);
        if (!places.ok()) return places;
        return std::max(*places, std::size_t{1});
    }

    Status deal_ranks() {
        std::vector<std::size_t> host_of_rank;
        for (std::size_t h = 0; h < job_.hosts.size(); ++h) {
            const std::size_t count = GRADCOLL_VALUE(rank_count_on(job_.hosts[h]));
            if (count > static_cast<std::size_t>(max_tree_ranks) - host_of_rank.size())
                return {Code::invalid_argument,
                        fmt::format("the hosts take more than {} ranks", max_tree_ranks)};
            host_of_rank.insert(host_of_rank.end(), count, h);
        }
        if (cluster_.order == RankOrder::shuffled) shuffle(host_of_rank, cluster_.seed);
        for (std::size_t r = 0; r < host_of_rank.size(); ++r) {
            const int rank = static_cast<int>(r);
            job_.hosts[host_of_rank[r]].ranks.push_back({rank, rank, {}});
        }
        rank_count_ = host_of_rank.size();
        std::sort(job_.hosts.begin(), job_.hosts.end(), [](const JobHost& a, const JobHost& b) {
            return a.ranks.front().rank < b.ranks.front().rank;
        });
        return {};
    }

    /// Renames the switches' hosts: if they are named by their lowest rank, they get the host's
    /// name.
    void name_switches_hosts() {
        if (!draft_.switches.tree || !draft_.switches.tree->by_rank) return;
        const auto known = std::exchange(draft_.switches.tree->hosts, {});
        for (const JobHost& host : job_.hosts)
            if (const auto found = known.find(host.name); found != known.end())
                draft_.switches.tree->hosts.emplace(std::to_string(host.ranks.front().rank),
                                                    found->second);
    }

    std::string origin() const {
        const std::string each = cluster_.ranks_per_host > 0
                                     ? fmt::format("{} a host", cluster_.ranks_per_host)
                                     : fmt::format("one a {}", inside_.place_name());
        const std::string order = cluster_.order == RankOrder::in_order
                                      ? "in order"
                                      : fmt::format("shuffled with seed {}", cluster_.seed);
        return fmt::format("{}{}{}; assumed: {} ranks on {} hosts, {}, {}", origin_,
                           draft_.switches.origin.empty() ? "" : ", switches from ",
                           draft_.switches.origin, rank_count_, job_.hosts.size(), each, order);
    }

    const ClusterSpec& cluster_;
    const std::string& origin_;
    TreeSource& inside_;
    TreeSource& between_;
    Job job_;
    TreeDraft draft_;
    std::size_t rank_count_ = 0;
};

Status check(const ClusterSpec& cluster) {
    if (cluster.ranks_per_host >= 0 && cluster.ranks_per_host <= max_tree_ranks) return {};
    return {Code::invalid_argument, fmt::format("ranks per host is {}; allowed are 0 to {}",
                                                cluster.ranks_per_host, max_tree_ranks)};
}

/// Makes the job for a whole tree, which has its own ranks; if it names none, each host has one.
Job whole_job(const ClusterSpec& cluster) {
    Job job;
    const std::size_t count =
        cluster.hosts.size() * static_cast<std::size_t>(std::max(1, cluster.ranks_per_host));
    job.rank_count = static_cast<int>(std::min(count, static_cast<std::size_t>(max_tree_ranks)));
    job.may_have_others = true;
    return job;
}

}  // namespace

Result<DiscoveredTree> foreseen_cluster(const ClusterSpec& cluster) {
    GRADCOLL_TRY(check(cluster));
    WrittenSource source = GRADCOLL_VALUE(written_source(cluster.written));
    source = GRADCOLL_VALUE(resolved(std::move(source)));
    JobSources sources(source);
    if (sources.source(Part::whole)) return sources.tree_of(whole_job(cluster), {});
    Result<DiscoveredTree> tree = ForeseenCluster(cluster, sources).tree();
    if (!tree.ok()) return sources.about(tree.status());
    return tree;
}

}  // namespace gradcoll
