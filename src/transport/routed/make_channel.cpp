#include "transport/routed/make_channel.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "transport/routed/routed_channel.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t usual_cells_bytes = std::size_t{2} << 20;
constexpr std::size_t most_cells_of_a_host = std::size_t{64} << 20;
constexpr std::size_t least_cells_bytes = std::size_t{128} << 10;
/// Below, copies through cells are faster (transport/shm/README.md has the figures).
constexpr std::size_t least_read_bytes = std::size_t{512} << 10;

/// The ranks of this host.
struct HostComm {
    OwnedComm comm;
    int rank = 0;
    int size = 1;
};

Result<HostComm> host_comm_of(MPI_Comm comm, int rank) {
    HostComm host;
    MPI_Comm& handle = host.comm.handle;
    GRADCOLL_TRY(
        from_mpi(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &handle),
                 "MPI_Comm_split_type"));
    PMPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(handle, &host.rank);
    PMPI_Comm_size(handle, &host.size);
    return host;
}

std::size_t cells_bytes_of(const ChannelOptions& options, int ranks_here) {
    if (options.cells_bytes > 0) return std::max(options.cells_bytes, least_cells_bytes);
    return std::clamp(most_cells_of_a_host / static_cast<std::size_t>(ranks_here),
                      least_cells_bytes, usual_cells_bytes);
}

Result<std::unique_ptr<SharedSegment>> make_segment(const HostComm& host,
                                                    const ChannelOptions& options) {
    return SharedSegment::make(
        host.comm.handle,
        ShmLayout::bytes_a_rank_for(host.size, cells_bytes_of(options, host.size)));
}

/// The lowest of all ranks' answers.
Result<bool> all_say(MPI_Comm comm, bool mine) {
    int answer = mine ? 1 : 0;
    GRADCOLL_TRY(from_mpi(PMPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, comm),
                          "MPI_Allreduce"));
    return answer == 1;
}

/// Where a rank keeps a number that only it knows.
struct Secret {
    std::int64_t process = 0;
    std::uint64_t address = 0;
    std::uint64_t value = 0;
};

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
        GRADCOLL_VALUE(all_say(host.comm.handle, count == sizeof found && found == next.value));
    PeerMemory memory;
    memory.least_bytes = least_read_bytes;
    if (!permitted) return memory;
    for (const Secret& secret : all) memory.processes.push_back(static_cast<pid_t>(secret.process));
    return memory;
}

Result<std::unique_ptr<Channel>> join(std::unique_ptr<MpiChannel> mpi, const HostComm& host,
                                      std::unique_ptr<SharedSegment> segment, bool read_peers) {
    RoutedChannel::Host parts{std::vector<int>(static_cast<std::size_t>(host.size)), host.rank,
                              std::move(segment)};
    const int rank = mpi->rank();
    GRADCOLL_TRY(from_mpi(
        PMPI_Allgather(&rank, 1, MPI_INT, parts.ranks.data(), 1, MPI_INT, host.comm.handle),
        "MPI_Allgather"));
    PeerMemory memory = GRADCOLL_VALUE(read_peers ? probe_reading(host) : PeerMemory{});
    auto channel =
        GRADCOLL_VALUE(RoutedChannel::make(std::move(mpi), std::move(parts), std::move(memory)));
    return std::unique_ptr<Channel>(std::move(channel));
}

}  // namespace

Result<std::unique_ptr<Channel>> make_channel(MPI_Comm comm, const ChannelOptions& options) {
    auto mpi = GRADCOLL_VALUE(MpiChannel::make(comm));
    const auto host = GRADCOLL_VALUE(host_comm_of(comm, mpi->rank()));
    const bool alone = host.size == 1;
    auto segment = alone ? Result<std::unique_ptr<SharedSegment>>(std::unique_ptr<SharedSegment>())
                         : make_segment(host, options);
    if (!segment.ok() && host.rank == 0)
        log(LogLevel::info, "messages inside hosts go through MPI: {}", segment.status().message());
    const auto all_have_it = GRADCOLL_VALUE(all_say(comm, segment.ok()));
    if (alone || !all_have_it) return std::unique_ptr<Channel>(std::move(mpi));
    return join(std::move(mpi), host, std::move(segment).value(), options.read_peers);
}

}  // namespace gradcoll
