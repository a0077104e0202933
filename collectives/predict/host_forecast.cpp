#include "collectives/predict/host_forecast.hpp"

#include <algorithm>

namespace gradcoll {

HostForecast forecast_host(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                           bool in_place) {
    HostForecast forecast;
    if (rank_count < 2 || vector_bytes == 0) return forecast;
    const double ranks = rank_count;
    const auto bytes = static_cast<double>(vector_bytes);
    const double crowd = tuning.cores == 0 ? 1 : std::max(1.0, ranks / tuning.cores);
    const double rounds = rank_count == 2 ? 1 : 2;
    forecast.passes = rank_count == 2 ? 2 : 3 - 1 / ranks;
    forecast.working_set_bytes = bytes * ranks * (in_place ? 1 : 2);
    const double speed = tuning.host_pass.gbytes_per_s.at(forecast.working_set_bytes);
    forecast.pass_us = crowd * forecast.passes * bytes / (speed * 1e3);
    forecast.latency_us = rounds * (tuning.host_pass.latency_us + (crowd > 1 ? tuning.turn_us : 0));
    return forecast;
}

}  // namespace gradcoll
