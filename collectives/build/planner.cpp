// collectives/build/planner.cpp - checks a spec, cuts it into chunks, builds one rank's plan.
#include "collectives/build/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/build/flexreduce/flexreduce.hpp"
#include "collectives/build/merge.hpp"

namespace gradcoll {
namespace {

// Whether a spec can be planned on a tree. Only facts that all ranks know alike: all of them accept
// it, or none.

constexpr int max_stages = std::numeric_limits<std::uint16_t>::max();
constexpr int max_peers = 32767;  // a step may wait for two messages a peer; Step counts to 65535
constexpr int max_height = std::numeric_limits<std::uint8_t>::max();
constexpr std::int64_t max_vector_bytes = std::int64_t{1}
                                          << 56;  // scratch sums stay far from overflow

template <class... Args>
Status invalid(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::invalid_argument, fmt::format(format, std::forward<Args>(args)...)};
}

Status check_sizes(const Tree& tree, const PlanSpec& spec) {
    if (spec.elem_bytes == 0) return invalid("elem_bytes is 0: must be at least 1");
    const std::size_t known = element_bytes(spec.type);
    if (known != 0 && known != spec.elem_bytes)
        return invalid("elem_bytes is {}: elements of {} have {}", spec.elem_bytes,
                       name_of(spec.type), known);
    if (spec.count_elems < 0 || spec.count_elems > max_vector_bytes / spec.elem_bytes)
        return invalid("count_elems is {}: must be 0 to {} for elements of {} bytes",
                       spec.count_elems, max_vector_bytes / spec.elem_bytes, spec.elem_bytes);
    if (spec.granule_elems < 1)
        return invalid("granule_elems is {}: must be at least 1", spec.granule_elems);
    if (spec.chunk_elems < 0 || spec.chunk_elems % spec.granule_elems != 0)
        return invalid("chunk_elems is {}: must be 0 or a multiple of the granule {}",
                       spec.chunk_elems, spec.granule_elems);
    if (spec.collective == Collective::allreduce) return {};
    if (spec.chunk_elems != 0)
        return invalid("chunk_elems is {}: {} is not cut into chunks (0)", spec.chunk_elems,
                       name_of(spec.collective));
    if (spec.count_elems % tree.rank_count() != 0)
        return invalid("count_elems is {}: must be a multiple of the {} ranks for {}",
                       spec.count_elems, tree.rank_count(), name_of(spec.collective));
    return {};
}

Status check_codec(const PlanSpec& spec, CodecId codec, std::string_view what) {
    if (!is_registered(codec))
        return invalid("{} is {}: must be the number of a codec", what, static_cast<int>(codec));
    if (codec == CodecId::exact) return {};
    if (!codec_supports(codec, spec.type))
        return invalid("{} is {}: not defined for elements of {}", what, name_of(codec),
                       name_of(spec.type));
    if (spec.granule_elems % static_cast<std::int64_t>(codec_block_elems(codec)) != 0)
        return invalid("granule_elems is {}: must be a multiple of {} for {} {}",
                       spec.granule_elems, codec_block_elems(codec), what, name_of(codec));
    return {};
}

Status check_choices(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_codec(spec, spec.down_codec, "down_codec"));
    if (spec.choices.empty()) return {};
    if (static_cast<int>(spec.choices.size()) != tree.vertex_count())
        return invalid("choices has {} entries: must be empty or one for each of the {} vertices",
                       spec.choices.size(), tree.vertex_count());
    for (const int vertex : tree.inner_vertices()) {
        const VertexChoice& choice = spec.choices[static_cast<std::size_t>(vertex)];
        if (static_cast<int>(choice.exchange) >= exchange_count)
            return invalid("the exchange of vertex {} is {}: must be below {}", vertex,
                           static_cast<int>(choice.exchange), exchange_count);
        GRADCOLL_TRY(check_codec(spec, choice.codec, "a level's codec"));
    }
    return check_merged(tree, spec.choices);
}

/// A single exchange leaves the sum with all holders: nothing above may split it among them, nobody
/// owns it who could encode it for the others, and nothing is left to gather.
Status check_single(const Tree& tree, const PlanSpec& spec) {
    for (const int vertex : tree.inner_vertices()) {
        const VertexChoice choice = spec.choices.of(vertex);
        if (choice.exchange != Exchange::single) continue;
        if (spec.collective != Collective::allreduce)
            return invalid("a single exchange is for allreduce only, not {}",
                           name_of(spec.collective));
        if (spec.feedback) return invalid("a single exchange cannot have feedback");
        if (choice.codec != CodecId::exact)
            return invalid("a single exchange must be exact, not {}", name_of(choice.codec));
        const int above = tree.vertex(vertex).parent;
        if (above >= 0 && spec.choices.of(above).exchange != Exchange::single)
            return invalid("a single exchange must have none but single ones above it, not {}",
                           name_of(spec.choices.of(above).exchange));
    }
    return {};
}

