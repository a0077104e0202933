// base/engine_figures.hpp - what an engine counts of itself, for the report: the one makes it, the
// other writes it, and neither knows the other.
#pragma once

#include <cstdint>

namespace gradcoll {

/// EngineFigures count since the engine was made, on this rank.
struct EngineFigures {
    std::uint64_t sums = 0;          ///< gradients whose sums have ended, well or not
    std::uint64_t failed = 0;        ///< how many of those failed
    std::uint64_t packed = 0;        ///< how many of those were summed with others
    std::uint64_t packs = 0;         ///< how many packs they were summed in
    std::uint64_t packed_bytes = 0;  ///< what these packs were to send
    std::uint64_t busy_ns = 0;  ///< time while at least one gradient was handed in and not complete
    std::uint64_t waited_ns = 0;  ///< part of that while a thread of the program waited for one
    std::uint64_t held_ns = 0;    ///< time of all sums together, from handed in to their begin ...
    std::uint64_t summed_ns = 0;  ///< ... and from there to their end
    std::uint64_t most_held = 0;  ///< gradients held at one time
    std::uint64_t most_running = 0;   ///< sums running at one time, a pack as one
    std::uint64_t stalls = 0;         ///< stalls that this rank has warned of
    std::uint64_t planned_anew = 0;   ///< times, as links carried something else than was said ...
    double links_carry = 1;           ///< ... the part of it that plans are made for at last
    std::uint64_t told_messages = 0;  ///< messages that this rank has sent to agree with others
    std::uint64_t told_bytes = 0;
};

}  // namespace gradcoll
