// fifo_transport.cpp - the transport's row of the table, which says whom this rank reaches by named
// pipes.
#include "base/mpi/mpi.hpp"
#include "fifo_channel.hpp"
#include "pipes.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

/// Offers all ranks of the host, including this one. All ranks end every collective call alike.
Result<Offer> offer_pipes(const OfferRequest& request) {
    const HostComm host = GRADCOLL_VALUE(HostComm::make(request.comm));
    if (host.size == 1) return Offer();
    auto pipes = GRADCOLL_VALUE(fifo::make_pipes(host));
    Offer offer;
    offer.channel = std::make_unique<fifo::FifoChannel>(std::move(pipes), host.rank, host.ranks);
    offer.places.assign(request.wanted.size(), -1);
    for (int place = 0; place < host.size; ++place)
        offer.places[static_cast<std::size_t>(host.ranks[static_cast<std::size_t>(place)])] = place;
    return offer;
}

}  // namespace

const Transport& fifo_transport() {
    static const Transport row{
        .name = "fifo", .description = "named pipes inside a host", .offer = offer_pipes};
    return row;
}

}  // namespace gradcoll
