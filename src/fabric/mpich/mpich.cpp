// fabric/mpich/mpich.cpp - reads MPICH's MPIR_CVAR_COORDINATES_FILE: the first line is
// skipped, then each line is `rank: group switch port`. Switches are numbered within their group.
// The fabric is rooted and by_rank.
#include <array>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "fabric/formats.hpp"
#include "fabric/lines.hpp"

namespace gradcoll {
namespace {

/// Returns rank, group, switch and port of "3: 0 1 5"; nothing for any other text.
std::optional<std::array<int, 4>> coordinates_in(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::vector<std::string_view> words = words_of(line.substr(colon + 1));
    if (words.size() != 3) return std::nullopt;
    const std::optional<int> numbers[] = {number_in(trimmed(line.substr(0, colon))),
                                          number_in(words[0]), number_in(words[1]),
                                          number_in(words[2])};
    std::array<int, 4> result = {};
    for (std::size_t i = 0; i < result.size(); ++i) {
        if (!numbers[i]) return std::nullopt;
        result[i] = *numbers[i];
    }
    return result;
}

bool is_coordinates(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    return words.size() == 4 && words[0].back() == ':' &&
           number_in(words[0].substr(0, words[0].size() - 1)) && number_in(words[1]) &&
           number_in(words[2]) && number_in(words[3]);
}

Result<Fabric> read_coordinates(std::string_view text) {
    FabricBuilder builder;
    builder.fabric().rooted = true;
    builder.fabric().by_rank = true;
    const std::size_t first_end = text.find('\n');
    std::unordered_set<int> ranks, switches, groups;
    // The first line may be anything; an empty line stays in its place, so that line numbers are
    // right.
    Lines lines(first_end == std::string_view::npos ? std::string_view() : text.substr(first_end));
    const int all = builder.switch_named("all groups");
    while (lines.next() && builder.within_limits()) {
        const auto found = coordinates_in(lines.line());
        if (!found) return lines.error(lines.line(), "rank: group switch port (3: 0 1 5)");
        const auto [rank, group, place, port] = *found;
        if (!ranks.insert(rank).second) return lines.error(lines.line(), "each rank once");
        const std::string group_name = "group " + std::to_string(group);
        const int group_node = builder.switch_named(group_name);
        if (groups.insert(group_node).second) builder.add_cable(all, group_node);
        const int switch_node =
            builder.switch_named(group_name + " switch " + std::to_string(place));
        if (switches.insert(switch_node).second) builder.add_cable(group_node, switch_node);
        builder.add_cable(switch_node, builder.host_named(std::to_string(rank)));
    }
    return builder.take();
}

}  // namespace

FabricFormat mpich_coordinates_fabric_format() {
    return {.name = "MPICH coordinates",
            .family = "MPICH",
            .listed = "MPICH coordinates",
            .is_line = is_coordinates,
            .read = read_coordinates};
}

}  // namespace gradcoll
