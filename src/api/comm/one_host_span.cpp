#include "api/comm/one_host_span.hpp"

#include <fmt/format.h>

#include "api/observe/observe.hpp"
#include "base/clock.hpp"
#include "base/units.hpp"
#include "collectives/predict/host_forecast.hpp"

namespace gradcoll {

HostSpan::HostSpan(const HostSpanFacts& facts, const CallShape& shape)
    : facts_(facts), shape_(shape), begin_ns_(process_trace() == nullptr ? 0 : now_ns()) {}

HostSpan::~HostSpan() {
    if (begin_ns_ == 0) return;
    const std::uint64_t bytes = shape_.size_bytes();
    const HostForecast forecast = forecast_host(facts_.tuning, facts_.rank_count,
                                                static_cast<std::int64_t>(bytes), facts_.in_place);
    TraceSpan span;
    span.name = "operation";
    span.begin_ns = begin_ns_;
    span.end_ns = now_ns();
    span.bytes = bytes;
    span.operation = facts_.sequence;
    span.label = process_trace()->label(
        fmt::format("allreduce {} {} shared memory",
                    bytes < 1024 ? fmt::format("{} B", bytes) : bytes_text(bytes),
                    name_of(shape_.type)),
        forecast.total_us());
    process_trace()->add_overlapping(span);
}

}  // namespace gradcoll
