#include "transport/routed/routed_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace gradcoll {
namespace {

/// After this many idle polls the MPI library looks after its own messages once, which costs it
/// about as much as all of them.
constexpr unsigned idle_polls_a_probe = 16;

/// A RoutedLane is one lane for all ways: a message takes that of its peer.
class RoutedLane final : public Lane {
  public:
    /// Opens a lane of each way with room for `capacity` messages: one may get all of them.
    RoutedLane(RoutedChannel& channel, const std::vector<PeerRoute>& routes, std::size_t capacity)
        : channel_(channel), routes_(routes), capacity_(capacity), ways_(channel.ways().size()) {
        for (std::size_t way = 0; way < ways_.size(); ++way)
            ways_[way].lane = channel.ways()[way].channel->open_lane(capacity);
        for (const PeerRoute& route : routes_)
            if (route.way >= 0) {
                const auto way = static_cast<std::size_t>(route.way);
                ways_[way].drives_mpi |=
                    channel.ways()[way].channel->capabilities(route.place).drives_mpi;
            }
    }

    ~RoutedLane() override {
        for (std::size_t way = 0; way < ways_.size(); ++way)
            channel_.add_traffic(way, ways_[way].sent);
    }
    RoutedLane(const RoutedLane&) = delete;
    RoutedLane& operator=(const RoutedLane&) = delete;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        return start_short_send(peer, tag, data, size_bytes, size_bytes, cookie);
    }

    Status start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                            std::size_t whole_bytes, std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const PeerRoute& route = route_to(peer);
        OpenWay& way = ways_[static_cast<std::size_t>(route.way)];
        ++way.sent.messages;
        way.sent.bytes += size_bytes;
        return way.lane->start_short_send(route.place, tag, data, size_bytes, whole_bytes, cookie);
    }

    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const PeerRoute& route = route_to(peer);
        return ways_[static_cast<std::size_t>(route.way)].lane->start_recv(route.place, tag, data,
                                                                           size_bytes, cookie);
    }

    Status start_coded_send(int peer, int tag, std::span<const ElementRun> runs, const Codec& codec,
                            std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const PeerRoute& route = route_to(peer);
        OpenWay& way = ways_[static_cast<std::size_t>(route.way)];
        ++way.sent.messages;
        for (const ElementRun& run : runs) way.sent.bytes += run.size_bytes;
        return way.lane->start_coded_send(route.place, tag, runs, codec, cookie);
    }

    Status start_coded_recv(int peer, int tag, const CodedRoom& room, const Codec& codec,
                            std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const PeerRoute& route = route_to(peer);
        return ways_[static_cast<std::size_t>(route.way)].lane->start_coded_recv(
            route.place, tag, room, codec, cookie);
    }

    void cut_messages(std::vector<int> peers, CutEnd end) override {
        for (std::size_t way = 0; way < ways_.size(); ++way) {
            std::vector<int> places;
            for (const int peer : peers)
                if (const auto& route = route_to(peer); route.way == static_cast<int>(way))
                    places.push_back(route.place);
            std::sort(places.begin(), places.end());
            if (!places.empty()) ways_[way].lane->cut_messages(std::move(places), end);
        }
    }

    Result<std::size_t> poll(std::span<Completion> out) override {
        std::size_t count = 0;
        std::size_t way = first_;
        for (std::size_t polled = 0; polled < ways_.size(); ++polled) {
            const Result<std::size_t> more = ways_[way].lane->poll(out.subspan(count));
            if (!more.ok()) return more;
            count += *more;
            if (++way == ways_.size()) way = 0;
        }
        if (++first_ == ways_.size()) first_ = 0;
        if (count == 0 && !mpi_is_driven()) GRADCOLL_TRY(let_mpi_progress());
        return count;
    }

    /// Rests in the only busy way, since only one at a time can wake it.
    bool rest(std::chrono::microseconds longest) override {
        const auto is_busy = [](const OpenWay& way) { return way.lane->in_flight() > 0; };
        const auto busy = std::find_if(ways_.begin(), ways_.end(), is_busy);
        return busy != ways_.end() && std::none_of(busy + 1, ways_.end(), is_busy) &&
               busy->lane->rest(longest);
    }

    std::size_t in_flight() const override {
        std::size_t count = 0;
        for (const OpenWay& way : ways_) count += way.lane->in_flight();
        return count;
    }

    void abandon() override {
        for (OpenWay& way : ways_) way.lane->abandon();
    }

  private:
    struct OpenWay {
        std::unique_ptr<Lane> lane;
        bool drives_mpi = false;
        RoutedChannel::Traffic sent;
    };

    const PeerRoute& route_to(int peer) const { return routes_[static_cast<std::size_t>(peer)]; }

    Status admit(int peer, int tag) const {
        if (in_flight() == capacity_) return lane_full(capacity_);
        GRADCOLL_TRY(check_envelope(channel_, peer, tag));
        if (route_to(peer).way >= 0) return {};
        return {Code::invalid_argument,
                fmt::format("peer: no transport in use reaches rank {} from rank {}", peer,
                            channel_.rank())};
    }

    bool mpi_is_driven() const {
        return std::any_of(ways_.begin(), ways_.end(), [](const OpenWay& way) {
            return way.drives_mpi && way.lane->in_flight() > 0;
        });
    }

    Status let_mpi_progress() {
        if (++idle_polls_ % idle_polls_a_probe != 0) return {};
        int found = 0;
        return from_mpi(
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel_.comm(), &found, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
    }

    RoutedChannel& channel_;
    const std::vector<PeerRoute>& routes_;  ///< one per rank
    std::size_t capacity_;
    std::vector<OpenWay> ways_;  ///< one for each way of the channel
    std::size_t first_ =
        0;  ///< first way in the next poll: none starves where there is little room
    unsigned idle_polls_ = 0;  ///< how many had no message that drives MPI under way
};

}  // namespace

