// collectives/draw/plan_picture.hpp - a plan for people: who owns what after each level, and what
// every link carries. Pure and deterministic. Beyond 96 ranks bytes come from a formula and
// ownership is shown for a few ranks, so that no call needs all plans of a large tree.
#pragma once

#include <string>
#include <vector>

#include "collectives/draw/link_traffic.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What a rank owns after the reduce-scatter of each level, lowest first. A rank that no vertex of
/// a level is above owns what it did before. Empty where the tree is one rank.
struct RankShares {
    int rank = 0;
    std::vector<std::vector<Range>> by_level;
};

struct PlanPicture {
    static constexpr int shown_ranks = 32;

    const Tree* tree = nullptr;  ///< must outlive the picture
    PlanSpec spec;
    std::string note;              ///< one line for people, or empty
    std::int64_t chunk_elems = 0;  ///< ownership is that of one chunk; the last may be shorter
    std::int64_t chunk_count = 0;
    std::vector<RankShares> ranks;  ///< all, or shown_ranks of them spread evenly
    LinkTraffic traffic;
    Outline outline;   ///< alike links are told once
    int busiest = -1;  ///< entry of the outline: the link that takes longest, or carries most if no
                       ///< bandwidth is known; -1: there is no link
};

/// Errors: invalid_argument if the collective is no allreduce; what make_plan says.
Result<PlanPicture> plan_picture(const Tree& tree, const PlanSpec& spec, std::string note = {});

/// "allreduce of 16777216 fp32 (67.1 MB) on 5 ranks, in 128 chunks of 131072 elements"
std::string plan_heading(const PlanPicture& picture);

std::string text_of(const PlanPicture& picture);
std::string json_of(const PlanPicture& picture);
std::string svg_of(const PlanPicture& picture);

}  // namespace gradcoll
