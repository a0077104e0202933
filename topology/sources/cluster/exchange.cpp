// topology/sources/cluster/exchange.cpp - see exchange.hpp.
#include "topology/sources/cluster/exchange.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>

#include "base/mpi/exchange.hpp"
#include "topology/bytes.hpp"

namespace gradcoll {

namespace {

constexpr std::int64_t most_mpi_bytes = std::numeric_limits<int>::max();  // MPI counts in int

/// Lets all ranks know whether rank 0's `bytes` can be counted by MPI.
Status agree_on_size(MPI_Comm comm, std::int64_t& bytes) {
    GRADCOLL_TRY(broadcast(comm, bytes));
    if (bytes >= 0 && bytes <= most_mpi_bytes) return {};
    return {Code::unsupported, fmt::format("{} bytes are too many to send at once", bytes)};
}

std::string bytes_of(const Result<std::string>& result) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(result.ok() ? Code::ok : result.status().code()));
    writer.text(result.ok() ? *result : result.status().message());
    return writer.take();
}

Result<std::string> result_from(std::string_view bytes) {
    ByteReader reader(bytes);
    std::uint8_t code = 0;
    std::string text;
    if (!reader.number(code) || code > static_cast<std::uint8_t>(Code::internal) ||
        !reader.text(text, bytes.size()) || reader.size_left() != 0)
        return Status(Code::corrupt, "what rank 0 sent is malformed");
    if (static_cast<Code>(code) != Code::ok)
        return Status(static_cast<Code>(code), std::move(text));
    return text;
}

}  // namespace

Status gather_bytes(MPI_Comm comm, const std::string& mine, std::vector<std::string>& all) {
    int rank = 0;
    int size = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm, &size), "MPI_Comm_size"));
    const int mine_bytes = static_cast<int>(mine.size());
    std::vector<int> sizes(rank == 0 ? static_cast<std::size_t>(size) : 0);
    GRADCOLL_TRY(from_mpi(PMPI_Gather(&mine_bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm),
                          "MPI_Gather"));
    std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    GRADCOLL_TRY(agree_on_size(comm, total));
    std::vector<int> starts(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
    std::string joined(rank == 0 ? static_cast<std::size_t>(total) : 0, '\0');
    GRADCOLL_TRY(from_mpi(PMPI_Gatherv(mine.data(), mine_bytes, MPI_BYTE, joined.data(),
                                       sizes.data(), starts.data(), MPI_BYTE, 0, comm),
                          "MPI_Gatherv"));
    for (std::size_t r = 0; r < sizes.size(); ++r)
        all.push_back(
            joined.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(sizes[r])));
    return {};
}

Status share_bytes(MPI_Comm comm, std::string& bytes) {
    auto size_bytes = static_cast<std::int64_t>(bytes.size());
    GRADCOLL_TRY(agree_on_size(comm, size_bytes));
    bytes.resize(static_cast<std::size_t>(size_bytes));
    return from_mpi(PMPI_Bcast(bytes.data(), static_cast<int>(size_bytes), MPI_BYTE, 0, comm),
                    "MPI_Bcast");
}

Result<std::string> share_result(MPI_Comm comm, const Result<std::string>& of_rank_0) {
    std::string bytes = bytes_of(of_rank_0);
    GRADCOLL_TRY(share_bytes(comm, bytes));
    return result_from(bytes);  // also on rank 0: everybody reads the same
}

Status find_first_on_host(MPI_Comm comm, int rank, std::uint32_t& first) {
    OwnedComm host;
    GRADCOLL_TRY(from_mpi(
        PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host.handle),
        "MPI_Comm_split_type"));
    first = static_cast<std::uint32_t>(rank);  // rank 0 there is the lowest: its value is the one
    return broadcast(host.handle, first);
}

Status find_world_ranks(MPI_Comm comm, const std::vector<int>& ranks, std::vector<int>& world) {
    OwnedGroup mine(MPI_GROUP_NULL);
    OwnedGroup all(MPI_GROUP_NULL);
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(comm, &mine.handle), "MPI_Comm_group"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(MPI_COMM_WORLD, &all.handle), "MPI_Comm_group"));
    world.resize(ranks.size());
    return from_mpi(PMPI_Group_translate_ranks(mine.handle, static_cast<int>(ranks.size()),
                                               ranks.data(), all.handle, world.data()),
                    "MPI_Group_translate_ranks");
}

}  // namespace gradcoll