std::vector<PeerRoute> routes_by(const std::vector<PartialChannel>& ways, int rank_count) {
    std::vector<PeerRoute> routes(static_cast<std::size_t>(rank_count));
    for (std::size_t rank = 0; rank < routes.size(); ++rank)
        for (std::size_t way = 0; way < ways.size() && routes[rank].way < 0; ++way)
            if (const int place = ways[way].places[rank]; place >= 0)
                routes[rank] = {static_cast<int>(way), place};
    return routes;
}

std::vector<PeerRoute> short_routes_by(const std::vector<PartialChannel>& ways, int rank_count) {
    std::vector<PeerRoute> routes = routes_by(ways, rank_count);
    for (std::size_t rank = 0; rank < routes.size(); ++rank)
        for (std::size_t way = ways.size(); way-- > 0;)
            if (const int place = ways[way].places[rank]; place >= 0 && ways[way].short_bytes == 0)
                routes[rank] = {static_cast<int>(way), place};
    return routes;
}

RoutedChannel::RoutedChannel(MPI_Comm comm, std::vector<PartialChannel> ways, int tag_limit)
    : comm_(comm), ways_(std::move(ways)), sums_(ways_.size()), tag_limit_(tag_limit) {
    int size = 1;
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size);
    routes_ = routes_by(ways_, size);
    short_routes_ = short_routes_by(ways_, size);
    for (const PartialChannel& way : ways_) short_bytes_ = std::max(short_bytes_, way.short_bytes);
}

/// Warns once in every process; what was carried later, and had nothing to complain of, does not
/// count.
void RoutedChannel::tell_unused(const std::string& why) const {
    static std::atomic<bool> is_told{false};
    for (const PartialChannel& way : ways_)
        if (way.short_bytes > 0 && !is_told.exchange(true))
            log(warn_once_a_job(), "messages do not go by {}: {}", way.name, why);
}

/// Tells of ways that were asked for, take no short messages, and have had no others, here or
/// before. Such a way may also have added vectors.
void RoutedChannel::tell_of_unused_ways() {
    static std::atomic<bool> any_used{false};
    const bool any_sent =
        std::any_of(sums_.begin(), sums_.end(), [](const Sums& sums) { return sums.messages > 0; });
    for (std::size_t way = 0; way < ways_.size(); ++way)
        if (ways_[way].short_bytes > 0 && sums_[way].messages > 0) any_used = true;
    if (any_sent && !any_used && vector_sums() == nullptr)
        tell_unused(
            fmt::format("all of a communicator of {} ranks had less than {} bytes of "
                        "elements",
                        rank_count(), short_bytes_));
}

RoutedChannel::~RoutedChannel() {
    if (short_bytes_ > 0) tell_of_unused_ways();
    for (std::size_t way = 0; way < ways_.size(); ++way)
        log(LogLevel::debug, "rank {} sent by {}: {} messages, {} bytes", rank_, ways_[way].name,
            sums_[way].messages.load(), sums_[way].bytes.load());
}

Capabilities RoutedChannel::capabilities(int peer) const {
    const PeerRoute& route = route_to(peer);
    if (route.way < 0) return {};
    return ways_[static_cast<std::size_t>(route.way)].channel->capabilities(route.place);
}

std::unique_ptr<Lane> RoutedChannel::open_lane(std::size_t capacity) {
    return std::make_unique<RoutedLane>(*this, routes_, capacity);
}

/// Returns the sums of the first way that has them: they are those of all ranks.
VectorSums* RoutedChannel::vector_sums() {
    for (const PartialChannel& way : ways_)
        if (VectorSums* const sums = way.channel->vector_sums(); sums != nullptr) return sums;
    return nullptr;
}

std::unique_ptr<Lane> RoutedChannel::open_short_lane(std::size_t capacity) {
    return std::make_unique<RoutedLane>(*this, short_routes_, capacity);
}

void RoutedChannel::add_traffic(std::size_t way, const Traffic& sent) {
    sums_[way].messages += sent.messages;
    sums_[way].bytes += sent.bytes;
}

}  // namespace gradcoll
