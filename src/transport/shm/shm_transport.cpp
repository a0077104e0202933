// transport/shm/shm_transport.cpp - the ranks of a host meet in a segment.
#include <algorithm>

#include "base/mpi/mpi.hpp"
#include "transport/routed/transport.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/meetings.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t usual_cells_bytes = std::size_t{2} << 20;
constexpr std::size_t most_cells_of_a_host = std::size_t{64} << 20;
constexpr std::size_t least_cells_bytes = std::size_t{128} << 10;
/// Below this size copies through cells are faster (transport/shm/README.md has the figures).
constexpr std::size_t least_read_bytes = std::size_t{512} << 10;

std::size_t cells_bytes_of(const ChannelOptions& options, int ranks_here) {
    if (options.cells_bytes) return std::max(*options.cells_bytes, least_cells_bytes);
    return std::clamp(most_cells_of_a_host / static_cast<std::size_t>(ranks_here),
                      least_cells_bytes, usual_cells_bytes);
}

/// Offers a channel to the ranks of the host, which all end alike.
Result<Offer> offer_shm(const OfferRequest& request) {
    if (request.options.cells_bytes == std::size_t{0}) return Offer();
    const HostComm host = GRADCOLL_VALUE(HostComm::make(request.comm));
    if (host.size == 1) return Offer();
    const std::size_t cells = cells_bytes_of(request.options, host.size);
    Offer made;
    made.channel = GRADCOLL_VALUE(meet(host, {ShmLayout::bytes_a_rank_for(host.size, cells),
                                              request.options.read_peers ? least_read_bytes : 0}));
    made.places.assign(request.wanted.size(), -1);
    for (int place = 0; place < host.size; ++place)
        made.places[static_cast<std::size_t>(host.ranks[static_cast<std::size_t>(place)])] = place;
    return made;
}

}  // namespace

const Transport& shm_transport() {
    static const Transport row{.name = shm_transport_name,
                               .description = "the memory that the ranks of a host share",
                               .offer = offer_shm};
    return row;
}

}  // namespace gradcoll
