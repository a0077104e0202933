// collectives/draw/plan_picture.cpp - collects what the drawings show.
#include "collectives/draw/plan_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/build/merge.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

/// `planned`: where `map` is of. A single exchange leaves everybody what was there.
std::vector<RankShares> shares_of(const Tree& tree, const PlannedTree& planned,
                                  const OwnershipMap& map) {
    const int count = std::min(tree.rank_count(), PlanPicture::shown_ranks);
    std::vector<RankShares> all;
    for (int i = 0; i < count; ++i) {
        RankShares shares;
        shares.rank = static_cast<int>(std::int64_t{i} * tree.rank_count() / count);
        shares.by_level.resize(static_cast<std::size_t>(tree.height()));
        std::size_t level = 0;
        std::vector<Range> owned;
        append_joined(owned, {0, map.count_elems()});
        for (const int vertex : planned.tree().path_up(shares.rank)) {
            const int height = tree.vertex(planned.given_vertex(vertex)).height;
            for (; level + 1 < static_cast<std::size_t>(height); ++level)
                shares.by_level[level] = owned;
            if (planned.spec().choices.of(vertex).exchange != Exchange::single)
                owned = map.target(shares.rank, vertex);
            shares.by_level[level++] = owned;
        }
        all.push_back(std::move(shares));
    }
    return all;
}

/// Of the links that the outline shows: the longest time, then the most bytes, then the first.
int busiest_entry(const Outline& outline, const LinkTraffic& traffic) {
    int busiest = -1;
    std::pair<double, double> most{-1, -1};
    for (std::size_t e = 1; e < outline.entries.size(); ++e) {
        const int vertex = outline.entries[e].vertex();
        const LevelBytes bytes = traffic.total(vertex);
        const std::pair here{traffic.time_us(vertex), std::max(bytes.up, bytes.down)};
        if (here <= most) continue;
        most = here;
        busiest = static_cast<int>(e);
    }
    return busiest;
}

}  // namespace

Result<PlanPicture> plan_picture(const Tree& tree, const PlanSpec& spec, std::string note) {
    if (spec.collective != Collective::allreduce)
        return Status(Code::invalid_argument,
                      fmt::format("collective is {}: only the plan of an allreduce is drawn",
                                  name_of(spec.collective)));
    auto traffic = LinkTraffic::of(tree, spec);
    if (!traffic.ok()) return traffic.status();
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    PlanPicture picture{&tree, spec, std::move(note), chunk, 0, {}, std::move(*traffic), {}, -1};
    picture.chunk_count = chunk > 0 ? (spec.count_elems + chunk - 1) / chunk : 0;
    const PlannedTree planned(tree, spec);
    picture.ranks =
        shares_of(tree, planned, OwnershipMap(planned.tree(), chunk, spec.granule_elems));
    picture.outline = outline_of(tree);
    picture.busiest = busiest_entry(picture.outline, picture.traffic);
    return picture;
}

std::string plan_heading(const PlanPicture& picture) {
    const PlanSpec& spec = picture.spec;
    const double bytes = static_cast<double>(spec.count_elems) * spec.elem_bytes;
    std::string text =
        fmt::format("{} of {} {} ({}) on {} rank{}", name_of(spec.collective), spec.count_elems,
                    name_of(spec.type), bytes_words(bytes), picture.tree->rank_count(),
                    picture.tree->rank_count() == 1 ? "" : "s");
    if (picture.chunk_count > 1)
        text +=
            fmt::format(", in {} chunks of {} elements", picture.chunk_count, picture.chunk_elems);
    return text;
}

std::string ownership_heading(const PlanPicture& picture) {
    const bool all = static_cast<int>(picture.ranks.size()) == picture.tree->rank_count();
    return fmt::format(
        "who owns what {}{}", picture.chunk_count > 1 ? "of each chunk" : "of the vector",
        all ? ""
            : fmt::format(" ({} of {} ranks)", picture.ranks.size(), picture.tree->rank_count()));
}

int first_shown_level(const PlanPicture& picture) {
    constexpr int most_levels = 8;
    return std::max(0, picture.tree->height() - most_levels);
}

}  // namespace gradcoll
