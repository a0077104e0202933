// collectives/flexreduce/level.cpp - one vertex as a rank below it sees it.
#include "collectives/flexreduce/level.hpp"

#include <unordered_map>

namespace gradcoll {

std::vector<Level> levels_of(const Tree& tree, const PlanSpec& spec, const OwnershipMap& map,
                             int rank) {
    std::vector<Level> levels;
    int child = tree.leaf_of(rank);
    for (std::vector<Interval>& intervals : map.intervals_above(rank)) {
        const int vertex = tree.vertex(child).parent;
        Level level;
        level.vertex = vertex;
        level.branch = tree.vertex(child).branch;
        level.degree = static_cast<int>(tree.children(vertex).size());
        level.number = static_cast<std::uint8_t>(tree.vertex(vertex).height - 1);
        level.choice = spec.choices.of(vertex);
        level.intervals = std::move(intervals);
        levels.push_back(std::move(level));
        child = vertex;
    }
    bool framed = spec.down_codec != CodecId::exact;
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
        framed = framed && level->choice.codec != CodecId::exact;
        level->framed_down = framed;
    }
    return levels;
}

std::int64_t Message::count_elems() const {
    std::int64_t count = 0;
    for (const Range& range : ranges) count += range.size();
    return count;
}

std::vector<Message> messages_of(const Level& level, Hop hop) {
    std::vector<Message> messages;
    std::unordered_map<int, std::size_t> of_peer;
    for (const Interval& interval : level.intervals) {
        const Range part = interval.parts[static_cast<std::size_t>(hop.part)];
        if (part.empty()) continue;
        const int peer = interval.owners[static_cast<std::size_t>(hop.branch)];
        const auto [known, is_new] = of_peer.try_emplace(peer, messages.size());
        if (is_new) messages.push_back({peer, {}});
        append_joined(messages[known->second].ranges, part);
    }
    return messages;
}

std::vector<Range> kept_parts(const Level& level) {
    std::vector<Range> kept;
    for (const Interval& interval : level.intervals)
        append_joined(kept, interval.parts[static_cast<std::size_t>(level.branch)]);
    return kept;
}

}  // namespace gradcoll
