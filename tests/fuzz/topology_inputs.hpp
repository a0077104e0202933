// fuzz/topology_inputs.hpp - makes recorded topologies with such damage that many of them still
// mean something, and checks the promises of every tree (topology/tree.hpp).
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "fabric/fabric.hpp"
#include "fuzz/mutator.hpp"
#include "topology/tree.hpp"

namespace gradcoll::fuzz {

/// Makes a text: half of them are those of make_input(); in the others numbers, quoted values and
/// whole lines of a seed are replaced, doubled, removed or moved, which leaves their form alone.
std::string make_topology_input(std::span<const std::string_view> seeds, Random& random);

/// Returns files of tests/golden/topologies, or of the unpacked recorded archives, that stay in
/// memory. A file longer than 24,000 bytes becomes three pieces of 6,000, cut at empty lines or
/// line ends. A missing file ends the program.
std::span<const std::string_view> recorded(std::initializer_list<std::string_view> files);

/// Checks that parents, children, ranks, heights and counts agree, links are figures, and the bytes
/// read back.
void must_be_a_tree(const Tree& tree, std::string_view text);

/// Checks that the cables join existing nodes, and that a switch tree of the fabric with a rank on
/// every host, and one on a host that is not in it, is a tree. Returns false if the fabric has no
/// such tree (a circle).
bool becomes_a_tree(const Fabric& fabric, std::string_view text);

}  // namespace gradcoll::fuzz
