// transport/routed/make_channel.hpp - the best channel that a communicator can have.
#pragma once

#include <memory>
#include <span>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {

/// Makes a channel. Collective over `comm`, a private duplicate with MPI_ERRORS_RETURN that must
/// outlive the channel; the same options on all ranks. The transports of the table that the options
/// allow are asked in turn, until every rank reaches every other; each peer is reached by the first
/// that does. One that a rank cannot offer is left by all ranks, and the log says why. Errors, the
/// same on every rank: invalid_argument if no allowed transport reaches some rank from another;
/// transport.
Result<std::unique_ptr<Channel>> make_channel(MPI_Comm comm, const ChannelOptions& options = {});

/// Makes a channel of a table of one's own, all of whose rows are allowed.
Result<std::unique_ptr<Channel>> make_channel_of(MPI_Comm comm,
                                                 std::span<const Transport* const> rows,
                                                 const ChannelOptions& options = {});

}  // namespace gradcoll
