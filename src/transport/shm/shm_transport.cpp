// transport/shm/shm_transport.cpp - the ranks of a host meet in a segment.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "base/mpi/host_comm.hpp"
#include "transport/routed/transport.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t usual_cells_bytes = std::size_t{2} << 20;
constexpr std::size_t most_cells_of_a_host = std::size_t{64} << 20;
constexpr std::size_t least_cells_bytes = std::size_t{128} << 10;
/// Below, copies through cells are faster (transport/shm/README.md has the figures).
constexpr std::size_t least_read_bytes = std::size_t{512} << 10;

std::size_t cells_bytes_of(const ChannelOptions& options, int ranks_here) {
    if (options.cells_bytes) return std::max(*options.cells_bytes, least_cells_bytes);
    return std::clamp(most_cells_of_a_host / static_cast<std::size_t>(ranks_here),
                      least_cells_bytes, usual_cells_bytes);
}

/// Where a rank keeps a number that only it knows.
struct Secret {
    std::int64_t process = 0;
    std::uint64_t address = 0;
    std::uint64_t value = 0;
};

/// The lowest answer of all ranks of the host.
Result<bool> all_say(const HostComm& host, bool mine) {
    int answer = mine ? 1 : 0;
    GRADCOLL_TRY(
        from_mpi(PMPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, host.comm.handle),
                 "MPI_Allreduce"));
    return answer == 1;
}

/// Who may be read, if every rank can read its neighbour: the number tells that it is the right
/// process. Collective over the host.
Result<PeerMemory> probe_reading(const HostComm& host) {
    std::random_device random;
    const std::uint64_t number = std::uint64_t{random()} << 32 | random();
    const Secret mine{getpid(), reinterpret_cast<std::uintptr_t>(&number), number};
    std::vector<Secret> all(static_cast<std::size_t>(host.size));
    GRADCOLL_TRY(from_mpi(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine,
                                         MPI_BYTE, host.comm.handle),
                          "MPI_Allgather"));
    const Secret& next = all[static_cast<std::size_t>((host.rank + 1) % host.size)];
    std::uint64_t found = ~next.value;
    const ssize_t count =
        read_process(static_cast<pid_t>(next.process), next.address, &found, sizeof found);
    const auto permitted =
        GRADCOLL_VALUE(all_say(host, count == sizeof found && found == next.value));
    PeerMemory memory;
    memory.least_bytes = least_read_bytes;
    if (!permitted) return memory;
    for (const Secret& secret : all) memory.processes.push_back(static_cast<pid_t>(secret.process));
    return memory;
}

/// The channel, and the memory that it lives in.
class HostChannel final : public Channel {
  public:
    static Result<std::unique_ptr<HostChannel>> make(std::unique_ptr<SharedSegment> segment,
                                                     const HostComm& host, PeerMemory memory) {
        auto shm = GRADCOLL_VALUE(
            ShmChannel::make({segment->data(), segment->bytes_a_rank(), host.rank, host.size},
                             host.ranks, std::move(memory)));
        return std::unique_ptr<HostChannel>(new HostChannel(std::move(segment), std::move(shm)));
    }

    int rank() const override { return shm_->rank(); }
    int rank_count() const override { return shm_->rank_count(); }
    int tag_limit() const override { return shm_->tag_limit(); }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override {
        return shm_->open_lane(capacity);
    }

  private:
    HostChannel(std::unique_ptr<SharedSegment> segment, std::unique_ptr<ShmChannel> shm)
        : segment_(std::move(segment)), shm_(std::move(shm)) {}

    std::unique_ptr<SharedSegment> segment_;
    std::unique_ptr<ShmChannel> shm_;
};

/// All ranks of a host end alike.
Result<Offer> offer_shm(const OfferRequest& request) {
    if (request.options.cells_bytes == std::size_t{0}) return Offer();
    const HostComm host = GRADCOLL_VALUE(HostComm::make(request.comm));
    if (host.size == 1) return Offer();
    const std::size_t cells = cells_bytes_of(request.options, host.size);
    const std::size_t bytes_a_rank = ShmLayout::bytes_a_rank_for(host.size, cells);
    auto segment =
        GRADCOLL_VALUE(SharedSegment::make(host.comm.handle, bytes_a_rank, bytes_a_rank));
    PeerMemory memory =
        GRADCOLL_VALUE(request.options.read_peers ? probe_reading(host) : PeerMemory{});
    Offer made;
    made.channel = GRADCOLL_VALUE(HostChannel::make(std::move(segment), host, std::move(memory)));
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
