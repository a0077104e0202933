// transport/shm/cells.hpp - which of a rank's own cells hold bytes on their way, and for whom.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "transport/shm/layout.hpp"

namespace gradcoll {

/// A CellPool gives out runs of adjacent cells. Low cells come first, so that those in use stay in
/// the caches. Some are kept for messages that have met their receive: what nobody asks for yet
/// cannot stop what somebody waits for. Thread safe only from outside.
class CellPool {
  public:
    enum class Purpose : std::uint8_t { unasked, asked };
    /// Unasked messages may hold at most this many cells.
    static constexpr int unasked_cells = 48;

    struct Run {
        std::uint32_t first = 0;
        int count = 0;
    };

    /// Takes `count` adjacent cells for bytes to `peer`; none if there are not that many.
    std::optional<Run> take(int count, int peer, Purpose purpose);
    /// Takes as many adjacent cells as there are, up to `count`; none if there are none.
    std::optional<Run> take_up_to(int count, int peer, Purpose purpose);
    /// Frees the run that begins in `cell` if `peer` has it; else returns false.
    bool give_back(std::uint32_t cell, int peer);

  private:
    struct Held {
        int peer = -1;
        int count = 0;
    };

    std::uint64_t free_ = ~std::uint64_t{0};
    std::array<Held, ShmLayout::cell_count> held_ = {};
};

}  // namespace gradcoll
