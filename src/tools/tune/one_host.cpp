// tune/one_host.cpp - measures exact allreduces of the ranks of one host, as the library does
// them.
#include <algorithm>
#include <vector>

#include "collectives/predict/forecast.hpp"
#include "gradcoll/gradcoll.h"
#include "measures.hpp"

namespace gradcoll::tune {
namespace {

double allreduce_us(const Options& options, MPI_Comm comm, std::size_t elems) {
    std::vector<float> in(elems, 1), out(elems);
    return median_us(comm, options.seconds_a_point(), [&] {
        GC_Allreduce(in.data(), out.data(), static_cast<int>(elems), MPI_FLOAT, MPI_SUM, comm);
    });
}

/// Returns the speed that every pass over the vector must have had for a call to take so long.
Speed::Point point_of(const Tuning& tuning, int ranks, std::size_t bytes, double us) {
    const Forecast forecast =
        forecast_shared_memory(tuning, ranks, static_cast<std::int64_t>(bytes));
    const double moving_us = std::max(us - forecast.latency_us, us / 10);
    return {forecast.working_set_bytes,
            shared_memory_passes(ranks) * static_cast<double>(bytes) / 1e3 / moving_us};
}

}  // namespace

void measure_one_host(const Options& options, const Group& group, Tuning& tuning) {
    const auto time = [&](std::size_t bytes) {
        double us = 0;
        group.run([&] { us = allreduce_us(options, group.comm(), bytes / sizeof(float)); });
        PMPI_Bcast(&us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return us;
    };
    if (group.member()) GC_Comm_set_option(group.comm(), "gc_tree_min_bytes", "0");
    constexpr std::size_t rounds_of_two = 1, rounds_of_many = 2;
    tuning.host_pass.latency_us =
        time(8) / static_cast<double>(group.size() == 2 ? rounds_of_two : rounds_of_many);
    std::vector<Speed::Point> points;
    for (const double set : working_sets(std::size_t{128} << 10U, options.most_bytes())) {
        const auto bytes =
            static_cast<std::size_t>(set) / 2 / static_cast<std::size_t>(group.size());
        points.push_back(point_of(tuning, group.size(), bytes / 64 * 64, time(bytes / 64 * 64)));
    }
    tuning.host_pass.gbytes_per_s = Speed(std::move(points));
}

}  // namespace gradcoll::tune
