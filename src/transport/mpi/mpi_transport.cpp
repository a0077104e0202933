// transport/mpi/mpi_transport.cpp - messages of the MPI library reach every rank.
#include <numeric>
#include <utility>

#include "transport/mpi/mpi_channel.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

Result<Offer> offer_mpi(const OfferRequest& request) {
    Offer offer;
    offer.channel = GRADCOLL_VALUE(MpiChannel::make(request.comm, request.options.peers));
    offer.places.resize(request.wanted.size());
    std::iota(offer.places.begin(), offer.places.end(), 0);
    return offer;
}

}  // namespace

const Transport& mpi_transport() {
    static const Transport row{.name = "mpi",
                               .description = "messages of the MPI library, to all ranks",
                               .is_last_resort = true,
                               .offer = offer_mpi};
    return row;
}

}  // namespace gradcoll
