// transport/routed/make_channel.hpp - the best channel that a communicator can have.
#pragma once

#include <cstddef>
#include <memory>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

struct ChannelOptions {
    /// Of every rank, for bytes on their way; 0: 2 MiB, but 64 MiB for a host.
    std::size_t cells_bytes = 0;
    /// Whether receivers may read large messages from their senders' memory where the system
    /// permits it.
    bool read_peers = true;
};

/// Collective over `comm`, a private duplicate with MPI_ERRORS_RETURN that must outlive the
/// channel; the same options on all ranks. Ranks of one host meet in shared memory. If a host has
/// none to give, all ranks of all hosts use MPI alone, and the log says why. Errors: those of
/// MpiChannel::make; transport.
Result<std::unique_ptr<Channel>> make_channel(MPI_Comm comm, const ChannelOptions& options = {});

}  // namespace gradcoll
