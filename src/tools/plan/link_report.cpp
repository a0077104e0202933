// plan/link_report.cpp - reports the bytes on every link of the tree.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "collectives/build/planner.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/links.hpp"
#include "reports.hpp"

namespace gradcoll::plan {
namespace {

constexpr int most_rank_runs = 8;

struct Counted {
    std::vector<LinkBytes> links;
    bool exact = true;  ///< counted from the plans, not from the formula
};

Counted by_formula(const Subject& subject) {
    Counted counted{{}, false};
    for (const double bytes : expected_on_uplinks(subject.tree, subject.decision.spec)) {
        const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
        counted.links.push_back({whole, whole});
    }
    return counted;
}

Result<Counted> count(const Subject& subject) {
    const Tree& tree = subject.tree;
    if (tree.rank_count() > most_counted_ranks && is_predicted(subject.decision.spec))
        return by_formula(subject);
    const Result<Planner> planner = Planner::make(tree, subject.decision.spec);
    if (!planner.ok()) return planner.status();
    LinkCounter counter(tree);
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const auto plan = planner->plan(rank);
        if (!plan.ok()) return plan.status();
        counter.add(*plan);
    }
    return Counted{counter.links(), true};
}

std::string json_report(const Subject& subject, const Counted& counted) {
    const Tree& tree = subject.tree;
    nlohmann::json links = nlohmann::json::array();
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const Vertex& vertex = tree.vertex(id);
        const LinkBytes& bytes = counted.links[static_cast<std::size_t>(id)];
        links.push_back({{"vertex", id},
                         {"parent", vertex.parent},
                         {"kind", name_of(vertex.kind)},
                         {"name", vertex.name},
                         {"path", path_of(tree, id)},
                         {"ranks", ranks_below(tree, id, tree.rank_count())},
                         {"bytes_up", bytes.up},
                         {"bytes_down", bytes.down},
                         {"bandwidth_gbytes_per_s", vertex.uplink.bandwidth_gbytes_per_s}});
    }
    const nlohmann::json report = {{"tree", json_of_tree(subject)},
                                   {"call", json_of_call(subject)},
                                   {"exact", counted.exact},
                                   {"links", std::move(links)}};
    return dumped(report);
}

std::string text_report(const Subject& subject, const Counted& counted) {
    const Tree& tree = subject.tree;
    std::string text = heading_of(subject);
    text += counted.exact
                ? "bytes a call on every uplink, counted from all ranks' plans, headers included\n"
                : fmt::format(
                      "bytes a call on every uplink, by formula (more than {} ranks), without "
                      "headers and rounding\n",
                      most_counted_ranks);
    text += fmt::format("{:>7} {:>16} {:>16}  {}\n", "vertex", "up", "down", "what; ranks below");
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const LinkBytes& bytes = counted.links[static_cast<std::size_t>(id)];
        const std::string below =
            tree.is_leaf(id) ? "" : "; ranks " + ranks_below(tree, id, most_rank_runs);
        fmt::format_to(std::back_inserter(text), "{:>7} {:>16} {:>16}  {}{}\n", id, bytes.up,
                       bytes.down, label_of(tree, id), below);
    }
    return text;
}

}  // namespace

Result<std::string> link_report(const Subject& subject, bool json) {
    const Result<Counted> counted = count(subject);
    if (!counted.ok()) return counted.status();
    return json ? json_report(subject, *counted) : text_report(subject, *counted);
}

}  // namespace gradcoll::plan
