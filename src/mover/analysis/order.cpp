// mover/analysis/order.cpp - see rank_builder.hpp.
#include "mover/analysis/rank_builder.hpp"

#include <algorithm>

namespace gradcoll::mover {
namespace {

/// Returns the n-th pass of one direction, over all virtual stages.
Pass nth_pass(const Parallel& parallel, bool forward, std::int64_t n) {
    const std::int64_t p = parallel.pipeline, v = parallel.virtual_stages;
    if (v == 1) return {forward, 0, static_cast<std::int32_t>(n)};
    const std::int64_t chunk = n % (p * v) / p;
    return {forward, static_cast<std::int32_t>(forward ? chunk : v - 1 - chunk),
            static_cast<std::int32_t>(n / (p * v) * p + n % p)};
}

/// Returns how many forward passes come before the first backward pass.
std::int64_t warm_up(const Parallel& parallel, std::int64_t rank) {
    const std::int64_t p = parallel.pipeline, v = parallel.virtual_stages;
    switch (parallel.schedule) {
        case ScheduleKind::gpipe:
            return parallel.micro_batches;
        case ScheduleKind::one_f_one_b:
            return std::min(parallel.micro_batches, p - 1 - rank);
        case ScheduleKind::interleaved:
            break;
    }
    return std::min(parallel.micro_batches * v, 2 * (p - 1 - rank) + (v - 1) * p);
}

}  // namespace

std::vector<Pass> passes_of(const Parallel& parallel, std::int32_t rank) {
    const std::int64_t each_way = parallel.micro_batches * parallel.virtual_stages;
    const std::int64_t first = warm_up(parallel, rank);
    std::vector<Pass> passes;
    passes.reserve(static_cast<std::size_t>(2 * each_way));
    for (std::int64_t n = 0; n < first; ++n) passes.push_back(nth_pass(parallel, true, n));
    for (std::int64_t n = first; n < each_way; ++n) {
        passes.push_back(nth_pass(parallel, true, n));
        passes.push_back(nth_pass(parallel, false, n - first));
    }
    for (std::int64_t n = each_way - first; n < each_way; ++n)
        passes.push_back(nth_pass(parallel, false, n));
    return passes;
}

}  // namespace gradcoll::mover
