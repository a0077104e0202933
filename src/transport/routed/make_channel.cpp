#include "transport/routed/make_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "transport/routed/routed_channel.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

/// Judgement is what ranks think of an offer: one rank, or all of them added up.
struct Judgement {
    std::uint64_t refusing = 0;   ///< how many ranks refuse
    std::uint64_t one_sided = 0;  ///< a checksum: 0 if whoever reaches a rank is reached by it
    // These count pairs that have no way yet if the offer is taken; each pair counts for both of
    // its ranks.
    std::uint64_t missing = 0;
    std::uint64_t missing_self = 0;
};

Result<Judgement> judgement_of_all(MPI_Comm comm, const Judgement& mine) {
    const std::array own{mine.refusing, mine.one_sided, mine.missing, mine.missing_self};
    const auto sums = GRADCOLL_VALUE(combined(comm, MPI_SUM, own));
    return Judgement{sums[0], sums[1], sums[2], sums[3]};
}

/// Keeps only those ways by which this rank goes to some rank.
std::vector<PartialChannel> ways_in_use(std::vector<PartialChannel> ways, int rank_count) {
    std::vector<bool> used(ways.size());
    for (const auto& routes : {routes_by(ways, rank_count), short_routes_by(ways, rank_count)})
        for (const PeerRoute& route : routes)
            if (route.way >= 0) used[static_cast<std::size_t>(route.way)] = true;
    std::vector<PartialChannel> kept;
    for (std::size_t way = 0; way < ways.size(); ++way)
        if (used[way]) kept.push_back(std::move(ways[way]));
    return kept;
}

/// Returns whether the way can do without what a RoutedChannel adds: ranks are called there as
/// here, and the MPI library is served.
bool stands_alone(const PartialChannel& way, int tag_limit) {
    const Channel& channel = *way.channel;
    if (channel.rank_count() != static_cast<int>(way.places.size())) return false;
    for (int rank = 0; rank < channel.rank_count(); ++rank)
        if (way.places[static_cast<std::size_t>(rank)] != rank ||
            !channel.capabilities(rank).drives_mpi)
            return false;
    return channel.tag_limit() == tag_limit;
}

/// Logs "to 3 ranks by shm (encodes by itself)", for each way of this rank.
void log_ways(const std::vector<PartialChannel>& ways, int rank, int rank_count) {
    const std::vector<PeerRoute> routes = routes_by(ways, rank_count);
    for (std::size_t way = 0; way < ways.size(); ++way) {
        int peers = 0;
        bool encodes = false;
        for (int peer = 0; peer < rank_count; ++peer) {
            const PeerRoute& route = routes[static_cast<std::size_t>(peer)];
            if (peer == rank || route.way != static_cast<int>(way)) continue;
            ++peers;
            encodes |= ways[way].channel->capabilities(route.place).encodes_by_itself;
        }
        if (peers > 0 || ways[way].short_bytes > 0)
            log(LogLevel::info, "messages of rank {} to {} {} go by {}{}{}", rank, peers,
                peers == 1 ? "rank" : "ranks", ways[way].name,
                encodes ? " (encodes by itself)" : "",
                ways[way].short_bytes > 0
                    ? fmt::format(", but those of less than {} bytes", ways[way].short_bytes)
                    : "");
    }
}

/// Offers asks one transport after another, and keeps what they offer.
class Offers {
  public:
    explicit Offers(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_size(comm, &rank_count_);
        PMPI_Comm_rank(comm, &rank_);
        wanted_.assign(static_cast<std::size_t>(rank_count_), true);
    }

    /// Returns whether every rank reaches all ranks, itself included, and with short messages, too.
    bool complete() const {
        return missing_.missing == 0 && missing_.missing_self == 0 && !lacks_short_ways_;
    }
    /// Returns whether every rank reaches all others. A rank needs no way to itself: plans have no
    /// such messages.
    bool sufficient() const { return missing_.missing == 0; }

    Status ask(const Transport& row, const ChannelOptions& options) {
        Result<Offer> offer = row.offer({comm_, wanted_, options});
        if (offer.ok() && !offer->channel) offer->places.assign(wanted_.size(), -1);
        const Judgement all = GRADCOLL_VALUE(judgement_of_all(comm_, judgement_of(offer)));
        if (all.refusing > 0) return tell_refusal(row, offer.status(), options);
        if (all.one_sided != 0) {
            log(rank_ == 0 ? LogLevel::warn : LogLevel::debug,
                "messages do not go by {}: it reaches some ranks from one side only", row.name);
            return {};
        }
        missing_ = all;
        lacks_short_ways_ |= row.short_bytes > 0;
        accept(row, std::move(*offer));
        return {};
    }

