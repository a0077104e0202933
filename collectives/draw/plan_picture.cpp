// collectives/draw/plan_picture.cpp - collects what the drawings show.
#include "collectives/draw/plan_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/build/merge.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/predict/forecast.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

constexpr double bytes_per_us = 1e3;  // at 1 GB/s

/// Returns what ranks own. `map` is that of `planned`. A single exchange leaves everybody what it
/// had.
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

/// Returns, of the links that the outline shows, the first with the longest time. Bytes alone say
/// nothing: those inside a host are more than those between hosts, and take less time.
int busiest_entry(const Outline& outline, const LinkTraffic& traffic) {
    int busiest = -1;
    double most = 0;
    for (std::size_t e = 1; e < outline.entries.size(); ++e) {
        const double here = traffic.time_us(outline.entries[e].vertex());
        if (here <= most) continue;
        most = here;
        busiest = static_cast<int>(e);
    }
    return busiest;
}

}  // namespace

Result<LinkTraffic> LinkTraffic::of(const Tree& tree, const PlanSpec& spec) {
    LinkTraffic traffic(tree);
    traffic.counted_ = tree.rank_count() <= counted_ranks || !is_predicted(spec);
    if (traffic.counted_) {
        GRADCOLL_TRY(traffic.count(spec));
    } else {
        if (const auto first = make_plan(tree, spec, 0); !first.ok()) return first.status();
        traffic.expected_ = expected_loads(tree, spec);
    }
    return traffic;
}

Status LinkTraffic::count(const PlanSpec& spec) {
    counts_.resize(static_cast<std::size_t>(tree_->vertex_count()) *
                   static_cast<std::size_t>(tree_->height()));
    for (int rank = 0; rank < tree_->rank_count(); ++rank) {
        const auto plan = GRADCOLL_VALUE(make_plan(*tree_, spec, rank));
        if (plan.chunk_count == 0) continue;
        const bool has_tail = plan.tail.count_elems > 0;
        add(plan, plan.body, static_cast<double>(plan.chunk_count - (has_tail ? 1 : 0)));
        if (has_tail) add(plan, plan.tail, 1);
    }
    return {};
}

void LinkTraffic::add(const Plan& plan, const Schedule& schedule, double times) {
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        const double bytes =
            times * static_cast<double>(message_bytes(step, schedule, plan.spec.elem_bytes));
        visit_links_between(*tree_, plan.rank, step.peer, [&](int vertex, bool goes_up) {
            LevelBytes& link = counts_[place_of(vertex, step.level)];
            (goes_up ? link.up : link.down) += bytes;
        });
    }
}

std::vector<LevelBytes> LinkTraffic::by_level(int vertex) const {
    if (!counted_) return expected_by_level(vertex);
    std::vector<LevelBytes> levels;
    for (int level = 0; level < tree_->height(); ++level) {
        LevelBytes bytes = counts_[place_of(vertex, level)];
        bytes.level = level;
        if (bytes.up > 0 || bytes.down > 0) levels.push_back(bytes);
    }
    return levels;
}

std::vector<LevelBytes> LinkTraffic::expected_by_level(int vertex) const {
    std::vector<LevelBytes> levels;
    double share = 1;
    for (int at = vertex; at != tree_->root();) {
        const ExpectedLoad& load = expected_[static_cast<std::size_t>(at)];
        levels.push_back(
            {tree_->vertex(load.vertex).height - 1, share * load.here, share * load.here});
        share *= load.of_above;
        at = load.vertex;
    }
    return levels;
}

LevelBytes LinkTraffic::total(int vertex) const {
    LevelBytes sum;
    for (const LevelBytes& level : by_level(vertex)) {
        sum.up += level.up;
        sum.down += level.down;
    }
    return sum;
}

double LinkTraffic::time_us(int vertex) const {
    const double bandwidth = tree_->vertex(vertex).uplink.bandwidth_gbytes_per_s;
    if (bandwidth <= 0) return 0;
    const LevelBytes bytes = total(vertex);
    return std::max(bytes.up, bytes.down) / (bandwidth * bytes_per_us);
}

Result<PlanPicture> plan_picture(const Tree& tree, const PlanSpec& spec, std::string note) {
    if (spec.collective != Collective::allreduce)
        return Status(Code::invalid_argument,
                      fmt::format("collective is {}: only the plan of an allreduce is drawn",
                                  name_of(spec.collective)));
    LinkTraffic traffic = GRADCOLL_VALUE(LinkTraffic::of(tree, spec));
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    PlanPicture picture{&tree, spec, std::move(note), chunk, 0, {}, std::move(traffic), {}, -1};
    picture.chunk_count = chunk > 0 ? (spec.count_elems + chunk - 1) / chunk : 0;
    if (spec.builder == Builder::flexreduce) {
        const PlannedTree planned(tree, spec);
        const std::vector<char> dealt =
            spec.dealt ? dealt_shapes(planned.tree()) : std::vector<char>();
        picture.ranks = shares_of(tree, planned,
                                  OwnershipMap(planned.tree(), chunk, spec.granule_elems, dealt));
    } else {
        picture.note +=
            fmt::format("{}built by {}", picture.note.empty() ? "" : "; ", name_of(spec.builder));
    }
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
