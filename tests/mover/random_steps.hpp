// tests/mover/random_steps.hpp - makes random descriptions: small ones, of all schedules and
// strategies.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>

#include "mover/analysis/build.hpp"

namespace gradcoll::mover {

using Chance = std::mt19937_64;

/// Returns how many of a test's random cases are tried: all, or a quarter with GRADCOLL_CASES=few.
inline int cases(int all) {
    const char* said = std::getenv("GRADCOLL_CASES");
    return said && std::string_view(said) == "few" ? all / 4 : all;
}

inline std::int64_t from_to(Chance& chance, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(chance);
}

inline Description random_description(Chance& chance) {
    Description out;
    std::vector<ListedLayer> layers;
    Parallel& parallel = out.parallel;
    parallel.pipeline = from_to(chance, 1, 4);
    parallel.data = from_to(chance, 1, 3);
    parallel.zero = from_to(chance, 0, 3);
    parallel.micro_batches = from_to(chance, 1, 6);
    parallel.micro_batch_size = from_to(chance, 1, 2);
    parallel.schedule = static_cast<ScheduleKind>(from_to(chance, 0, 2));
    if (parallel.schedule == ScheduleKind::interleaved && parallel.pipeline > 1) {
        parallel.virtual_stages = from_to(chance, 2, 3);
        parallel.micro_batches = parallel.pipeline * from_to(chance, 1, 2);
    } else if (parallel.schedule == ScheduleKind::interleaved) {
        parallel.schedule = ScheduleKind::one_f_one_b;
    }
    parallel.recompute = static_cast<Recompute>(from_to(chance, 0, 2));
    const std::int64_t stages = parallel.pipeline * parallel.virtual_stages;
    for (std::int64_t l = 0, count = stages + from_to(chance, 0, 8); l < count; ++l) {
        ListedLayer& layer = layers.emplace_back();
        layer.name = "l" + std::to_string(l);
        layer.parameters = from_to(chance, 0, 1000);
        layer.input_bytes = from_to(chance, 0, 2000);
        layer.workspace_bytes = from_to(chance, 0, 500);
        for (std::int64_t k = from_to(chance, 0, 3); k > 0; --k)
            layer.kept.push_back({"k" + std::to_string(k), from_to(chance, 0, 20000)});
        layer.times = {static_cast<double>(from_to(chance, 0, 40)),
                       static_cast<double>(from_to(chance, 0, 80))};
    }
    out.model = {"by chance", std::move(layers)};
    Cluster& cluster = out.cluster;
    cluster.devices_per_link = from_to(chance, 1, 2);
    cluster.devices_per_host = cluster.devices_per_link * from_to(chance, 1, 2);
    cluster.device_memory = most_bytes;
    cluster.host_memory = most_bytes;
    cluster.device_tflops = cluster.device_memory_gbytes_per_s = 1;
    cluster.link_gbytes_per_s = static_cast<double>(from_to(chance, 1, 20)) / 4;
    cluster.link_latency_us = static_cast<double>(from_to(chance, 0, 3));
    cluster.link_both_ways = from_to(chance, 0, 1) == 1;
    cluster.tensor_gbytes_per_s = cluster.network_gbytes_per_s = 10;
    cluster.network_latency_us = 1;
    if (from_to(chance, 0, 2) == 0) cluster.host_memory_gbytes_per_s = 3;
    cluster.network_over_link = from_to(chance, 0, 1) == 1;
    parallel.reduce_in_host = parallel.data > 1 && from_to(chance, 0, 1) == 1;
    return out;
}

}  // namespace gradcoll::mover