Status check_feedback(const PlanSpec& spec) {
    if (!spec.feedback) return {};
    if (!is_floating(spec.type))
        return invalid("feedback needs floating-point elements, not {}", name_of(spec.type));
    if (spec.granule_elems % static_cast<std::int64_t>(lossy_block_elems) != 0)
        return invalid("granule_elems is {}: must be a multiple of {} with feedback",
                       spec.granule_elems, lossy_block_elems);
    return {};
}

/// The most and the least of the vector that a leaf of a subtree owns, as a part of the whole.
struct Shares {
    double most = 1;
    double least = 1;
};

/// A bound for the peers of any one rank, from the shapes alone, so that all ranks agree on it. A
/// window of `most` meets about most / least owners in another branch; overlays can cut that finer,
/// so twice as many are reckoned with.
double most_peers(const Tree& tree, const PlanSpec& spec) {
    // Below other single exchanges one holder may have to tell all those of another branch.
    if (spec.choices.of(tree.root()).exchange == Exchange::single) return tree.rank_count();
    const auto shapes = tree.vertex_of_shape();
    std::vector<Shares> shares(shapes.size());
    std::vector<double> peers(shapes.size(), 0);
    for (std::size_t shape = 1; shape < shapes.size(); ++shape) {
        const auto children = tree.children(shapes[shape]);
        Shares all{0, 1};
        double below = 0;
        for (const int child : children) {
            const auto of = static_cast<std::size_t>(tree.vertex(child).shape);
            all = {std::max(all.most, shares[of].most), std::min(all.least, shares[of].least)};
            below = std::max(below, peers[of]);
        }
        double here = 0;
        for (const int child : children) {
            const Vertex& branch = tree.vertex(child);
            const double least = shares[static_cast<std::size_t>(branch.shape)].least;
            here += std::min(static_cast<double>(branch.leaf_count), 1.5 * all.most / least + 2);
        }
        const auto degree = static_cast<double>(children.size());
        shares[shape] = {all.most / degree, all.least / degree};
        peers[shape] = below + here;
    }
    return std::min(peers.back(), static_cast<double>(tree.rank_count()));
}

/// Of what steps can number.
Status check_limits(const Tree& tree, const PlanSpec& spec) {
    if (tree.height() > max_height)
        return {Code::unsupported,
                fmt::format("the tree is {} levels high: at most {}", tree.height(), max_height)};
    if (tree.rank_count() > max_peers && most_peers(tree, spec) > max_peers)
        return {Code::unsupported,
                fmt::format("a rank of this tree may have {:.0f} peers: at most {}",
                            most_peers(tree, spec), max_peers)};
    const int stages = flexreduce_stage_count(tree, spec);
    if (stages > max_stages)
        return {Code::unsupported,
                fmt::format("a ring of this tree takes {} stages: at most {}", stages, max_stages)};
    return {};
}

/// Sizes, codecs, choices and feedback of a spec for `tree`. Errors: invalid_argument naming the
/// field, its value and what is allowed.
Status check_spec(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_sizes(tree, spec));
    GRADCOLL_TRY(check_choices(tree, spec));
    return check_feedback(spec);
}

/// The rest, on the tree that the plan is made on (PlannedTree): where single exchanges stand
/// (invalid_argument), and what steps can number (unsupported).
Status check_planned(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_single(tree, spec));
    return check_limits(tree, spec);
}

}  // namespace

Result<Planner> Planner::make(const Tree& tree, PlanSpec spec) {
    GRADCOLL_TRY(check_spec(tree, spec));
    auto planned = std::make_shared<const PlannedTree>(tree, spec);
    GRADCOLL_TRY(check_planned(planned->tree(), planned->spec()));
    const auto stages =
        static_cast<std::uint32_t>(flexreduce_stage_count(planned->tree(), planned->spec()));
    return Planner(std::move(spec), std::move(planned), stages);
}

Result<Schedule> Planner::schedule(int rank, std::int64_t chunk_elems) const {
    auto made =
        flexreduce_schedule(planned_->tree(), planned_->spec(), stage_count_, rank, chunk_elems);
    if (made.ok()) planned_->number_levels(rank, *made);
    return made;
}

Result<Plan> Planner::plan(int rank) const {
    const int rank_count = planned_->tree().rank_count();
    if (rank < 0 || rank >= rank_count)
        return Status(Code::invalid_argument,
                      fmt::format("rank is {}: must be 0 to {}", rank, rank_count - 1));
    Plan plan;
    plan.spec = spec_;
    plan.rank = rank;
    plan.rank_count = rank_count;
    plan.stage_count = stage_count_;
    if (spec_.count_elems == 0) return plan;
    const std::int64_t chunk =
        spec_.chunk_elems == 0 ? spec_.count_elems : std::min(spec_.chunk_elems, spec_.count_elems);
    plan.chunk_count = (spec_.count_elems + chunk - 1) / chunk;
    const std::int64_t rest = spec_.count_elems % chunk;
    plan.body = GRADCOLL_VALUE(schedule(rank, chunk));
    if (rest > 0) plan.tail = GRADCOLL_VALUE(schedule(rank, rest));
    return plan;
}

Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank) {
    const Result<Planner> planner = Planner::make(tree, spec);
    return planner.ok() ? planner->plan(rank) : Result<Plan>(planner.status());
}

}  // namespace gradcoll
