// collectives/predict/forecast.cpp - what bounds a call, and what one takes through shared memory.
#include "collectives/predict/forecast.hpp"

#include "collectives/predict/model.hpp"

namespace gradcoll {

std::string_view name_of(Bound bound) {
    constexpr std::string_view names[] = {"link", "core", "latency", "chunks in flight"};
    return names[static_cast<std::size_t>(bound)];
}

Bound bound_of(const TimeParts& parts) {
    if (parts.link_us >= parts.core_us && parts.link_us >= parts.latency_us) return Bound::link;
    return parts.core_us >= parts.latency_us ? Bound::core : Bound::latency;
}

double shared_memory_passes(int rank_count) {
    return rank_count == 2 ? 2 : 3 - 1 / static_cast<double>(rank_count);
}

Forecast forecast_shared_memory(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                                bool in_place) {
    Forecast forecast;
    if (rank_count < 2 || vector_bytes == 0) return forecast;
    const auto bytes = static_cast<double>(vector_bytes);
    const double crowd = ranks_a_core(tuning, rank_count);
    const double rounds = rank_count == 2 ? 1 : 2;
    forecast.working_set_bytes = bytes * rank_count * (in_place ? 1 : 2);
    const double speed = tuning.host_pass.gbytes_per_s.at(forecast.working_set_bytes);
    forecast.link_us = crowd * shared_memory_passes(rank_count) * bytes / (speed * 1e3);
    forecast.latency_us = rounds * (tuning.host_pass.latency_us + (crowd > 1 ? tuning.turn_us : 0));
    forecast.core_total_us = forecast.link_us;
    forecast.total_us = forecast.sum_us();
    forecast.bound = bound_of(forecast);
    return forecast;
}

}  // namespace gradcoll
