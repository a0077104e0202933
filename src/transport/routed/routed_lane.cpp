#include "transport/routed/routed_lane.hpp"

#include <utility>

namespace gradcoll {
namespace {

/// Idle polls for one look of the MPI library after its own messages, which costs it about as much
/// as all of them.
constexpr unsigned idle_polls_a_probe = 16;

}  // namespace

RoutedLane::RoutedLane(const Channel& channel, Ways ways, std::size_t capacity)
    : channel_(channel), ways_(std::move(ways)), capacity_(capacity) {}

Status RoutedLane::admit(int peer, int tag) const {
    if (in_flight() == capacity_) return lane_full(capacity_);
    return check_envelope(channel_, peer, tag);
}

Status RoutedLane::start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                              std::uint32_t cookie) {
    GRADCOLL_TRY(admit(peer, tag));
    const int place = place_of(peer);
    return place >= 0 ? ways_.inside->start_send(place, tag, data, size_bytes, cookie)
                      : ways_.between->start_send(peer, tag, data, size_bytes, cookie);
}

Status RoutedLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                              std::uint32_t cookie) {
    GRADCOLL_TRY(admit(peer, tag));
    const int place = place_of(peer);
    return place >= 0 ? ways_.inside->start_recv(place, tag, data, size_bytes, cookie)
                      : ways_.between->start_recv(peer, tag, data, size_bytes, cookie);
}

Status RoutedLane::let_mpi_progress() {
    if (++idle_polls_ % idle_polls_a_probe != 0) return {};
    int found = 0;
    return from_mpi(PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ways_.comm, &found, MPI_STATUS_IGNORE),
                    "MPI_Iprobe");
}

void RoutedLane::cut_messages(std::vector<int> peers) {
    ways_.between->cut_messages(std::move(peers));
}

Result<std::size_t> RoutedLane::poll(std::span<Completion> out) {
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

void RoutedLane::abandon() {
    ways_.inside->abandon();
    ways_.between->abandon();
}

}  // namespace gradcoll