    /// Returns the error for the lowest pair without a way, the same on every rank.
    Status unreached(const ChannelOptions& options) const {
        std::int64_t pair = std::numeric_limits<std::int64_t>::max();
        for (int peer = rank_count_; peer-- > 0;)
            if (peer != rank_ && wanted_[static_cast<std::size_t>(peer)])
                pair = std::int64_t{rank_} * rank_count_ + peer;
        pair = GRADCOLL_VALUE(combined(comm_, MPI_MIN, pair));
        return {Code::invalid_argument,
                fmt::format("GC_TRANSPORTS={}: no way leads from rank {} to rank {}; all ranks "
                            "must reach each other, as they do by {}",
                            options.transports.text(), pair / rank_count_, pair % rank_count_,
                            last_resort_names())};
    }

    Result<std::unique_ptr<Channel>> channel() && {
        int limit = std::numeric_limits<int>::max();
        for (const PartialChannel& way : ways_) limit = std::min(limit, way.channel->tag_limit());
        const int tag_limit = GRADCOLL_VALUE(combined(comm_, MPI_MIN, limit));
        std::vector<PartialChannel> ways = ways_in_use(std::move(ways_), rank_count_);
        if (rank_ == 0 && rank_count_ > 1) log_ways(ways, rank_, rank_count_);
        if (ways.size() == 1 && stands_alone(ways.front(), tag_limit))
            return std::move(ways.front().channel);
        return std::unique_ptr<Channel>(
            std::make_unique<RoutedChannel>(comm_, std::move(ways), tag_limit));
    }

  private:
    Judgement judgement_of(const Result<Offer>& offer) const {
        Judgement mine;
        mine.refusing = offer.ok() ? 0 : 1;
        for (int peer = 0; offer.ok() && peer < rank_count_; ++peer) {
            const auto at = static_cast<std::size_t>(peer);
            const bool reached = offer->places[at] >= 0;
            if (reached && peer != rank_) mine.one_sided += signed_name_of_pair(peer);
            if (!reached && wanted_[at]) ++(peer == rank_ ? mine.missing_self : mine.missing);
        }
        return mine;
    }

    /// Returns a number that what the peer adds takes away again.
    std::uint64_t signed_name_of_pair(int peer) const {
        const std::uint64_t name =
            Hash().value(std::min(rank_, peer)).value(std::max(rank_, peer)).digest();
        return rank_ < peer ? name : 0 - name;
    }

    void accept(const Transport& row, Offer offer) {
        if (!offer.channel) return;
        for (std::size_t peer = 0; peer < wanted_.size(); ++peer)
            if (offer.places[peer] >= 0) wanted_[peer] = false;
        ways_.push_back(
            {row.name, std::move(offer.channel), std::move(offer.places), row.short_bytes});
    }

    /// Logs why ranks refused a transport. One of these ranks does it, and aloud only once in a
    /// process if somebody has named the transport.
    Status tell_refusal(const Transport& row, const Status& mine,
                        const ChannelOptions& options) const {
        static std::atomic<bool> is_told{false};
        const int own = mine.ok() ? rank_count_ : rank_;
        const int teller = GRADCOLL_VALUE(combined(comm_, MPI_MIN, own));
        if (teller != rank_) return {};
        const bool warns = !options.transports.allows_all() && !is_told.exchange(true);
        log(warns ? LogLevel::warn : LogLevel::info, "messages do not go by {}: {}", row.name,
            mine.message());
        return {};
    }

    MPI_Comm comm_;
    int rank_ = 0;
    int rank_count_ = 1;
    std::vector<bool> wanted_;  ///< one per rank: whether no way reaches it yet
    Judgement missing_{.missing = 1};
    bool lacks_short_ways_ = false;  ///< whether the last resort is to be asked, too
    std::vector<PartialChannel> ways_;
};

}  // namespace

Result<std::unique_ptr<Channel>> make_channel_of(MPI_Comm comm,
                                                 std::span<const Transport* const> rows,
                                                 const ChannelOptions& options) {
    Offers offers(comm);
    for (const Transport* row : rows)
        if (!offers.complete()) GRADCOLL_TRY(offers.ask(*row, options));
    if (!offers.sufficient()) return offers.unreached(options);
    return std::move(offers).channel();
}

namespace {

/// Warns once in a job.
void tell_if_agents_are_left_out(const ChannelOptions& options) {
    static std::atomic<bool> is_told{false};
    if (options.nic.use == NicUse::off || options.transports.allows("nic")) return;
    log(is_told.exchange(true) ? LogLevel::debug : warn_once_a_job(),
        "GC_NIC: messages go directly: GC_TRANSPORTS={} does not name nic",
        options.transports.text());
}

}  // namespace

Result<std::unique_ptr<Channel>> make_channel(MPI_Comm comm, const ChannelOptions& options) {
    tell_if_agents_are_left_out(options);
    std::vector<const Transport*> allowed;
    for (const Transport* row : transport_table())
        if (options.transports.allows(row->name) && (!row->is_wanted || row->is_wanted(options)))
            allowed.push_back(row);
    return make_channel_of(comm, allowed, options);
}

}  // namespace gradcoll
