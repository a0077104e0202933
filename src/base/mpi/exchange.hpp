// base/mpi/exchange.hpp - small values between all ranks of a communicator. Every function is
// collective over it, and the communicator has MPI_ERRORS_RETURN. Errors: those of from_mpi().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Returns MPI's name of the type of a number.
template <class Number>
MPI_Datatype datatype_of() {
    if constexpr (std::is_same_v<Number, double>) {
        return MPI_DOUBLE;
    } else if constexpr (std::is_same_v<Number, int>) {
        return MPI_INT;
    } else if constexpr (std::is_same_v<Number, std::int64_t>) {
        return MPI_INT64_T;
    } else {
        static_assert(std::is_same_v<Number, std::uint64_t>);
        return MPI_UINT64_T;
    }
}

/// Replaces each number by what `op` makes of all ranks' numbers at its place; every rank has as
/// many, and no more than an int can count.
template <class Number>
Status combine(MPI_Comm comm, MPI_Op op, std::span<Number> numbers) {
    return from_mpi(PMPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()),
                                   datatype_of<Number>(), op, comm),
                    "MPI_Allreduce");
}
template <class Number>
Result<Number> combined(MPI_Comm comm, MPI_Op op, Number mine) {
    GRADCOLL_TRY(combine(comm, op, std::span(&mine, 1)));
    return mine;
}
template <class Number, std::size_t N>
Result<std::array<Number, N>> combined(MPI_Comm comm, MPI_Op op, std::array<Number, N> mine) {
    GRADCOLL_TRY(combine(comm, op, std::span<Number>(mine)));
    return mine;
}
/// Returns whether `mine` holds on all ranks.
inline Result<bool> all_ranks(MPI_Comm comm, bool mine) {
    const int all = GRADCOLL_VALUE(combined(comm, MPI_LAND, mine ? 1 : 0));
    return all != 0;
}

/// Gives all ranks the value of one of them, byte for byte.
template <class Value>
Status broadcast(MPI_Comm comm, Value& value, int root = 0) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return from_mpi(PMPI_Bcast(&value, static_cast<int>(sizeof value), MPI_BYTE, root, comm),
                    "MPI_Bcast");
}

/// Returns the values of all ranks, byte for byte and by rank.
template <class Value>
Result<std::vector<Value>> gathered(MPI_Comm comm, const Value& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    constexpr auto size_bytes = static_cast<int>(sizeof mine);
    std::vector<Value> all(static_cast<std::size_t>(comm_size(comm)));
    GRADCOLL_TRY(from_mpi(
        PMPI_Allgather(&mine, size_bytes, MPI_BYTE, all.data(), size_bytes, MPI_BYTE, comm),
        "MPI_Allgather"));
    return all;
}

}  // namespace gradcoll
