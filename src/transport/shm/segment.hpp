// transport/shm/segment.hpp - memory that the ranks of one host share.
#pragma once

#include <cstddef>
#include <memory>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// A SharedSegment is an area without a name: nothing is left behind however the ranks end, and the
/// size of /dev/shm does not limit it. It is zero at first. Every rank has a part of the same size,
/// in rank order, on pages that it touched first. It owns the mapping, which lives until the last
/// rank has unmapped it.
class SharedSegment {
  public:
    /// The parts of ranks have multiples of this size.
    static constexpr std::size_t granule_bytes = 4096;

    /// Makes a segment. Collective over `comm`, whose ranks are on one host; the same sizes on all.
    /// Each rank allocates the first `first_bytes` of its part, and more with allocate(): memory
    /// that is not allocated must not be touched. Errors, on every rank if on one: io or
    /// out_of_memory, naming the step that failed and the bytes; transport.
    static Result<std::unique_ptr<SharedSegment>> make(MPI_Comm comm, std::size_t bytes_a_rank,
                                                       std::size_t first_bytes);
    /// Allocates memory of this rank's part; what is there already stays. Offset and size are whole
    /// granules. Local. Errors: out_of_memory.
    Status allocate(std::size_t offset, std::size_t size_bytes);
    ~SharedSegment();
    SharedSegment(const SharedSegment&) = delete;
    SharedSegment& operator=(const SharedSegment&) = delete;

    /// Returns the begin of the memory, aligned to a page.
    std::byte* data() const { return data_; }
    std::byte* part_of(int rank) const {
        return data_ + static_cast<std::size_t>(rank) * bytes_a_rank_;
    }
    std::size_t bytes_a_rank() const { return bytes_a_rank_; }

  private:
    SharedSegment(std::byte* data, std::size_t bytes_a_rank, std::size_t size_bytes, int rank,
                  std::size_t first_bytes)
        : data_(data),
          bytes_a_rank_(bytes_a_rank),
          size_bytes_(size_bytes),
          rank_(rank),
          first_bytes_(first_bytes) {}

    std::byte* data_;
    std::size_t bytes_a_rank_;
    std::size_t size_bytes_;
    int rank_;
    std::size_t first_bytes_;  ///< how much of this rank's part was allocated when it was made
};

}  // namespace gradcoll
