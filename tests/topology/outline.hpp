// tests/topology/outline.hpp - writes a tree as golden text: one line for each vertex, indented;
// plain, so that it changes only when trees do.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::test {

inline std::string outline_of(const Tree& tree, int id = 0, int depth = 0) {
    const Vertex& vertex = tree.vertex(id);
    std::string out = fmt::format("{:{}}{}", "", 2 * depth, name_of(vertex.kind));
    if (vertex.rank >= 0) out += fmt::format(" {}", vertex.rank);
    if (!vertex.name.empty()) out += fmt::format(" \"{}\"", vertex.name);
    if (vertex.uplink.bandwidth_gbytes_per_s > 0)
        out += fmt::format(", {:.4g} GB/s", vertex.uplink.bandwidth_gbytes_per_s);
    if (vertex.uplink.latency_us > 0) out += fmt::format(", {:.4g} us", vertex.uplink.latency_us);
    out += '\n';
    for (const int child : vertex.children) out += outline_of(tree, child, depth + 1);
    return out;
}

inline std::string lines_of(const std::vector<std::string>& notes) {
    std::string out;
    for (const std::string& note : notes) out += "note: " + note + "\n";
    return out;
}

}  // namespace gradcoll::test
