// memory/arena.hpp - scratch memory of the host that is allocated once and used for every later
// call.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "base/status.hpp"

namespace gradcoll {

/// An Arena is one contiguous area of at least as many bytes as were ever reserved; it grows and
/// never shrinks. It is aligned to 64 bytes; from 2 MiB on to 2 MiB, with the advice to use huge
/// pages. The bytes are not initialised. It owns its memory; moving hands it over. Not thread safe:
/// one user at a time.
class Arena {
  public:
    static constexpr std::size_t alignment_bytes = 64;
    static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

    /// Makes capacity_bytes() >= bytes. Growing moves the area: older pointers and what was in it
    /// are lost. No effect and no cost if it is large enough. Errors: out_of_memory naming the
    /// bytes; the area is then as before.
    Status reserve(std::size_t bytes);

    /// Returns null until something was reserved.
    std::byte* data() { return area_.get(); }
    const std::byte* data() const { return area_.get(); }
    std::size_t capacity_bytes() const { return area_ ? capacity_bytes_ : 0; }

  private:
    struct Free {
        void operator()(std::byte* area) const { std::free(area); }
    };
    std::unique_ptr<std::byte[], Free> area_;
    std::size_t capacity_bytes_ = 0;
};

}  // namespace gradcoll
