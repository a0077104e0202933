// topology/probe/merge.cpp - merges in stages; the work of a stage is a list, not a recursion, so
// that all of it shares rounds.
#include "topology/probe/steps.hpp"

#include <algorithm>

#include "topology/probe/clusters.hpp"

namespace gradcoll {

namespace {

constexpr int first_group = 8;
constexpr std::size_t wide = 16;      ///< children beyond which a vertex may stand for all of them
constexpr std::size_t spokesmen = 4;  ///< number of hosts that then speak for it

class Merger {
  public:
    Merger(Branches& branches, Figures& figures) : branches_(branches), figures_(figures) {}

    Result<int> run() {
        std::vector<int> trees;
        for (int first = 0; first < figures_.host_count(); first += first_group)
            trees.push_back(group_from(first));
        GRADCOLL_TRY(split_groups(trees));
        while (trees.size() > 1) GRADCOLL_TRY(merge_pairs(trees));
        return trees.front();
    }

  private:
    /// A Task is two trees, and the node that their merger becomes.
    struct Task {
        int a = 0;
        int b = 0;
        int into = 0;
    };
    /// A Side is one tree with the parts that are compared with the other tree's.
    struct Side {
        int whole = 0;
        std::vector<int> parts;  ///< the children, or hosts that speak for the whole
        bool undivided = false;  ///< the parts stay together, whatever is measured
    };

    int group_from(int first) {
        std::vector<int> hosts;
        const int end = std::min(first + first_group, figures_.host_count());
        for (int host = first; host < end; ++host) hosts.push_back(host);
        return branches_.above(std::move(hosts));
    }

    Status split_groups(const std::vector<int>& trees) {
        std::vector<Rounds> groups;
        for (const int tree : trees)
            groups.push_back(tournament(branches_.parts(tree), first_group));
        GRADCOLL_TRY(figures_.ask(Signal::latency, groups));
        const double gap = believed_gap(figures_, Signal::latency);
        for (const int tree : trees)
            if (!branches_.is_host(tree))
                branches_.group_children(
                    tree, sets_apart(figures_, Signal::latency, branches_.children(tree), gap));
        return {};
    }

    Status merge_pairs(std::vector<int>& trees) {
        std::vector<int> merged;
        std::vector<Task> tasks;
        for (std::size_t i = 0; i + 1 < trees.size(); i += 2) {
            tasks.push_back({trees[i], trees[i + 1], branches_.placeholder()});
            merged.push_back(tasks.back().into);
        }
        if (trees.size() % 2 != 0) merged.push_back(trees.back());
        while (!tasks.empty()) {
            tasks = GRADCOLL_VALUE(resolve_all(tasks));
        }
        trees = std::move(merged);
        return {};
    }

    Result<std::vector<Task>> resolve_all(const std::vector<Task>& tasks) {
        std::vector<std::pair<Side, Side>> sides;
        std::vector<Rounds> groups;
        for (const Task& task : tasks) {
            sides.emplace_back(side(task.a), side(task.b));
            groups.push_back(tournament(hosts_of(sides.back().first, sides.back().second),
                                        figures_.host_count()));
        }
        GRADCOLL_TRY(figures_.ask(Signal::latency, groups));
        const double gap = believed_gap(figures_, Signal::latency);
        std::vector<Task> next;
        for (std::size_t i = 0; i < tasks.size(); ++i)
            resolve(tasks[i].into, sides[i].first, sides[i].second, gap, next);
        return next;
    }

    std::vector<int> hosts_of(const Side& a, const Side& b) const {
        std::vector<int> hosts = branches_.host_of_each(a.parts);
        const std::vector<int> more = branches_.host_of_each(b.parts);
        hosts.insert(hosts.end(), more.begin(), more.end());
        return hosts;
    }

    Side side(int whole) const {
        Side side{whole, branches_.parts(whole), false};
        if (side.parts.size() > wide && is_nearest(side.parts)) {
            side.parts.resize(spokesmen);
            side.undivided = true;
        }
        return side;
    }

    /// Returns whether these are hosts, two of which are as near as any two hosts are: nothing new
    /// can come between them.
    bool is_nearest(const std::vector<int>& parts) const {
        if (!std::all_of(parts.begin(), parts.end(),
                         [&](int part) { return branches_.is_host(part); }))
            return false;
        const Cost* cost = figures_.find(Signal::latency, parts[0], parts[1]);
        return cost != nullptr && cost->low <= figures_.best(Signal::latency) *
                                                   believed_gap(figures_, Signal::latency);
    }

    /// Sets the children of `into`; merges further down become tasks.
    void resolve(int into, const Side& a, const Side& b, double gap, std::vector<Task>& next) {
        std::vector<int> children;
        std::vector<int> loose_a = a.parts;
        std::vector<int> loose_b = b.parts;
        for (const auto& [of_a, of_b] : sets_of(a, b, gap)) {
            const int node_a = taken(a, of_a, loose_a);
            const int node_b = taken(b, of_b, loose_b);
            if (node_a >= 0 && node_b >= 0) {
                next.push_back({node_a, node_b, branches_.placeholder()});
                children.push_back(next.back().into);
            } else {
                children.push_back(std::max(node_a, node_b));
            }
        }
        add_loose(a, loose_a, children);
        add_loose(b, loose_b, children);
        branches_.set_children(into, std::move(children));
    }

    /// Returns the outermost sets, each as its parts of `a` and of `b`; none of them holds
    /// everything.
    using Shares = std::pair<std::vector<int>, std::vector<int>>;
    std::vector<Shares> sets_of(const Side& a, const Side& b, double gap) const {
        std::vector<Shares> shares;
        const auto a_count = static_cast<int>(a.parts.size());
        for (const auto& set :
             outermost(sets_apart(figures_, Signal::latency, hosts_of(a, b), gap))) {
            Shares share;
            for (const int i : set) {
                if (i < a_count)
                    share.first.push_back(a.parts[static_cast<std::size_t>(i)]);
                else
                    share.second.push_back(b.parts[static_cast<std::size_t>(i - a_count)]);
            }
            all_or_none(a, share.first);
            all_or_none(b, share.second);
            const std::size_t size = share.first.size() + share.second.size();
            if (size > 1 && size < a.parts.size() + b.parts.size()) shares.push_back(share);
        }
        return shares;
    }

    /// Gives all parts of an undivided side to the set that has most of them.
    static void all_or_none(const Side& side, std::vector<int>& parts) {
        if (!side.undivided) return;
        if (parts.size() * 2 > side.parts.size())
            parts = side.parts;
        else
            parts.clear();
    }

    /// Returns the node for some parts of a side, which leave `loose`; -1 for no parts.
    int taken(const Side& side, const std::vector<int>& parts, std::vector<int>& loose) {
        if (parts.empty()) return -1;
        for (const int part : parts) std::erase(loose, part);
        return parts.size() == side.parts.size() ? side.whole : branches_.above(parts);
    }

    void add_loose(const Side& side, const std::vector<int>& loose, std::vector<int>& children) {
        const std::vector<int> all =
            side.undivided && !loose.empty() ? branches_.parts(side.whole) : loose;
        children.insert(children.end(), all.begin(), all.end());
    }

    Branches& branches_;
    Figures& figures_;
};

}  // namespace

Result<int> merged_by_latency(Branches& branches, Figures& figures) {
    return Merger(branches, figures).run();
}

}  // namespace gradcoll
