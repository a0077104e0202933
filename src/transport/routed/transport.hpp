// transport/routed/transport.hpp - what a transport is: a row of the table in
// src/transport/CMakeLists.txt. src/transport/README.md shows how to add one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"
#include "transport/routed/transport_choice.hpp"

namespace gradcoll {

struct ChannelOptions {
    /// Memory that every rank shares with its host for bytes on their way; none: 2 MiB, but 64 MiB
    /// for a host; 0: no memory may be shared.
    std::optional<std::size_t> cells_bytes = {};
    /// Whether receivers may read large messages from their senders' memory where the system
    /// permits it.
    bool read_peers = true;
    TransportChoice transports = {};
    NicChoice nic = {};
};

/// What a transport is asked.
struct OfferRequest {
    MPI_Comm comm;  ///< as for make_channel()
    /// By rank of `comm`: no transport before this one reaches it. Others need not be offered.
    const std::vector<bool>& wanted;
    const ChannelOptions& options;
};

/// What a transport offers this rank.
struct Offer {
    std::unique_ptr<Channel> channel;  ///< null: it reaches nobody
    /// By rank of the communicator: who that is on `channel`; -1: not reached. Empty likewise.
    std::vector<int> places;
};

/// A folder's extension.cmake says gradcoll_extension(transport NAME SOURCES ...), and one of the
/// sources defines `const Transport& NAME_transport();` in namespace gradcoll.
struct Transport {
    std::string_view name;  ///< as people write it in GC_TRANSPORTS
    std::string_view description;
    /// Reaches every rank, so it is asked after all others, wherever its row is.
    bool is_last_resort = false;
    /// Collective over the communicator; options are the same on all ranks. If a rank reaches a
    /// peer, that peer reaches it; mostly each reaches itself, too. The channel outlives
    /// everything that the offer was made from but the communicator. A Status refuses: then no
    /// rank goes this way, and all ranks of the call must still have left it.
    Result<Offer> (*offer)(const OfferRequest& request) = nullptr;
    /// Whether it may reach somebody with these options; null: always. Others are not asked.
    bool (*is_wanted)(const ChannelOptions& options) = nullptr;
    /// Operations whose messages are shorter take another transport where there is one: this one
    /// takes longer for them. The same in all processes.
    std::size_t short_bytes = 0;
};

}  // namespace gradcoll
