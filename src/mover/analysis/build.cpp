// mover/analysis/build.cpp - see build.hpp.
#include "mover/analysis/build.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mover/analysis/rank_builder.hpp"

namespace gradcoll::mover {
namespace {

/// Spreads the blocks as evenly as possible; earlier virtual stages get the remainder.
Result<StageLayers> spread(const std::vector<DeviceLayer>& layers, const Parallel& parallel) {
    const auto stages = static_cast<std::size_t>(parallel.pipeline * parallel.virtual_stages);
    const auto blocks = static_cast<std::size_t>(
        std::count_if(layers.begin(), layers.end(),
                      [](const DeviceLayer& layer) { return layer.place == LayerPlace::block; }));
    if (blocks < stages)
        return Status(Code::invalid_argument,
                      fmt::format("pipeline: {} ranks of {} virtual stages each need as many "
                                  "layers, the model has {}",
                                  parallel.pipeline, parallel.virtual_stages, blocks));
    StageLayers out(stages);
    std::size_t stage = 0, taken = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const std::size_t size = blocks / stages + (stage < blocks % stages ? 1 : 0);
        if (layers[l].place == LayerPlace::block && taken == size) {
            ++stage;
            taken = 0;
        }
        if (layers[l].place == LayerPlace::block) ++taken;
        out[stage].push_back(static_cast<std::int32_t>(l));
    }
    return out;
}

Status check_scale(const std::vector<DeviceLayer>& layers, const Parallel& parallel) {
    std::int64_t operators = 0, tensors = 0;
    for (const DeviceLayer& layer : layers) {
        operators += 3 * static_cast<std::int64_t>(layer.parts.size());
        for (const LayerPart& part : layer.parts)
            tensors += static_cast<std::int64_t>(part.kept.size()) + 1;
    }
    operators = operators * parallel.micro_batches + 2 * static_cast<std::int64_t>(layers.size());
    tensors = tensors * parallel.micro_batches + 3 * static_cast<std::int64_t>(layers.size());
    if (operators <= most_operators && tensors <= most_tensors) return {};
    return {Code::invalid_argument,
            fmt::format("micro_batches: a step of {} micro-batches has up to {} operators and {} "
                        "tensors; allowed are {} and {}",
                        parallel.micro_batches, operators, tensors, most_operators, most_tensors)};
}

/// Sets what the first operator of each pass waits for: the end of the same pass one stage before.
void link_ranks(const std::vector<RankBuilder>& builders, const Parallel& parallel, Tick delay,
                Program& program) {
    const auto p = static_cast<std::int32_t>(parallel.pipeline);
    const auto stages = static_cast<std::int32_t>(parallel.pipeline * parallel.virtual_stages);
    for (std::int32_t rank = 0; rank < p; ++rank)
        for (const BuiltPass& built : builders[static_cast<std::size_t>(rank)].passes()) {
            const std::int32_t stage = built.pass.chunk * p + rank;
            const std::int32_t before = stage + (built.pass.forward ? -1 : 1);
            if (before < 0 || before >= stages || before % p == rank) continue;
            Operator& op = program.ranks[static_cast<std::size_t>(rank)]
                               .operators[static_cast<std::size_t>(built.first_operator)];
            op.needs_rank = before % p;
            op.needs_operator = builders[static_cast<std::size_t>(before % p)].last_of(
                {built.pass.forward, before / p, built.pass.micro_batch});
            op.delay = delay;
        }
}

/// Checks that the sum of all tensors of a rank does not overflow.
Status check_held(const RankProgram& rank) {
    constexpr std::int64_t most_held = std::int64_t{1} << 60;
    std::int64_t held = 0;
    for (const DeviceTensor& tensor : rank.tensors)
        if ((held += tensor.bytes) > most_held)
            return {Code::invalid_argument,
                    "model: all tensors of a step together are larger than "
                    "an exbibyte, which is allowed"};
    return {};
}

/// Returns, for each group of `size` successive devices, how many devices of each rank are in it.
std::vector<Sharing> shared_by(std::int64_t size, std::int64_t most, const Parallel& parallel) {
    const std::int64_t of_rank = parallel.tensor * replicas(parallel);
    const std::int64_t devices = of_rank * parallel.pipeline;
    std::vector<Sharing> out;
    for (std::int64_t first = 0; first < devices; first += size) {
        const std::int64_t end = std::min(first + size, devices);
        Sharing sharing{.most = most};
        for (std::int64_t rank = first / of_rank; rank * of_rank < end; ++rank)
            sharing.devices.emplace_back(
                static_cast<std::int32_t>(rank),
                std::min(end, (rank + 1) * of_rank) - std::max(first, rank * of_rank));
        // Groups with the same devices of the same ranks are merged into one.
        if (out.empty() || out.back().devices != sharing.devices) out.push_back(std::move(sharing));
    }
    return out;
}

}  // namespace

