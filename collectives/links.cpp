// collectives/links.cpp - bytes on the links of the tree.
#include "collectives/links.hpp"

#include "compress/codec_id.hpp"

namespace gradcoll {

void LinkCounter::add(const Plan& plan) {
    if (plan.chunk_count == 0) return;
    const bool has_tail = plan.tail.count_elems > 0;
    add(plan.body, plan, static_cast<std::uint64_t>(plan.chunk_count - (has_tail ? 1 : 0)));
    if (has_tail) add(plan.tail, plan, 1);
}

/// Vertices are numbered in pre-order: of two that are not above each other the one with the higher
/// number is never above the other.
void LinkCounter::add(const Schedule& schedule, const Plan& plan, std::uint64_t times) {
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        const std::uint64_t bytes = times * message_bytes(step, schedule, plan.spec.elem_bytes);
        int from = tree_.leaf_of(plan.rank);
        int to = tree_.leaf_of(step.peer);
        while (from != to) {
            int& lower = from > to ? from : to;
            LinkBytes& link = links_[static_cast<std::size_t>(lower)];
            (from > to ? link.up : link.down) += bytes;
            lower = tree_.vertex(lower).parent;
        }
    }
}

std::vector<LinkBytes> bytes_on_uplinks(const Tree& tree, std::span<const Plan> plans) {
    LinkCounter counter(tree);
    for (const Plan& plan : plans) counter.add(plan);
    return counter.links();
}

std::vector<double> expected_on_uplinks(const Tree& tree, const PlanSpec& spec) {
    const auto bytes_of = [&](CodecId codec) {
        return static_cast<double>(
            encoded_bytes(codec, spec.elem_bytes, static_cast<std::size_t>(spec.count_elems)));
    };
    std::vector<double> links(static_cast<std::size_t>(tree.vertex_count()), 0.0);
    std::vector<char> framed(links.size(), 0);  // encodings travel down through this vertex
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const auto parent = static_cast<std::size_t>(tree.vertex(id).parent);
        const VertexChoice choice = spec.choices.of(tree.vertex(id).parent);
        if (tree.vertex(id).branch == 0) {
            const bool from_above =
                parent == 0 ||
                framed[static_cast<std::size_t>(tree.vertex(static_cast<int>(parent)).parent)] != 0;
            framed[parent] =
                from_above && choice.codec != CodecId::exact && spec.down_codec != CodecId::exact;
        }
        const auto degree = static_cast<double>(tree.children(static_cast<int>(parent)).size());
        const double here =
            bytes_of(choice.codec) + bytes_of(framed[parent] ? spec.down_codec : CodecId::exact);
        links[static_cast<std::size_t>(id)] = here * (degree - 1) / degree + links[parent] / degree;
    }
    return links;
}

}  // namespace gradcoll
