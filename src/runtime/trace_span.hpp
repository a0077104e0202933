// runtime/trace_span.hpp - what a trace is made of.
#pragma once

#include <cstdint>

namespace gradcoll {

/// TraceSpan is one span of time on one rank.
struct TraceSpan {
    const char* name = "";  ///< static: "encode", "send", "recv", "decode", "reduce", "submit"...
    std::uint64_t begin_ns = 0;  ///< now_ns()
    std::uint64_t end_ns = 0;
    std::uint64_t bytes = 0;
    int peer = -1;   ///< rank in the communicator; -1: none
    int level = -1;  ///< level of the tree; -1: none
    std::int64_t chunk = -1;
    /// This is the number of the operation on its communicator, or, in a span of a gradient, of the
    /// sum in its process.
    std::uint32_t operation = 0;
    std::uint32_t label = 0;  ///< from Trace::label(): shown instead of `name`; 0: none
};

}  // namespace gradcoll
