#include "api/comm/call_traffic.hpp"

#include <cmath>
#include <utility>

#include "collectives/build/planner.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/links.hpp"
#include "report/report.hpp"

namespace gradcoll {
namespace {

/// By the plans of so many ranks; more take too long for a first call.
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

/// Where the way between two ranks turns.
VertexKind turn_between(const Tree& tree, int from_rank, int to_rank) {
    const auto pass_by = [](int /*vertex*/, bool /*goes_up*/) {};
    return tree.vertex(visit_links_between(tree, from_rank, to_rank, pass_by)).kind;
}

void add_sent(const Tree& tree, const Plan& plan, const Schedule& schedule, std::uint64_t times,
              SentByKind& sent) {
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        const auto kind = static_cast<std::size_t>(turn_between(tree, plan.rank, step.peer));
        sent[kind] += times * message_bytes(step, schedule, plan.spec.elem_bytes);
    }
}

}  // namespace

SentByKind sent_by_kind(const Tree& tree, const Plan& plan) {
    SentByKind sent{};
    if (plan.chunk_count == 0) return sent;
    const bool has_tail = plan.tail.count_elems > 0;
    add_sent(tree, plan, plan.body,
             static_cast<std::uint64_t>(plan.chunk_count - (has_tail ? 1 : 0)), sent);
    if (has_tail) add_sent(tree, plan, plan.tail, 1, sent);
    return sent;
}

std::string lossy_codec_of(const Tree& tree, const PlanSpec& spec) {
    for (const int vertex : tree.inner_vertices())
        if (const CodecId codec = spec.choices[static_cast<std::size_t>(vertex)].codec;
            codec != CodecId::exact)
            return std::string(name_of(codec));
    return {};
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
