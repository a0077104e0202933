// mover/profile/pieces.hpp - pieces of memory, from an allocation in a trace to its end.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
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

inline std::vector<Piece> pieces_of(const Trace& trace) {
    std::vector<Piece> pieces;
    std::unordered_map<std::int64_t, std::size_t> open;
    for (std::size_t n = 0; n < trace.memory.size(); ++n) {
        const TraceMemory& change = trace.memory[n];
        if (change.bytes > 0) {
            open[change.address] = pieces.size();
            pieces.push_back({.from_us = change.at_us, .bytes = change.bytes, .first_change = n});
            continue;
        }
        const auto found = open.find(change.address);
        if (found == open.end()) {
            pieces.push_back({.to_us = change.at_us, .bytes = -change.bytes, .last_change = n});
            continue;
        }
        pieces[found->second].to_us = change.at_us;
        pieces[found->second].last_change = n;
        open.erase(found);
    }
    return pieces;
}

}  // namespace gradcoll::mover
