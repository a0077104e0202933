// collectives/exchange/single/single.cpp - finds who sends to whom in a single exchange.
#include "collectives/exchange/single/single.hpp"

#include <algorithm>
#include <unordered_map>

namespace gradcoll::single {
namespace {

/// Held lists the ranks that hold these elements after the exchange of a vertex, in the order of
/// its leaves.
struct Held {
    Range range;
    std::vector<int> ranks;
};

/// Calls `join(a, b, range)` for each piece between the cuts of either list. Both are ascending and
/// without gaps in the same window.
template <class Join>
void overlay(const std::vector<Held>& a, const std::vector<Held>& b, Join join) {
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        join(*x, *y, intersect(x->range, y->range));
        const std::int64_t end = std::min(x->range.end, y->range.end);
        if (x->range.end == end) ++x;
        if (y->range.end == end) ++y;
    }
}

class Holders {
  public:
    Holders(const Tree& tree, const VertexChoices& choices, const OwnershipMap& map)
        : tree_(tree), choices_(choices), map_(map) {}

    std::vector<Held> of(int vertex, Range window) const {
        if (tree_.is_leaf(vertex)) return {{window, {tree_.vertex(vertex).rank}}};
        if (choices_.of(vertex).exchange == Exchange::single) return of_branches(vertex, window);
        std::vector<Held> held;
        for (const OwnedRange& owned : map_.owners(vertex, window))
            held.push_back({owned.range, {owned.rank}});
        return held;
    }

  private:
    std::vector<Held> of_branches(int vertex, Range window) const {
        std::vector<Held> all{{window, {}}};
        for (const int child : tree_.children(vertex)) {
            std::vector<Held> joined;
            overlay(all, of(child, window),
                    [&](const Held& before, const Held& branch, Range range) {
                        joined.push_back({range, before.ranks});
                        std::vector<int>& ranks = joined.back().ranks;
                        ranks.insert(ranks.end(), branch.ranks.begin(), branch.ranks.end());
                    });
            all = std::move(joined);
        }
        return all;
    }

    const Tree& tree_;
    const VertexChoices& choices_;
    const OwnershipMap& map_;
};

/// ByPeer collects messages by peer, in the order in which peers are first met.
class ByPeer {
  public:
    void add(int peer, Range range) {
        const auto [known, is_new] = of_peer_.try_emplace(peer, messages_.size());
        if (is_new) messages_.push_back({peer, {}});
        append_joined(messages_[known->second].ranges, range);
    }
    std::vector<Message> take() { return std::move(messages_); }

  private:
    std::vector<Message> messages_;
    std::unordered_map<int, std::size_t> of_peer_;
};

}  // namespace

Messages messages_of(const Tree& tree, const VertexChoices& choices, const OwnershipMap& map,
                     int rank, int vertex, std::span<const Range> held) {
    const Holders holders(tree, choices, map);
    const auto children = tree.children(vertex);
    int own = tree.leaf_of(rank);
    while (tree.vertex(own).parent != vertex) own = tree.vertex(own).parent;
    std::vector<ByPeer> from(children.size());
    ByPeer to;
    for (const Range& window : held) {
        const std::vector<Held> ours = holders.of(own, window);
        for (std::size_t branch = 0; branch < children.size(); ++branch) {
            if (children[branch] == own) continue;
            overlay(
                ours, holders.of(children[branch], window),
                [&](const Held& mine, const Held& other, Range range) {
                    const auto at = static_cast<std::size_t>(
                        std::find(mine.ranks.begin(), mine.ranks.end(), rank) - mine.ranks.begin());
                    from[branch].add(other.ranks[at % other.ranks.size()], range);
                    for (std::size_t i = at; i < other.ranks.size(); i += mine.ranks.size())
                        to.add(other.ranks[i], range);
                });
        }
    }
    Messages messages;
    for (ByPeer& each : from) messages.from_branches.push_back(each.take());
    messages.sends = to.take();
    return messages;
}

}  // namespace gradcoll::single
