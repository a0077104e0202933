// collectives/predict/links.cpp - bytes on the links of the tree.
#include "collectives/predict/links.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"
#include "collectives/build/merge.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/tuning.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll {

void LinkCounter::add(const Plan& plan) {
    if (plan.chunk_count == 0) return;
    const bool has_tail = plan.tail.count_elems > 0;
    add(plan.body, plan, static_cast<std::uint64_t>(plan.chunk_count - (has_tail ? 1 : 0)));
    if (has_tail) add(plan.tail, plan, 1);
}

void LinkCounter::add(const Schedule& schedule, const Plan& plan, std::uint64_t times) {
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        const std::uint64_t bytes = times * message_bytes(step, schedule, plan.spec.elem_bytes);
        visit_links_between(tree_, plan.rank, step.peer, [&](int vertex, bool goes_up) {
            LinkBytes& link = links_[static_cast<std::size_t>(vertex)];
            (goes_up ? link.up : link.down) += bytes;
        });
    }
}

std::vector<LinkBytes> bytes_on_uplinks(const Tree& tree, std::span<const Plan> plans) {
    LinkCounter counter(tree);
    for (const Plan& plan : plans) counter.add(plan);
    return counter.links();
}

namespace {

class Loads {
  public:
    Loads(const Tree& tree, const PlanSpec& spec)
        : tree_(tree),
          spec_(spec),
          branches_(branch_counts(tree, spec.choices)),
          holders_(holder_counts(tree, spec.choices)),
          framed_(framed_down(tree, spec)),
          loads_(branches_.size()) {
        for (int id = 0; id < tree.vertex_count(); ++id)
            if (id != tree.root()) load(id);
    }

    std::vector<ExpectedLoad> take() && { return std::move(loads_); }

  private:
    bool is_merged(int vertex) const { return gradcoll::is_merged(tree_, spec_.choices, vertex); }

    double bytes_of(CodecId codec) const {
        return usual_bytes(codec, spec_.elem_bytes, spec_.count_elems);
    }

    void load(int id) {
        ExpectedLoad& load = loads_[at(id)];
        const int parent = tree_.vertex(id).parent;
        load.vertex = is_merged(parent) ? loads_[at(parent)].vertex : parent;
        const VertexChoice choice = spec_.choices.of(load.vertex);
        const auto degree = static_cast<double>(branches_[at(load.vertex)]);
        const double mine = is_merged(id) ? branches_[at(id)] : 1;
        if (choice.exchange == Exchange::single) {
            const double all = holders_[at(load.vertex)];
            const double here = holders_[at(id)];
            load.here =
                bytes_of(choice.codec) * std::max(here * (degree - mine), mine * (all - here));
            load.of_above = here / all;
            return;
        }
        const double both = bytes_of(choice.codec) +
                            bytes_of(framed_[at(load.vertex)] ? spec_.down_codec : CodecId::exact);
        load.here = both * mine * (degree - mine) / degree *
                    times_least_bytes(choice.exchange, branches_[at(load.vertex)]);
        load.of_above = mine / degree;
    }

    const Tree& tree_;
    const PlanSpec& spec_;
    std::vector<int> branches_;
    std::vector<double> holders_;
    std::vector<char> framed_;
    std::vector<ExpectedLoad> loads_;
};

}  // namespace

std::vector<ExpectedLoad> expected_loads(const Tree& tree, const PlanSpec& spec) {
    return Loads(tree, spec).take();
}

std::vector<double> sums_of(const std::vector<ExpectedLoad>& loads) {
    std::vector<double> bytes(loads.size(), 0.0);
    for (std::size_t id = 1; id < loads.size(); ++id)
        bytes[id] =
            loads[id].here + loads[id].of_above * bytes[static_cast<std::size_t>(loads[id].vertex)];
    return bytes;
}

std::vector<double> expected_on_uplinks(const Tree& tree, const PlanSpec& spec) {
    return sums_of(expected_loads(tree, spec));
}

/// Goes through parents before their children. A merged vertex has the codec of the one above, so
/// it does not matter that it has no exchange.
std::vector<char> framed_down(const Tree& tree, const PlanSpec& spec) {
    std::vector<char> framed(static_cast<std::size_t>(tree.vertex_count()), 0);
    for (const int vertex : tree.inner_vertices()) {
        const int above = tree.vertex(vertex).parent;
        const bool is_framed = (above < 0 || framed[at(above)] != 0) &&
                               spec.choices.of(vertex).codec != CodecId::exact &&
                               spec.down_codec != CodecId::exact;
        framed[at(vertex)] = is_framed ? 1 : 0;
    }
    return framed;
}

std::vector<double> holder_counts(const Tree& tree, const VertexChoices& choices) {
    std::vector<double> sums(static_cast<std::size_t>(tree.vertex_count()), 0.0);
    for (int vertex = tree.vertex_count() - 1; vertex >= 0; --vertex) {
        double& holders = sums[static_cast<std::size_t>(vertex)];
        const Exchange exchange = choices.of(vertex).exchange;
        const bool many = exchange == Exchange::single || exchange == Exchange::merged;
        if (tree.is_leaf(vertex) || !many) holders = 1;
        if (vertex > 0) sums[static_cast<std::size_t>(tree.vertex(vertex).parent)] += holders;
    }
    return sums;
}

}  // namespace gradcoll
