// api/comm/one_host_span.hpp - an allreduce through shared memory in the trace, with its
// prediction.
#pragma once

#include <cstdint>

#include "api/edge/request.hpp"
#include "collectives/predict/tuning.hpp"

namespace gradcoll {

/// Which call it is.
struct HostSpanFacts {
    const Tuning& tuning;
    int rank_count = 0;
    bool in_place = false;
    std::uint32_t sequence = 0;
};

/// From its making to its end. Nothing without a trace.
class HostSpan {
  public:
    HostSpan(const HostSpanFacts& facts, const CallShape& shape);
    ~HostSpan();
    HostSpan(const HostSpan&) = delete;
    HostSpan& operator=(const HostSpan&) = delete;

  private:
    const HostSpanFacts& facts_;
    const CallShape& shape_;
    std::uint64_t begin_ns_ = 0;  ///< 0: there is no trace
};

}  // namespace gradcoll