Result<Program> program_of(const Description& description) {
    const Parallel& parallel = description.parallel;
    const auto layers =
        GRADCOLL_VALUE(layers_on_device(description.model, parallel, description.cluster));
    GRADCOLL_TRY(check_scale(layers, parallel));
    const StageLayers stages = GRADCOLL_VALUE(spread(layers, parallel));
    const std::int64_t boundary = boundary_bytes(description.model, parallel);
    Program program;
    for (const DeviceLayer& layer : layers) program.layer_names.push_back(layer.name);
    const StepParts parts{layers, stages, parallel, description.cluster, boundary};
    std::vector<RankBuilder> builders;
    for (std::int32_t rank = 0; rank < parallel.pipeline; ++rank) {
        builders.emplace_back(parts, program.tensor_names, rank);
        program.ranks.push_back(builders.back().build());
        GRADCOLL_TRY(check_held(program.ranks.back()));
    }
    const double seconds =
        static_cast<double>(boundary) / (description.cluster.network_gbytes_per_s * 1e9) +
        description.cluster.network_latency_us * 1e-6;
    link_ranks(builders, parallel, ticks_of_seconds(seconds), program);
    return program;
}

Status check_longest_move(const Program& program, const Rooms& rooms) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        for (const DeviceTensor& tensor : program.ranks[r].tensors)
            if (rooms.ranks[r].lane.ticks(tensor.bytes) >= longest_ticks)
                return {Code::invalid_argument,
                        fmt::format("link_gbytes_per_s: a tensor of {} bytes would take longer "
                                    "than 18 minutes, which are allowed",
                                    tensor.bytes)};
    return {};
}

Result<Rooms> rooms_of(const Description& description, const Program& program,
                       std::int64_t device_bytes) {
    const Cluster& cluster = description.cluster;
    const Parallel& parallel = description.parallel;
    Rooms rooms;
    const RankRoom room{device_bytes > 0 ? device_bytes : cluster.device_memory,
                        moving_lane(parallel, cluster), !cluster.link_both_ways};
    rooms.ranks.assign(program.ranks.size(), room);
    GRADCOLL_TRY(check_longest_move(program, rooms));
    rooms.rates = shared_by(cluster.devices_per_link,
                            static_cast<std::int64_t>(cluster.link_gbytes_per_s * 1e9), parallel);
    for (Sharing& link : rooms.rates) link.directions_together = !cluster.link_both_ways;
    if (cluster.host_memory_gbytes_per_s > 0)
        for (Sharing& memory : shared_by(
                 cluster.devices_per_host,
                 static_cast<std::int64_t>(cluster.host_memory_gbytes_per_s * 1e9), parallel)) {
            memory.directions_together = true;
            rooms.rates.push_back(std::move(memory));
        }
    rooms.hosts = shared_by(cluster.devices_per_host, cluster.host_memory, parallel);
    rooms.move_ticks = ticks_of_seconds(cluster.move_us * 1e-6);
    return rooms;
}

}  // namespace gradcoll::mover
