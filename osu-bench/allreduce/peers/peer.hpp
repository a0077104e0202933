// peers/peer.hpp - what GC_Allreduce is compared with. There is one file for each peer; the build
// takes those whose library it found (scripts/cmake/GradcollPeers.cmake) and writes the registry.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"

namespace gradcoll::bench {

struct PeerWorkload {
    const Element* element = nullptr;
    std::string op;
    bool in_place = false;
    std::size_t min_bytes = 0;  ///< bytes of the shortest vector
    double error_bound = 1e-3;  ///< for one compression, for peers that compress
};

/// A Peer is an allreduce over MPI_COMM_WORLD. Making, calling and destroying it is collective; it
/// ends the job if the peer's library reports an error. Destroy it before MPI_Finalize.
class Peer {
  public:
    Peer() = default;
    virtual ~Peer() = default;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    /// Sums `count` elements; `send` is MPI_IN_PLACE for a workload in place. Blocks.
    virtual void allreduce(const void* send, void* recv, std::size_t count) = 0;
    /// Returns function, library and version, for the table's head.
    virtual std::string description() const = 0;
};

struct PeerKind {
    std::string_view name;  ///< as given to --peer
    /// Returns why the peer cannot do this, or nothing.
    std::optional<std::string> (*refusal)(const PeerWorkload& workload);
    std::unique_ptr<Peer> (*make)(const PeerWorkload& workload);
};

struct MissingPeer {
    std::string_view name;
    std::string_view reason;
};

/// Return the peers that this build has, "mpi" first, and those that it lacks.
const std::vector<PeerKind>& peer_kinds();
const std::vector<MissingPeer>& missing_peers();

/// Returns null if this build has no such peer.
const PeerKind* find_peer(std::string_view name);
/// Returns "mpi; not in this build: ucc (why), ..." for --help and for the message that refuses a
/// name.
std::string peers_of_this_build();

/// Returns the first line of what the MPI library says about itself, up to its package details.
std::string mpi_library();
[[noreturn]] void end_job(const std::string& message);

}  // namespace gradcoll::bench
