#include "transport/routed/routed_channel.hpp"

#include <utility>

namespace gradcoll {
namespace {

/// Idle polls for one look of the MPI library after its own messages, which costs it about as much
/// as all of them.
constexpr unsigned idle_polls_a_probe = 16;

/// One lane for all ways: a message takes that of its peer.
class RoutedLane final : public Lane {
  public:
    struct Ways {
        std::unique_ptr<Lane> inside;   ///< the host
        std::unique_ptr<Lane> between;  ///< hosts
        MPI_Comm comm;                  ///< what `between` uses
    };

    /// Both lanes have room for `capacity` messages: either may get all of them.
    RoutedLane(const RoutedChannel& channel, Ways ways, std::size_t capacity)
        : channel_(channel), ways_(std::move(ways)), capacity_(capacity) {}

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const int place = channel_.place_of(peer);
        return place >= 0 ? ways_.inside->start_send(place, tag, data, size_bytes, cookie)
                          : ways_.between->start_send(peer, tag, data, size_bytes, cookie);
    }

    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        const int place = channel_.place_of(peer);
        return place >= 0 ? ways_.inside->start_recv(place, tag, data, size_bytes, cookie)
                          : ways_.between->start_recv(peer, tag, data, size_bytes, cookie);
    }

    void cut_messages(std::vector<int> peers, CutEnd end) override {
        ways_.between->cut_messages(std::move(peers), end);
    }

    Result<std::size_t> poll(std::span<Completion> out) override {
        Lane& first = between_first_ ? *ways_.between : *ways_.inside;
        Lane& second = between_first_ ? *ways_.inside : *ways_.between;
        between_first_ = !between_first_;
        const Result<std::size_t> early = first.poll(out);
        if (!early.ok()) return early;
        const Result<std::size_t> late = second.poll(out.subspan(*early));
        if (!late.ok()) return late;
        const std::size_t count = *early + *late;
        if (count == 0 && ways_.between->in_flight() == 0) GRADCOLL_TRY(let_mpi_progress());
        return count;
    }

    std::size_t in_flight() const override {
        return ways_.inside->in_flight() + ways_.between->in_flight();
    }
    void abandon() override {
        ways_.inside->abandon();
        ways_.between->abandon();
    }

  private:
    Status admit(int peer, int tag) const {
        if (in_flight() == capacity_) return lane_full(capacity_);
        return check_envelope(channel_, peer, tag);
    }

    Status let_mpi_progress() {
        if (++idle_polls_ % idle_polls_a_probe != 0) return {};
        int found = 0;
        return from_mpi(
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ways_.comm, &found, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
    }

    const RoutedChannel& channel_;
    Ways ways_;
    std::size_t capacity_;
    bool between_first_ = false;  ///< in the next poll: neither starves where there is little room
    unsigned idle_polls_ = 0;     ///< without any message between hosts
};

}  // namespace

Result<std::unique_ptr<RoutedChannel>> RoutedChannel::make(std::unique_ptr<MpiChannel> mpi,
                                                           Host host, PeerMemory memory) {
    std::unique_ptr<RoutedChannel> made(new RoutedChannel(std::move(mpi), std::move(host.segment)));
    made->places_.assign(static_cast<std::size_t>(made->rank_count()), -1);
    for (std::size_t place = 0; place < host.ranks.size(); ++place)
        made->places_[static_cast<std::size_t>(host.ranks[place])] = static_cast<int>(place);
    const SharedSegment& segment = *made->segment_;
    const auto ranks_here = static_cast<int>(host.ranks.size());
    made->shm_ = GRADCOLL_VALUE(
        ShmChannel::make({segment.data(), segment.bytes_a_rank(), host.own_place, ranks_here},
                         std::move(host.ranks), std::move(memory)));
    return made;
}

std::unique_ptr<Lane> RoutedChannel::open_lane(std::size_t capacity) {
    return std::make_unique<RoutedLane>(
        *this, RoutedLane::Ways{shm_->open_lane(capacity), mpi_->open_lane(capacity), mpi_->comm()},
        capacity);
}

}  // namespace gradcoll
