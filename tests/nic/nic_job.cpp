// nic_job FOLDER HOSTS BYTES CODECS SECONDS - a job for scripts/measure nic-kills: its ranks, dealt
// to made-up hosts whose agents are in FOLDER/host0, FOLDER/host1, ..., add vectors by plans over
// the agents, for so long with each of the codecs (with commas). The first sum of a codec has to be
// that of the same plan over MPI's messages.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/build/planner.hpp"
#include "nic/transport/nic_meeting.hpp"
#include "reduce/reducer.hpp"
#include "runtime/executor.hpp"
#include "topology/text.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/routed/routed_channel.hpp"

namespace gradcoll {
namespace {

template <class T>
T checked(Result<T> result) {
    if (!result.ok()) throw std::runtime_error(result.status().message());
    return std::move(result).value();
}

void check(const Status& status) {
    if (!status.ok()) throw std::runtime_error(status.message());
}

struct World {
    World() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    ~World() { MPI_Comm_free(&comm); }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    int rank = 0, size = 1;
    MPI_Comm comm = MPI_COMM_NULL;
};

NicPlacement placement_of(const World& world, const std::string& folder, int hosts) {
    NicPlacement placement;
    for (int rank = 0; rank < world.size; ++rank)
        placement.host_of_rank.push_back(static_cast<std::uint32_t>(rank * hosts / world.size));
    placement.directory = fmt::format("{}/host{}", folder,
                                      placement.host_of_rank[static_cast<std::size_t>(world.rank)]);
    return placement;
}

std::unique_ptr<Channel> channel_by_agents(const World& world, const NicPlacement& placement) {
    std::vector<PartialChannel> routes(2);
    routes[0] = {"nic", checked(make_nic_channel(world.comm, placement, 0)), {}, 0};
    routes[1] = {"mpi", checked(MpiChannel::make(world.comm)), {}, 0};
    for (int peer = 0; peer < world.size; ++peer) {
        routes[0].places.push_back(placement.are_together(world.rank, peer) ? -1 : peer);
        routes[1].places.push_back(peer);
    }
    const int tags = routes[0].channel->tag_limit();
    return std::make_unique<RoutedChannel>(world.comm, std::move(routes), tags);
}

std::shared_ptr<const Plan> plan_of(const World& world, std::int64_t bytes, CodecId codec) {
    std::string flat = "(0";
    for (int rank = 1; rank < world.size; ++rank) flat += fmt::format(" {}", rank);
    const Tree tree = checked(tree_from_expression(flat + ")", world.size));
    PlanSpec spec;
    spec.count_elems = bytes / 4;
    spec.granule_elems = static_cast<std::int64_t>(codec_block_elems(codec));
    spec.chunk_elems = (1 << 20) / 4;
    spec.down_codec = codec;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, codec});
    return std::make_shared<const Plan>(checked(make_plan(tree, spec, world.rank)));
}

std::vector<float> sum_by(Channel& channel, const std::shared_ptr<const Plan>& plan, double seconds,
                          const World& world) {
    const auto executor = checked(Executor::make(plan, channel, {.yield_always = true}));
    std::vector<float> in(static_cast<std::size_t>(plan->spec.count_elems)), out(in.size());
    std::uint32_t state = 12345U + static_cast<std::uint32_t>(world.rank);
    for (float& value : in) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
    }
    Binding binding;
    binding.input = in.data();
    binding.output = out.data();
    binding.reducer = reducer_for(ReduceOp::sum, ElementType::f32);
    const auto begin = std::chrono::steady_clock::now();
    for (int goes_on = 1; goes_on != 0;) {
        check(executor->run(binding));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        goes_on = took.count() < seconds ? 1 : 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return out;
}

int run(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: nic_job FOLDER HOSTS BYTES CODECS SECONDS\n");
        return 2;
    }
    const World world;
    const auto by_agents =
        channel_by_agents(world, placement_of(world, argv[1], std::atoi(argv[2])));
    const auto direct = checked(MpiChannel::make(world.comm));
    std::istringstream codecs(argv[4]);
    for (std::string name; std::getline(codecs, name, ',');) {
        const auto plan = plan_of(world, std::atoll(argv[3]), checked(codec_from_name(name)));
        const std::vector<float> expected = sum_by(*direct, plan, 0, world);
        if (sum_by(*by_agents, plan, std::atof(argv[5]), world) != expected)
            throw std::runtime_error(name + ": other sums by agents");
    }
    return 0;
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int code = 1;
    try {
        code = gradcoll::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "nic_job: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
