#include "transport/mpi/mpi_lane.hpp"

#include <fmt/format.h>

#include <climits>
#include <utility>

namespace gradcoll {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 30;
constexpr std::size_t max_bytes = block_bytes * INT_MAX;

/// Makes a type of whole blocks, then the rest as single bytes.
Status make_large(std::size_t size_bytes, MPI_Datatype* type) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Type_contiguous(static_cast<int>(block_bytes), MPI_BYTE, &block),
                          "MPI_Type_contiguous"));
    const std::size_t whole = size_bytes / block_bytes;
    const int lengths[] = {static_cast<int>(whole), static_cast<int>(size_bytes % block_bytes)};
    const MPI_Aint offsets[] = {0, static_cast<MPI_Aint>(whole * block_bytes)};
    const MPI_Datatype types[] = {block, MPI_BYTE};
    const int made = PMPI_Type_create_struct(2, lengths, offsets, types, type);
    PMPI_Type_free(&block);
    GRADCOLL_TRY(from_mpi(made, "MPI_Type_create_struct"));
    return from_mpi(PMPI_Type_commit(type), "MPI_Type_commit");
}

}  // namespace

Result<ByteType> ByteType::of(std::size_t size_bytes) {
    if (size_bytes <= INT_MAX) return ByteType(MPI_BYTE, static_cast<int>(size_bytes));
    if (size_bytes > max_bytes)
        return Status(
            Code::invalid_count,
            fmt::format("message of {} bytes: at most {} are possible", size_bytes, max_bytes));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    GRADCOLL_TRY(make_large(size_bytes, &type));
    return ByteType(type, 1);
}

ByteType::ByteType(ByteType&& other) noexcept
    : type_(std::exchange(other.type_, MPI_BYTE)), count_(other.count_) {}

ByteType::~ByteType() {
    if (type_ != MPI_BYTE) PMPI_Type_free(&type_);
}

}  // namespace gradcoll
