// mover/analysis/layers.cpp - what both kinds of models share; see layers.hpp.
#include "mover/analysis/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gradcoll::mover {
namespace {

Status check_sizes(const DeviceLayer& layer) {
    const auto check = [&](std::int64_t bytes, const std::string& what) -> Status {
        if (bytes <= most_bytes) return {};
        return {Code::invalid_argument,
                fmt::format("model: {} of {} is larger than {} bytes, which are allowed", what,
                            layer.name, most_bytes)};
    };
    GRADCOLL_TRY(check(layer.input_bytes, "input"));
    GRADCOLL_TRY(check(size_product({layer.parameters, 64}), "model state"));
    for (const LayerPart& part : layer.parts) {
        if (std::max(part.forward, part.backward) >= longest_ticks / 4)
            return {Code::invalid_argument,
                    fmt::format("model: {}.{} takes longer than 4 minutes, which are allowed",
                                layer.name, part.name)};
        GRADCOLL_TRY(
            check(std::max(part.workspace_bytes, part.backward_workspace_bytes), "workspace"));
        for (const KeptPart& kept : part.kept)
            GRADCOLL_TRY(check(kept.bytes, part.name + "." + kept.name));
    }
    return {};
}

/// Makes a layer with a single part.
DeviceLayer device_layer(const ListedLayer& layer, const Parallel& parallel,
                         const Cluster& cluster) {
    const std::int64_t samples = parallel.micro_batch_size;
    DeviceLayer out{.name = layer.name,
                    .parameters = layer.parameters,
                    .input_bytes = size_product({layer.input_bytes, samples})};
    LayerPart& part = out.parts.emplace_back();
    part.name = "all";
    part.workspace_bytes = size_product({layer.workspace_bytes, samples});
    part.backward_workspace_bytes = layer.backward_workspace_bytes < 0
                                        ? part.workspace_bytes
                                        : size_product({layer.backward_workspace_bytes, samples});
    for (const KeptTensor& kept : layer.kept)
        part.kept.push_back({kept.name, size_product({kept.bytes, samples})});
    const double flops = layer.forward_flops * static_cast<double>(samples);
    part.forward = layer.times.forward_us >= 0 ? ticks_of_seconds(layer.times.forward_us * 1e-6)
                                               : roofline_ticks(cluster, flops, 0);
    part.backward = layer.times.backward_us >= 0 ? ticks_of_seconds(layer.times.backward_us * 1e-6)
                                                 : 2 * part.forward;
    return out;
}

}  // namespace

Tick roofline_ticks(const Cluster& cluster, double flops, double bytes) {
    const double arithmetic = flops / (cluster.device_tflops * 1e12 * cluster.device_efficiency);
    const double memory = bytes / (cluster.device_memory_gbytes_per_s * 1e9);
    return ticks_of_seconds(std::max(arithmetic, memory));
}

Result<std::vector<DeviceLayer>> layers_of(const std::vector<ListedLayer>& model,
                                           const Parallel& parallel, const Cluster& cluster) {
    for (const auto& [key, devices] : {std::pair{"tensor", parallel.tensor},
                                       {"context", parallel.context},
                                       {"expert", parallel.expert}})
        if (devices > 1)
            return Status(Code::invalid_argument,
                          fmt::format("{}: found {}, allowed is 1 for a model of listed layers: "
                                      "their sizes are those of one device",
                                      key, devices));
    std::vector<DeviceLayer> layers;
    for (const ListedLayer& listed : model) {
        DeviceLayer layer = device_layer(listed, parallel, cluster);
        for (std::int64_t copy = 0; copy < listed.repeat; ++copy) {
            layers.push_back(layer);
            if (listed.repeat > 1) layers.back().name += fmt::format(" {}", copy);
        }
    }
    return layers;
}

Result<std::vector<DeviceLayer>> layers_on_device(const Model& model, const Parallel& parallel,
                                                  const Cluster& cluster) {
    auto layers = std::visit([&](const auto& body) { return layers_of(body, parallel, cluster); },
                             model.body);
    if (!layers.ok()) return layers;
    const Images images = GRADCOLL_VALUE(images_of(model, parallel));
    if (model.tower) {
        auto before = tower_layers(*model.tower, images, parallel, cluster);
        layers->insert(layers->begin(), std::make_move_iterator(before.begin()),
                       std::make_move_iterator(before.end()));
    }
    for (const DeviceLayer& layer : *layers) GRADCOLL_TRY(check_sizes(layer));
    return layers;
}

std::int64_t tokens_of_sample(const TransformerModel& model, const Parallel& parallel) {
    return parallel.sequence > 0 ? parallel.sequence : model.sequence;
}

std::int64_t boundary_bytes(const Model& model, const Parallel& parallel) {
    if (const auto* transformer = std::get_if<TransformerModel>(&model.body)) {
        return size_product({flow_bytes(*transformer), tokens_of_sample(*transformer, parallel),
                             parallel.micro_batch_size, transformer->hidden}) /
               (parallel.sequence_parallel ? parallel.tensor : 1) / parallel.context;
    }
    const auto& listed = std::get<std::vector<ListedLayer>>(model.body);
    std::int64_t largest = 0;
    for (const ListedLayer& layer : listed) largest = std::max(largest, layer.input_bytes);
    return size_product({largest, parallel.micro_batch_size});
}

bool gathers_over_link(const Parallel& parallel, const Cluster& cluster) {
    return parallel.zero >= 3 && replicas(parallel) > 1 && cluster.network_over_link;
}

Lane moving_lane(const Parallel& parallel, const Cluster& cluster) {
    Lane lane = lane_of(cluster);
    if (gathers_over_link(parallel, cluster))
        lane.bytes_per_second = std::max<std::int64_t>(1, lane.bytes_per_second / 2);
    return lane;
}

}  // namespace gradcoll::mover
