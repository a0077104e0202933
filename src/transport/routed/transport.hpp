// transport/routed/transport.hpp - what a transport is: a row of the table in
// src/transport/CMakeLists.txt; and the table. src/transport/README.md shows how to add one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"
#include "transport/peer_watch.hpp"
#include "transport/routed/transport_choice.hpp"

namespace gradcoll {

struct ChannelOptions {
    /// Every rank shares this much memory with its host for bytes on their way. Without a value it
    /// is 2 MiB, but 64 MiB for a host; 0 means that no memory may be shared.
    std::optional<std::size_t> cells_bytes = {};
    /// If this is set, receivers may read large messages from their senders' memory where the
    /// system permits it.
    bool read_peers = true;
    TransportChoice transports = {};
    NicChoice nic = {};
    /// It knows of ranks that have died; null: nobody looks.
    std::shared_ptr<PeerWatch> peers = {};
};

/// OfferRequest is what a transport is asked.
struct OfferRequest {
    MPI_Comm comm;  ///< the communicator, as for make_channel()
    /// For each rank of `comm` this says that no transport before this one reaches it. Others need
    /// not be offered.
    const std::vector<bool>& wanted;
    const ChannelOptions& options;
};

/// Offer is what a transport offers this rank.
struct Offer {
    std::unique_ptr<Channel> channel;  ///< null: it reaches nobody
    /// This has for each rank of the communicator its number on `channel`; -1 if it is not reached.
    /// It is empty if there is no channel.
    std::vector<int> places;
};

/// A Transport is found by its extension: a folder's extension.cmake says
/// gradcoll_extension(transport NAME SOURCES ...), and one of the sources defines `const Transport&
/// NAME_transport();` in namespace gradcoll.
struct Transport {
    std::string_view name;  ///< the name that people write in GC_TRANSPORTS
    std::string_view description;
    /// A last resort reaches every rank, so it is asked after all others, wherever its row is.
    bool is_last_resort = false;
    /// Offers a channel. Collective over the communicator; options are the same on all ranks. If a
    /// rank reaches a peer, that peer reaches it; mostly each reaches itself, too. The channel
    /// outlives everything that the offer was made from but the communicator. A Status refuses:
    /// then no rank goes this way, and all ranks of the call must still have left it.
    Result<Offer> (*offer)(const OfferRequest& request) = nullptr;
    /// Returns whether it may reach somebody with these options; others are not asked. Null stands
    /// for always.
    bool (*is_wanted)(const ChannelOptions& options) = nullptr;
    /// Operations whose messages are shorter take another transport if there is one, since this one
    /// takes longer for them. It is the same in all processes.
    std::size_t short_bytes = 0;
};

/// Returns the transports in the order in which they are asked: that of the table, last resorts
/// last.
std::span<const Transport* const> transport_table();

/// Returns the names of the rows, "shm, mpi"; last_resort_names() has only those of the last
/// resorts.
std::string transport_names();
std::string last_resort_names();

}  // namespace gradcoll
