// collectives/draw/plan_picture.hpp - a plan for people: who owns what after each level, and what
// every link carries. Pure and deterministic. Beyond 96 ranks bytes come from a formula and
// ownership is shown for a few ranks, so that no call needs all plans of a large tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/plan/partition.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/links.hpp"
#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Of the exchange at one vertex.
struct LevelBytes {
    int level = 0;  ///< height of that vertex - 1
    double up = 0;
    double down = 0;
};

/// What an allreduce puts on each link, level by level. Up to `counted_ranks` ranks, and in plans
/// of builders that are not predicted, the messages of all plans are counted, headers included;
/// otherwise the bytes come from expected_loads(). Keeps a reference to `tree`.
class LinkTraffic {
  public:
    static constexpr int counted_ranks = 96;

    /// Errors: what make_plan says.
    static Result<LinkTraffic> of(const Tree& tree, const PlanSpec& spec);

    bool counted() const { return counted_; }
    /// Over the uplink of `vertex`, which is not the root; the lowest level first, without levels
    /// that put nothing on it. Time: its distance from the root.
    std::vector<LevelBytes> by_level(int vertex) const;
    /// All levels together.
    LevelBytes total(int vertex) const;
    /// How long the busier direction takes; 0 if the bandwidth is not known.
    double time_us(int vertex) const;

  private:
    explicit LinkTraffic(const Tree& tree) : tree_(&tree) {}
    Status count(const PlanSpec& spec);
    void add(const Plan& plan, const Schedule& schedule, double times);
    std::size_t place_of(int vertex, int level) const {
        return static_cast<std::size_t>(vertex) * static_cast<std::size_t>(tree_->height()) +
               static_cast<std::size_t>(level);
    }
    std::vector<LevelBytes> expected_by_level(int vertex) const;

    const Tree* tree_;
    bool counted_ = false;
    std::vector<LevelBytes> counts_;      ///< by vertex, then level; if counted
    std::vector<ExpectedLoad> expected_;  ///< by vertex; otherwise
};

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
    /// All, or shown_ranks of them spread evenly; none where another builder than flexreduce makes
    /// the plan, which does not say who owns what.
    std::vector<RankShares> ranks;
    LinkTraffic traffic;
    Outline outline;   ///< alike links are told once
    int busiest = -1;  ///< entry of the outline: of the links whose bandwidth is known the one that
                       ///< takes longest; -1: there is none
};

/// Errors: invalid_argument if the collective is no allreduce; what make_plan says.
Result<PlanPicture> plan_picture(const Tree& tree, const PlanSpec& spec, std::string note = {});

/// "allreduce of 16777216 fp32 (64 MiB) on 5 ranks, in 128 chunks of 131072 elements"
std::string plan_heading(const PlanPicture& picture);

/// "who owns what of each chunk (32 of 128 ranks)"
std::string ownership_heading(const PlanPicture& picture);
/// Of a taller tree the highest eight levels are shown.
int first_shown_level(const PlanPicture& picture);

std::string text_of(const PlanPicture& picture);
std::string json_of(const PlanPicture& picture);
/// The tree with what its links carry, and below it a bar for each rank and level.
std::string dot_of(const PlanPicture& picture);

}  // namespace gradcoll
