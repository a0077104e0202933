// transport/mpi/byte_type.hpp - messages of more bytes than an int can count.
#pragma once

#include <cstddef>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// A ByteType says a number of bytes to MPI: `count` elements of `type`. It frees the type if it
/// made one; MPI keeps it alive for the messages that use it.
class ByteType {
  public:
    /// Returns plain MPI_BYTE, without a call of MPI, for up to INT_MAX bytes, and one element of a
    /// committed derived type for more.
    static Result<ByteType> of(std::size_t size_bytes);
    ByteType(ByteType&& other) noexcept;
    ByteType& operator=(ByteType&&) = delete;
    ~ByteType();

    MPI_Datatype type() const { return type_; }
    int count() const { return count_; }

  private:
    ByteType(MPI_Datatype type, int count) : type_(type), count_(count) {}

    MPI_Datatype type_;
    int count_;
};

}  // namespace gradcoll
