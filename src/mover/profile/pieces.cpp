// mover/profile/pieces.cpp - see pieces.hpp.
#include "mover/profile/pieces.hpp"

#include <unordered_map>

namespace gradcoll::mover {

std::vector<Piece> pieces_of(const Trace& trace) {
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
