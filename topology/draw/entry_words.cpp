// topology/draw/entry_words.cpp - see outline.hpp.
#include "topology/draw/outline.hpp"

#include <fmt/format.h>

#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

std::string quoted_name(const Tree& tree, const OutlineEntry& entry) {
    const std::string name = shared_name(tree, entry);
    return name.empty() ? name : fmt::format(" \"{}\"", name);
}

EntryTitle title_of_leaves(const Tree& tree, const OutlineEntry& entry) {
    const Vertex& first = tree.vertex(entry.vertex());
    const bool plain = first.kind == VertexKind::rank && first.name.empty();
    const bool several = entry.copies() > 1;
    const std::string ranks = (several ? "ranks " : "rank ") + number_list(ranks_of(tree, entry));
    if (plain) return {ranks, {}};
    return {
        fmt::format("{}{}{}", name_of(first.kind), several ? "s" : "", quoted_name(tree, entry)),
        ranks};
}

}  // namespace

std::string shared_name(const Tree& tree, const OutlineEntry& entry) {
    const std::string& first = tree.vertex(entry.vertex()).name;
    if (first.empty()) return {};
    if (entry.inside_fold) return escaped_name(name_of_copies(first));
    std::vector<std::string_view> names;
    for (const int member : entry.members) names.push_back(tree.vertex(member).name);
    return escaped_name(common_name(names));
}

EntryTitle title_parts(const Tree& tree, const OutlineEntry& entry) {
    const Vertex& first = tree.vertex(entry.vertex());
    if (first.rank >= 0 && !entry.inside_fold) return title_of_leaves(tree, entry);
    const std::string copies = entry.copies() > 1 ? fmt::format("x{} ", entry.copies()) : "";
    return {copies + std::string(name_of(first.kind)) + quoted_name(tree, entry), {}};
}

std::string title_of(const Tree& tree, const OutlineEntry& entry) {
    const EntryTitle title = title_parts(tree, entry);
    return title.ranks.empty() ? title.what : title.what + ", " + title.ranks;
}

bool names_ranks(const Tree& tree, const OutlineEntry& entry) {
    return !entry.inside_fold && (tree.is_leaf(entry.vertex()) || entry.copies() > 1);
}

}  // namespace gradcoll
