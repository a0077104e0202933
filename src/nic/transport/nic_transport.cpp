// nic/transport/nic_transport.cpp - messages that leave a host go by the NIC agents of hosts.
#include <atomic>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "nic/directory.hpp"
#include "nic/transport/nic_meeting.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

void say_once_that_there_are_none(const Status& why) {
    static std::atomic<bool> said{false};
    log(said.exchange(true) ? LogLevel::debug : warn_once_a_job(),
        "GC_NIC: messages go directly: {}", why.message());
}

/// Shorter messages lose more by the wake-ups of two agents than ranks gain (docs/nic.md, "What it
/// costs").
constexpr std::size_t nic_short_bytes = std::size_t{256} << 10;

bool is_wanted(const ChannelOptions& options) {
    return options.nic.use != NicUse::off;
}

/// Offers a channel by the agents, or nothing. Without agents there is nothing to refuse: other
/// transports reach everybody.
Result<Offer> offer_nic(const OfferRequest& request) {
    if (!is_wanted(request.options)) return Offer();
    NicPlacement placement = GRADCOLL_VALUE(nic_placement(request.comm));
    if (placement.host_count() == 1) return Offer();
    placement.directory = nic_directory(option_text(OptionId::nic_dir));
    placement.starts_agent = request.options.nic.use == NicUse::on_demand;
    const std::size_t least_summed_bytes =
        request.options.nic.sums ? nic_short_bytes * placement.host_count() : 0;
    Offer offer;
    if (const Status met =
            take(offer.channel, make_nic_channel(request.comm, placement, least_summed_bytes));
        !met.ok()) {
        say_once_that_there_are_none(met);
        return Offer();
    }
    const int rank = offer.channel->rank();
    for (int peer = 0; peer < offer.channel->rank_count(); ++peer)
        offer.places.push_back(placement.are_together(rank, peer) ? -1 : peer);
    return offer;
}

}  // namespace

const Transport& nic_transport() {
    static const Transport row{
        .name = "nic",
        .description = "the NIC agents gc_nicd, to ranks of other hosts (GC_NIC)",
        .offer = offer_nic,
        .short_bytes = nic_short_bytes};
    return row;
}

}  // namespace gradcoll
