// mover/profile/pieces.hpp - pieces of memory, from an allocation in a trace to its end.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

inline constexpr double never_us = std::numeric_limits<double>::infinity();

struct Piece {
    double from_us = -never_us;  ///< before the trace, if its allocation is not there
    double to_us = never_us;
    std::int64_t bytes = 0;
    std::size_t first_change = 0, last_change = 0;  ///< indices in the trace's memory events

    bool began_in_trace() const { return from_us > -never_us; }
    bool ended_in_trace() const { return to_us < never_us; }
};

std::vector<Piece> pieces_of(const Trace& trace);

}  // namespace gradcoll::mover
