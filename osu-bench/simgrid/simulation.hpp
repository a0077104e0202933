// simulation.hpp - SimGrid's engine with one SMPI rank a host, and how long a collective takes in
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gradcoll::simulate {

struct Scene {
    std::string platform_path;
    std::vector<std::string> hosts;     ///< by rank
    std::vector<std::string> settings;  ///< "KEY:VALUE" of SimGrid, after the defaults
};

/// What SimGrid is told unless Scene::settings say otherwise: bandwidth and latency of the platform
/// file as they stand, no time of this machine's CPU, nothing for MPI calls themselves.
const std::vector<std::string>& default_settings();

struct Timing {
    double us = 0;  ///< simulated: from the moment at which all ranks begin to the last one's end
    double wall_s = 0;  ///< of this machine
};

/// What a rank does; rank numbers are those of MPI_COMM_WORLD.
using RankBody = std::function<void(int rank)>;

/// Runs the bodies one after another, each begun by all ranks at the same simulated time. At most
/// once in a process (SimGrid's engine is a singleton). `begins` is told the index of each body
/// before its first rank runs it. Errors end the process, as SimGrid does; std::runtime_error for
/// a host that the platform does not have.
std::vector<Timing> run_on(const Scene& scene, const std::vector<RankBody>& bodies,
                           const std::function<void(std::size_t body)>& begins);

}  // namespace gradcoll::simulate
