// collectives/predict/host_forecast.hpp - how long an exact allreduce takes through memory that the
// ranks of one host share. Pure.
#pragma once

#include <cstdint>

#include "collectives/predict/tuning.hpp"

namespace gradcoll {

/// Each rank passes over the vector with its core: two ranks copy it in and combine it, more copy
/// all but their own share in, combine their share of all, and copy the result out. Ranks that
/// share a core do so one after another, and wait for their turns.
struct HostForecast {
    double passes = 0;  ///< over the vector, by each rank
    double pass_us = 0;
    double latency_us = 0;
    double working_set_bytes = 0;
    double total_us() const { return pass_us + latency_us; }
};

HostForecast forecast_host(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                           bool in_place = false);

}  // namespace gradcoll
