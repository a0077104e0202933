// peers/staged.hpp - a peer that knows host memory only, for vectors that lie elsewhere.
#pragma once

#include <memory>

#include "memory.hpp"
#include "peers/peer.hpp"

namespace gradcoll::bench {

/// Returns the peer for vectors in `memory`, of at most max_bytes. It does what a user without
/// device support does: copy to pinned host memory, call, copy back. Returns the peer itself if
/// `memory` is the host's.
std::unique_ptr<Peer> within_reach(std::unique_ptr<Peer> peer, Memory& memory,
                                   const Element& element, std::size_t max_bytes);

}  // namespace gradcoll::bench
