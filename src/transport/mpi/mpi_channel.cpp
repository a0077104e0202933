#include "transport/mpi/mpi_channel.hpp"

#include <string_view>

#include "transport/mpi/mpi_lane.hpp"

namespace gradcoll {
namespace {

constexpr int guaranteed_tag_limit = 32767;  // MPI 3.1, 8.1.2

/// Returns how many bytes the library sends without asking the receiver. Open MPI sends up to 64
/// KiB, its header included, at once (btl_tcp_eager_limit). UCX, below MPICH, goes by what it
/// thinks of the network: 16 KiB were sent at once, 64 KiB were not. All ranks run one library.
std::size_t unasked_bytes_of_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    return std::string_view(text).starts_with("Open MPI") ? 62 * 1024 : 16000;
}

}  // namespace

/// Asks MPI_COMM_WORLD. The limit is the same for all communicators, but on those that were split
/// off Open MPI 4.1 does not have it.
Result<int> MpiChannel::tag_limit_of_library() {
    int* limit = nullptr;
    int found = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found),
                          "MPI_Comm_get_attr"));
    return found ? *limit : guaranteed_tag_limit;
}

Result<std::unique_ptr<MpiChannel>> MpiChannel::make(MPI_Comm comm,
                                                     std::shared_ptr<PeerWatch> peers) {
    if (comm == MPI_COMM_NULL)
        return Status(Code::invalid_comm, "comm: MPI_COMM_NULL; an intracommunicator is needed");
    int inter = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter"));
    if (inter)
        return Status(Code::invalid_comm,
                      "comm: an intercommunicator; an intracommunicator is needed");
    std::unique_ptr<MpiChannel> channel(new MpiChannel(comm, std::move(peers)));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm, &channel->rank_), "MPI_Comm_rank"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm, &channel->rank_count_), "MPI_Comm_size"));
    channel->tag_limit_ = GRADCOLL_VALUE(tag_limit_of_library());
    channel->unasked_bytes_ = unasked_bytes_of_library();
    return channel;
}

std::unique_ptr<Lane> MpiChannel::open_lane(std::size_t capacity) {
    return std::make_unique<MpiLane>(*this, comm_, peers_.get(), unasked_bytes_, capacity);
}

}  // namespace gradcoll
