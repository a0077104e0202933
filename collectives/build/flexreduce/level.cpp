// collectives/build/flexreduce/level.cpp - one vertex as a rank below it sees it.
#include "collectives/build/flexreduce/level.hpp"

#include <algorithm>
#include <unordered_map>

namespace gradcoll {

namespace {

void sort(std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.begin < b.begin; });
}

/// Returns a hop's parts of one interval, ascending, without empty ones.
std::vector<Range> parts_of(const Interval& interval, const Hop& hop) {
    std::vector<Range> parts;
    for (const int part : hop.parts) {
        const Range range = interval.parts[static_cast<std::size_t>(part)];
        if (!range.empty()) parts.push_back(range);
    }
    sort(parts);
    return parts;
}

}  // namespace

std::vector<Level> levels_of(const Tree& tree, const PlanSpec& spec, const OwnershipMap& map,
                             int rank) {
    std::vector<Level> levels;
    std::vector<Range> held;
    append_joined(held, {0, map.count_elems()});
    int child = tree.leaf_of(rank);
    for (std::vector<Interval>& intervals : map.intervals_above(rank)) {
        const int vertex = tree.vertex(child).parent;
        Level level;
        level.vertex = vertex;
        level.branch = tree.vertex(child).branch;
        level.degree = static_cast<int>(tree.children(vertex).size());
        level.number = static_cast<std::uint8_t>(tree.vertex(vertex).height - 1);
        level.choice = spec.choices.of(vertex);
        level.map = &map;
        level.intervals = std::move(intervals);
        if (level.choice.exchange == Exchange::single) {
            level.messages = single::messages_of(tree, spec.choices, map, rank, vertex, held);
            level.held = held;
        } else {
            held = kept_parts(level);
        }
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

std::vector<Message> messages_of(const Level& level, const Hop& hop) {
    std::vector<Message> messages;
    std::unordered_map<int, std::size_t> of_peer;
    for (const Interval& interval : level.intervals) {
        const std::vector<Range> parts = parts_of(interval, hop);
        if (parts.empty()) continue;
        const int peer = interval.owners[static_cast<std::size_t>(hop.branch)];
        const auto [known, is_new] = of_peer.try_emplace(peer, messages.size());
        if (is_new) messages.push_back({peer, {}});
        for (const Range& part : parts)
            level.map->append_elements(messages[known->second].ranges, part);
    }
    for (Message& message : messages) sort(message.ranges);
    return messages;
}

std::vector<Range> ranges_of(const Level& level, int part) {
    std::vector<Range> ranges;
    for (const Interval& interval : level.intervals)
        level.map->append_elements(ranges, interval.parts[static_cast<std::size_t>(part)]);
    sort(ranges);
    return ranges;
}

std::vector<Range> kept_parts(const Level& level) {
    return ranges_of(level, level.branch);
}

}  // namespace gradcoll
