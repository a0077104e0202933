#include "ways/tree/call_traffic.hpp"

#include <cmath>
#include <utility>

#include "base/hash.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/links.hpp"
#include "report/report.hpp"

namespace gradcoll {
namespace {

/// Links are counted from the plans of so many ranks at most; more take too long for a first call.
constexpr int most_planned_ranks = 64;

Result<std::vector<LinkBytes>> counted_links(const Tree& tree, const PlanSpec& spec) {
    const auto planner = Planner::make(tree, spec);
    if (!planner) return planner.status();
    LinkCounter counter(tree);
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const auto plan = planner->plan(rank);
        if (!plan) return plan.status();
        counter.add(*plan);
    }
    return counter.links();
}

std::vector<LinkBytes> expected_links(const Tree& tree, const PlanSpec& spec) {
    std::vector<LinkBytes> links;
    for (const double bytes : expected_on_uplinks(tree, spec)) {
        const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
        links.push_back({whole, whole});
    }
    return links;
}

/// Returns the kind of vertex where the way between two ranks turns.
VertexKind turn_between(const Tree& tree, int from_rank, int to_rank) {
    const auto pass_by = [](int /*vertex*/, bool /*goes_up*/) {};
    return tree.vertex(visit_links_between(tree, from_rank, to_rank, pass_by)).kind;
}

/// Calls visit(step, bytes) for the sends and receives of all chunks together.
template <class Visit>
void visit_messages(const Plan& plan, Visit visit) {
    if (plan.chunk_count == 0) return;
    const bool has_tail = plan.tail.count_elems > 0;
    const auto of_chunks = [&](const Schedule& schedule, std::int64_t chunks) {
        for (const Step& step : schedule.steps)
            if (step.kind == StepKind::send || step.kind == StepKind::recv)
                visit(step, static_cast<std::uint64_t>(chunks) *
                                message_bytes(step, schedule, plan.spec.elem_bytes));
    };
    of_chunks(plan.body, plan.chunk_count - (has_tail ? 1 : 0));
    if (has_tail) of_chunks(plan.tail, 1);
}

/// Returns a key made of the names on the way to the root: trees of other communicators number
/// vertices otherwise, but their names are the same.
std::uint64_t key_of_link(const Tree& tree, int vertex) {
    Hash hash;
    for (int id = vertex; id != tree.root(); id = tree.vertex(id).parent) {
        const Vertex& on_way = tree.vertex(id);
        hash.text(on_way.name).value(on_way.name.empty() ? on_way.branch : 0);
    }
    return hash.digest();
}

}  // namespace

SentByKind sent_by_kind(const Tree& tree, const Plan& plan) {
    SentByKind sent{};
    visit_messages(plan, [&](const Step& step, std::uint64_t bytes) {
        if (step.kind == StepKind::send)
            sent[static_cast<std::size_t>(turn_between(tree, plan.rank, step.peer))] += bytes;
    });
    return sent;
}

std::vector<OwnLink> own_links(const Tree& tree, const Plan& plan) {
    std::vector<LinkBytes> bytes_of(static_cast<std::size_t>(tree.vertex_count()));
    visit_messages(plan, [&](const Step& step, std::uint64_t bytes) {
        visit_links_between(tree, plan.rank, step.peer, [&](int vertex, bool is_own) {
            if (!is_own) return;
            LinkBytes& link = bytes_of[static_cast<std::size_t>(vertex)];
            (step.kind == StepKind::send ? link.up : link.down) += bytes;
        });
    });
    std::vector<OwnLink> links;
    for (int id = tree.leaf_of(plan.rank); id != tree.root(); id = tree.vertex(id).parent) {
        const Vertex& below = tree.vertex(id);
        const LinkBytes& bytes = bytes_of[static_cast<std::size_t>(id)];
        if (below.uplink.bandwidth_gbytes_per_s > 0)
            links.push_back({key_of_link(tree, id), tree.vertex(below.parent).kind,
                             below.uplink.bandwidth_gbytes_per_s, below.name,
                             tree.vertex(below.parent).name, bytes.up, bytes.down});
    }
    return links;
}

CodecId lossy_codec_of(const Tree& tree, const PlanSpec& spec) {
    for (const int vertex : tree.inner_vertices())
        if (const CodecId codec = spec.choices[static_cast<std::size_t>(vertex)].codec;
            codec != CodecId::exact)
            return codec;
    return CodecId::exact;
}

std::shared_ptr<const TreeTraffic> traffic_of_call(const Tree& tree, const PlanSpec& spec) {
    if (tree.vertex_count() > Report::most_pictured_vertices) return nullptr;
    if (tree.rank_count() > most_planned_ranks) {
        if (!is_predicted(spec) || spec.collective != Collective::allreduce) return nullptr;
        return std::make_shared<const TreeTraffic>(
            TreeTraffic{tree, 1, expected_links(tree, spec)});
    }
    auto links = counted_links(tree, spec);
    if (!links) return nullptr;
    return std::make_shared<const TreeTraffic>(TreeTraffic{tree, 1, std::move(links).value()});
}

}  // namespace gradcoll
