#include "subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"
#include "topology/sources/job/foreseen.hpp"

namespace gradcoll::plan {
namespace {

std::uint64_t bytes_of(const PlanSpec& spec) {
    return static_cast<std::uint64_t>(spec.count_elems) * spec.elem_bytes;
}

std::vector<int> ranks_of(const Tree& tree, int vertex) {
    std::vector<int> ranks;
    const auto leaves = static_cast<std::size_t>(tree.vertex(vertex).leaf_count);
    for (int id = vertex; ranks.size() < leaves; ++id)
        if (tree.is_leaf(id)) ranks.push_back(tree.vertex(id).rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

Result<DiscoveredTree> tree_for(const Options& options) {
    if (!options.cluster) return foreseen_tree(options.tree, options.ranks);
    ClusterSpec cluster = *options.cluster;
    cluster.written = options.tree;
    return foreseen_cluster(cluster);
}

Result<std::shared_ptr<const Tuning>> tuning_for(const Options& options) {
    if (options.tuning.empty()) return std::make_shared<const Tuning>();
    Result<Tuning> tuning = read_tuning(options.tuning);
    if (!tuning.ok())
        return Status(tuning.status().code(), "--tuning " + tuning.status().message());
    return std::make_shared<const Tuning>(std::move(*tuning));
}

std::string notes_of(const Subject& subject) {
    std::string lines;
    for (const std::string& note : subject.notes) lines += fmt::format("assumed: {}\n", note);
    return lines;
}

/// Returns a text such as "rank 129 on n7", since people know hosts, not ranks.
std::string rank_label(const Tree& tree, int leaf) {
    const auto is_host = [&](int id) {
        return tree.vertex(id).kind == VertexKind::host || tree.vertex(id).rank >= 0;
    };
    std::string host;
    for (int id = leaf; id >= 0 && host.empty(); id = tree.vertex(id).parent)
        if (is_host(id)) host = tree.vertex(id).name;
    return fmt::format("rank {}{}{}", tree.vertex(leaf).rank, host.empty() ? "" : " on ", host);
}

}  // namespace

double cpu_seconds() {
    return seconds_of(ns_of(CLOCK_PROCESS_CPUTIME_ID));
}

Result<Subject> subject_of(const Options& options) {
    auto tuning = tuning_for(options);
    if (!tuning.ok()) return tuning.status();
    const double start = cpu_seconds();
    auto found = tree_for(options);
    if (!found.ok()) return found.status();
    const double tree_seconds = cpu_seconds() - start;
    const double then = cpu_seconds();
    PolicyOptions policy = options.policy;
    policy.tuning = tuning->get();
    Decision decision = decide(found->tree, options.call, policy);
    return Subject{std::move(found->tree), std::move(found->origin), std::move(found->notes),
                   std::move(*tuning),     std::move(decision),      tree_seconds,
                   cpu_seconds() - then};
}

std::string label_of(const Tree& tree, int id) {
    const Vertex& vertex = tree.vertex(id);
    if (vertex.rank >= 0) return rank_label(tree, id);
    return fmt::format("{}{}{}", name_of(vertex.kind), vertex.name.empty() ? "" : " ", vertex.name);
}

std::string path_of(const Tree& tree, int vertex) {
    std::string path;
    for (int id = vertex; id != tree.root(); id = tree.vertex(id).parent)
        path = fmt::format("/children/{}", tree.vertex(id).branch) + path;
    return path;
}

std::string ranks_below(const Tree& tree, int vertex, int most) {
    const std::vector<int> ranks = ranks_of(tree, vertex);
    std::string text;
    for (std::size_t i = 0; i < ranks.size(); --most) {
        if (most == 0) return text + ",...";
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text +=
            last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last + 1;
    }
    return text;
}

std::string heading_of(const Subject& subject) {
    const Tree& tree = subject.tree;
    const PlanSpec& spec = subject.decision.spec;
    const std::string chunks =
        spec.chunk_elems == 0 || spec.chunk_elems >= spec.count_elems
            ? "in one piece"
            : fmt::format(
                  "in chunks of {}",
                  bytes_text(static_cast<std::uint64_t>(spec.chunk_elems) * spec.elem_bytes));
    return fmt::format(
        "tree: {}, {}, {} ({})\n"
        "{}"
        "call: {} of {} {}, {}, {}, cut at multiples of {} elements, {} on the way down\n"
        "{}",
        counted(tree.rank_count(), "rank"),
        tree.vertex_count() == 1 ? "1 vertex" : fmt::format("{} vertices", tree.vertex_count()),
        counted(tree.height(), "level"), subject.origin, notes_of(subject),
        name_of(spec.collective), spec.count_elems, name_of(spec.type), bytes_text(bytes_of(spec)),
        chunks, spec.granule_elems, name_of(spec.down_codec),
        builder_text(spec.builder, subject.decision.builder_refusal));
}

nlohmann::json json_of_tree(const Subject& subject) {
    const Tree& tree = subject.tree;
    return {{"ranks", tree.rank_count()},
            {"vertices", tree.vertex_count()},
            {"levels", tree.height()},
            {"origin", subject.origin},
            {"notes", subject.notes}};
}

nlohmann::json json_of_call(const Subject& subject) {
    const PlanSpec& spec = subject.decision.spec;
    return {{"collective", name_of(spec.collective)},
            {"count", spec.count_elems},
            {"type", name_of(spec.type)},
            {"bytes", bytes_of(spec)},
            {"chunk_elems", spec.chunk_elems},
            {"granule_elems", spec.granule_elems},
            {"down_codec", name_of(spec.down_codec)},
            {"builder", name_of(spec.builder)},
            {"builder_why", subject.decision.builder_refusal}};
}

std::string dumped(const nlohmann::json& report) {
    return report.dump(2, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) +
           "\n";
}

}  // namespace gradcoll::plan
