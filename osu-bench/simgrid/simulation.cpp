// simulation.cpp - SimGrid's engine with one SMPI rank on each host.
#include "simulation.hpp"

#include <fmt/format.h>
#include <smpi/smpi.h>

#include <simgrid/version.h>
#include <algorithm>
#include <chrono>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string_view>

namespace gradcoll::simulate {
namespace {

constexpr const char* application = "gradcoll-simulate";
/// This simulated time is longer than ranks can drift apart in a barrier.
constexpr double pause_s = 1;

using BodyBegins = std::function<void(std::size_t)>;

struct Moments {
    bool has_begun = false;
    double begin_s = 0;  ///< simulated
    double end_s = 0;
    std::chrono::steady_clock::time_point wall_end;
};

/// Runs a rank. All ranks live in this process and take turns, so they can share plain memory.
void run_rank(const std::vector<RankBody>& bodies, const BodyBegins& begins,
              std::vector<Moments>& moments) {
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        moments[i].begin_s =
            std::max(moments[i].begin_s, simgrid::s4u::Engine::get_clock() + pause_s);
        MPI_Barrier(MPI_COMM_WORLD);
        simgrid::s4u::this_actor::sleep_until(moments[i].begin_s);
        if (!moments[i].has_begun) {
            moments[i].has_begun = true;
            begins(i);
        }
        bodies[i](rank);
        moments[i].end_s = std::max(moments[i].end_s, simgrid::s4u::Engine::get_clock());
        moments[i].wall_end = std::chrono::steady_clock::now();
    }
    MPI_Finalize();
}

void place_ranks(const Scene& scene, const std::vector<RankBody>& bodies, const BodyBegins& begins,
                 std::vector<Moments>& moments) {
    SMPI_app_instance_register(application, nullptr, static_cast<int>(scene.hosts.size()));
    for (std::size_t rank = 0; rank < scene.hosts.size(); ++rank) {
        auto* host = simgrid::s4u::Host::by_name_or_null(scene.hosts[rank]);
        if (!host)
            throw std::runtime_error(
                fmt::format("the platform has no host \"{}\"", scene.hosts[rank]));
        const auto actor = simgrid::s4u::Actor::init(fmt::format("rank{}", rank), host);
        actor->set_property("instance_id", application);
        actor->set_property("rank", std::to_string(rank));
        actor->start([&bodies, &begins, &moments] { run_rank(bodies, begins, moments); });
    }
}

/// Returns the setting as this SimGrid names it: before 3.34 `precision/timing` was
/// `surf/precision`.
std::string named_here(const std::string& setting) {
    constexpr std::string_view key = "precision/timing:";
    constexpr bool has_old_name = SIMGRID_VERSION < 33400;
    return has_old_name && setting.starts_with(key) ? "surf/precision:" + setting.substr(key.size())
                                                    : setting;
}

}  // namespace

const std::vector<std::string>& default_settings() {
    static const std::vector<std::string> settings{
        "network/model:CM02", "network/crosstraffic:0", "smpi/simulate-computation:no",
        "smpi/bw-factor:1", "smpi/lat-factor:1", "smpi/host-speed:1Gf", "smpi/wtime:0",
        "smpi/test:0",
        // A send ends when its bytes have arrived, whatever its length.
        "smpi/send-is-detached-thresh:0"};
    return settings;
}

std::vector<Timing> run_on(const Scene& scene, const std::vector<RankBody>& bodies,
                           const BodyBegins& begins) {
    std::string name = application;
    std::string quiet = "--log=root.thres:critical";
    char* arguments[] = {name.data(), quiet.data(), nullptr};
    int count = 2;
    simgrid::s4u::Engine engine(&count, arguments);
    for (const std::string& setting : default_settings()) simgrid::s4u::Engine::set_config(setting);
    for (const std::string& setting : scene.settings)
        simgrid::s4u::Engine::set_config(named_here(setting));
    SMPI_init();
    engine.load_platform(scene.platform_path);
    std::vector<Moments> moments(bodies.size());
    place_ranks(scene, bodies, begins, moments);
    auto wall_begin = std::chrono::steady_clock::now();
    engine.run();
    SMPI_finalize();
    std::vector<Timing> timings;
    for (const Moments& each : moments) {
        timings.push_back({(each.end_s - each.begin_s) * 1e6,
                           std::chrono::duration<double>(each.wall_end - wall_begin).count()});
        wall_begin = each.wall_end;
    }
    return timings;
}

}  // namespace gradcoll::simulate
