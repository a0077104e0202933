// collectives/draw/plan_json.cpp - writes the plan for programs. Schema: docs/info.md.
#include <nlohmann/json.hpp>

#include "collectives/draw/plan_picture.hpp"

namespace gradcoll {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson ownership_json(const PlanPicture& picture) {
    OrderedJson ranks = OrderedJson::array();
    for (const RankShares& shares : picture.ranks) {
        OrderedJson levels = OrderedJson::array();
        for (const std::vector<Range>& owned : shares.by_level) {
            OrderedJson ranges = OrderedJson::array();
            for (const Range& range : owned) ranges.push_back({range.begin, range.end});
            levels.push_back(std::move(ranges));
        }
        ranks.push_back({{"rank", shares.rank}, {"ranges_by_level", std::move(levels)}});
    }
    return ranks;
}

OrderedJson link_json(const PlanPicture& picture, std::size_t e) {
    const OutlineEntry& entry = picture.outline.entries[e];
    const Vertex& vertex = picture.tree->vertex(entry.vertex());
    OrderedJson levels = OrderedJson::array();
    for (const LevelBytes& level : picture.traffic.by_level(entry.vertex()))
        levels.push_back(
            {{"level", level.level}, {"up_bytes", level.up}, {"down_bytes", level.down}});
    const LevelBytes total = picture.traffic.total(entry.vertex());
    OrderedJson link = {{"vertex", entry.vertex()},   {"kind", name_of(vertex.kind)},
                        {"name", vertex.name},        {"alike", entry.copies()},
                        {"up_bytes", total.up},       {"down_bytes", total.down},
                        {"levels", std::move(levels)}};
    if (const double us = picture.traffic.time_us(entry.vertex()); us > 0) link["time_us"] = us;
    if (static_cast<int>(e) == picture.busiest) link["busiest"] = true;
    return link;
}

}  // namespace

std::string json_of(const PlanPicture& picture) {
    OrderedJson links = OrderedJson::array();
    for (std::size_t e = 1; e < picture.outline.entries.size(); ++e)
        links.push_back(link_json(picture, e));
    const OrderedJson json = {{"call",
                               {{"collective", name_of(picture.spec.collective)},
                                {"count", picture.spec.count_elems},
                                {"type", name_of(picture.spec.type)},
                                {"elem_bytes", picture.spec.elem_bytes}}},
                              {"ranks", picture.tree->rank_count()},
                              {"note", picture.note},
                              {"chunk_elems", picture.chunk_elems},
                              {"chunk_count", picture.chunk_count},
                              {"ownership", ownership_json(picture)},
                              {"bytes_are", picture.traffic.counted() ? "counted" : "by formula"},
                              {"links", std::move(links)}};
    return json.dump(2, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gradcoll
