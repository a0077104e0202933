// topology/json_write.cpp - writes a tree as nested JSON, one vertex a line; figures that are not
// known are left out.
#include <fmt/format.h>

#include "topology/json_value.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

std::string fields_of(const Vertex& vertex) {
    std::string out = fmt::format("\"kind\": \"{}\"", name_of(vertex.kind));
    if (!vertex.name.empty()) out += fmt::format(", \"name\": {}", json_string(vertex.name));
    if (vertex.rank >= 0) out += fmt::format(", \"rank\": {}", vertex.rank);
    const auto [bandwidth, latency] = vertex.uplink;
    if (bandwidth > 0) out += fmt::format(", \"bandwidth_gbytes_per_s\": {}", bandwidth);
    if (latency > 0) out += fmt::format(", \"latency_us\": {}", latency);
    return out;
}

void write_vertex(const Tree& tree, int id, std::size_t indent, std::string& out) {
    out.append(indent, ' ');
    out += '{';
    out += fields_of(tree.vertex(id));
    if (!tree.is_leaf(id)) {
        out += ", \"children\": [\n";
        for (const int child : tree.children(id)) {
            if (tree.vertex(child).branch > 0) out += ",\n";
            write_vertex(tree, child, indent + 1, out);
        }
        out += "]";
    }
    out += "}";
}

}  // namespace

std::string json_of(const Tree& tree) {
    std::string out;
    write_vertex(tree, tree.root(), 0, out);
    return out + "\n";
}

}  // namespace gradcoll
