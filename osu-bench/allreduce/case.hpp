// case.hpp - one size of one codec: measured together with its peer, and checked.
#pragma once

#include <cstddef>
#include <span>

#include "memory.hpp"
#include "options.hpp"
#include "peers/peer.hpp"
#include "row.hpp"
#include "subject.hpp"

namespace gradcoll::bench {

/// A Contest says who takes turns, and on what data.
struct Contest {
    const Options& options;
    const Subject& subject;
    Peer& peer;
    Memory& memory;
    std::span<const std::byte> input;  ///< in host memory, as long as the largest size
    const void* input_there;           ///< the same in `memory`
};

/// Measures one size. Collective; the same row on every rank. The peer runs on MPI_COMM_WORLD.
Row measure(const Contest& contest, std::size_t size_bytes);

}  // namespace gradcoll::bench
