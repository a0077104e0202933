// simulation.hpp - writes a tree as a SimGrid platform file; SimGrid's engine with one SMPI rank on
// each host of one, and how long a collective takes in it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::simulate {

struct Scene {
    std::string platform_path;
    std::vector<std::string> hosts;     ///< by rank
    std::vector<std::string> settings;  ///< "KEY:VALUE" of SimGrid 4, after the defaults
};

/// Returns SimGrid's settings unless Scene::settings override them: bandwidth and latency of the
/// platform file unchanged, no time for this machine's CPU, none for MPI calls themselves.
const std::vector<std::string>& default_settings();

struct Timing {
    double us = 0;  ///< simulated: from the moment at which all ranks begin to the last one's end
    double wall_s = 0;  ///< real time of this machine
};

/// A RankBody is what a rank does; rank numbers are those of MPI_COMM_WORLD.
using RankBody = std::function<void(int rank)>;

/// Runs the bodies one after another, each begun by all ranks at the same simulated time. May be
/// called once in a process (SimGrid's engine is a singleton). `begins` gets the index of each body
/// before its first rank runs it. Errors end the process, as SimGrid does; std::runtime_error for a
/// host that the platform does not have.
std::vector<Timing> run_on(const Scene& scene, const std::vector<RankBody>& bodies,
                           const std::function<void(std::size_t body)>& begins);

/// Returns a platform in which every vertex is a router (leaves: a host "r<rank>"), every uplink a
/// SPLITDUPLEX link: one object for each direction. What the tree does not know about a link are
/// the defaults of collectives/cost.hpp. There is one zone with computed routes, so that the text
/// is linear in the vertices.
std::string platform_of(const Tree& tree);

/// Returns "r<rank>" on each line, in rank order.
std::string hosts_of(const Tree& tree);

}  // namespace gradcoll::simulate
