// platform.cpp - a tree as a SimGrid platform file.
#include "simulation.hpp"

#include <fmt/format.h>

#include "collectives/predict/model.hpp"

namespace gradcoll::simulate {
namespace {

std::string node_name(const Tree& tree, int vertex) {
    return tree.is_leaf(vertex) ? fmt::format("r{}", tree.vertex(vertex).rank)
                                : fmt::format("v{}", vertex);
}

std::string node_element(const Tree& tree, int vertex) {
    const std::string name = node_name(tree, vertex);
    return tree.is_leaf(vertex) ? fmt::format("  <host id=\"{}\" speed=\"1Gf\"/>\n", name)
                                : fmt::format("  <router id=\"{}\"/>\n", name);
}

std::string link_element(const Tree& tree, int vertex) {
    const LinkFigures link = uplink_figures(tree, shipped_tuning(), vertex);
    return fmt::format(
        "  <link id=\"up{}\" bandwidth=\"{}GBps\" latency=\"{}us\" "
        "sharing_policy=\"SPLITDUPLEX\"/>\n",
        vertex, link.gbytes_per_s, link.latency_us);
}

std::string route_element(const Tree& tree, int vertex) {
    return fmt::format(
        "  <route src=\"{}\" dst=\"{}\"><link_ctn id=\"up{}\" direction=\"UP\"/></route>\n",
        node_name(tree, vertex), node_name(tree, tree.vertex(vertex).parent), vertex);
}

}  // namespace

std::string platform_of(const Tree& tree) {
    std::string nodes;
    std::string links;
    std::string routes;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        nodes += node_element(tree, vertex);
        if (vertex == tree.root()) continue;
        links += link_element(tree, vertex);
        routes += route_element(tree, vertex);
    }
    return "<?xml version=\"1.0\"?>\n"
           "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n <zone id=\"tree\" routing=\"DijkstraCache\">\n" +
           nodes + links + routes + " </zone>\n</platform>\n";
}

std::string hosts_of(const Tree& tree) {
    std::string text;
    for (int rank = 0; rank < tree.rank_count(); ++rank) text += fmt::format("r{}\n", rank);
    return text;
}

}  // namespace gradcoll::simulate
