// case.hpp - one size of one codec: measured beside its peer, and checked.
#pragma once

#include <cstddef>
#include <span>

#include "options.hpp"
#include "peers/peer.hpp"
#include "row.hpp"
#include "subject.hpp"

namespace gradcoll::bench {

/// Who takes turns, and on what.
struct Contest {
    const Options& options;
    const Subject& subject;
    Peer& peer;
    std::span<const std::byte> input;  ///< as long as the largest size
};

/// Collective; the same row on every rank. The peer runs on MPI_COMM_WORLD.
Row measure(const Contest& contest, std::size_t size_bytes);

}  // namespace gradcoll::bench
