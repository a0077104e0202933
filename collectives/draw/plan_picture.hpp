// collectives/draw/plan_picture.hpp - draws a plan for people: who owns what after each level, and
// what every link carries. Pure and deterministic. Beyond 96 ranks bytes come from a formula and
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

/// LevelBytes are the bytes of the exchange at one vertex.
struct LevelBytes {
    int level = 0;  ///< height of that vertex - 1
    double up = 0;
    double down = 0;
};

/// LinkTraffic is what an allreduce puts on each link, level by level. Up to `counted_ranks` ranks,
/// and in plans of builders that are not predicted, the messages of all plans are counted, headers
/// included; otherwise the bytes come from expected_loads(). Keeps a reference to `tree`.
class LinkTraffic {
  public:
    static constexpr int counted_ranks = 96;

    /// Counts the traffic. Errors: those of make_plan.
    static Result<LinkTraffic> of(const Tree& tree, const PlanSpec& spec);

    bool counted() const { return counted_; }
    /// Returns the bytes over the uplink of `vertex`, which is not the root; the lowest level
    /// first, without levels that put nothing on it. Time: its distance from the root.
    std::vector<LevelBytes> by_level(int vertex) const;
    /// Returns the sum over all levels.
    LevelBytes total(int vertex) const;
    /// Returns how long the busier direction takes; 0 if the bandwidth is not known.
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
    std::vector<LevelBytes> counts_;      ///< by vertex, then level; if the messages are counted
    std::vector<ExpectedLoad> expected_;  ///< by vertex; if they are not
};

/// RankShares is what a rank owns after the reduce-scatter of each level, lowest first. A rank
/// below no vertex of a level owns what it did before. Empty if the tree is one rank.
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
    /// Lists all ranks, or shown_ranks of them spread evenly; none if a builder other than
    /// flexreduce makes the plan, which does not say who owns what.
    std::vector<RankShares> ranks;
    LinkTraffic traffic;
    Outline outline;   ///< alike links are drawn once
    int busiest = -1;  ///< entry of the outline with the link that takes longest, of those whose
                       ///< bandwidth is known; -1: there is none
};

/// Makes the picture. Errors: invalid_argument if the collective is no allreduce; those of
/// make_plan.
Result<PlanPicture> plan_picture(const Tree& tree, const PlanSpec& spec, std::string note = {});

/// Returns a heading such as "allreduce of 16777216 fp32 (64 MiB) on 5 ranks, in 128 chunks of
/// 131072 elements".
std::string plan_heading(const PlanPicture& picture);

/// Returns a heading such as "who owns what of each chunk (32 of 128 ranks)".
std::string ownership_heading(const PlanPicture& picture);
/// Returns the first level that is shown: only the highest eight levels are.
int first_shown_level(const PlanPicture& picture);

std::string text_of(const PlanPicture& picture);
std::string json_of(const PlanPicture& picture);
/// Draws the tree with what its links carry, and below it a bar for each rank and level.
std::string dot_of(const PlanPicture& picture);

}  // namespace gradcoll
