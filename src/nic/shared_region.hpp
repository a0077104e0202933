// nic/shared_region.hpp - a file without a name, mapped by a rank and by its agent; and how a rank
// sleeps until its agent has something new for it there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "nic/layout.hpp"

namespace gradcoll {

/// A SharedRegion owns the mapping. What is in it stays after the other process has ended.
class SharedRegion {
  public:
    SharedRegion() = default;
    SharedRegion(SharedRegion&& other) noexcept;
    SharedRegion& operator=(SharedRegion&& other) noexcept;
    ~SharedRegion();

    /// Makes a region of zeros, whose size nobody can change any more. `file` is for the other
    /// process. Errors: out_of_memory, io.
    static Result<SharedRegion> make(const NicShape& shape, Descriptor& file);
    /// Maps a region. Errors: corrupt if the file is not one that make() made for that shape: one
    /// that could shrink would end this process; out_of_memory, io.
    static Result<SharedRegion> map(const NicShape& shape, const Descriptor& file);

    const NicLayout& layout() const { return layout_; }
    /// Allocates the slots of one kind of a peer: to touch what the system has no memory for
    /// would end the process. What is there already stays. Errors: out_of_memory.
    Status allocate_slots(NicSlots which, std::uint32_t peer) const;

  private:
    SharedRegion(std::byte* data, const NicShape& shape) : data_(data), layout_(data, shape) {}

    std::byte* data_ = nullptr;
    NicLayout layout_;
};

/// Is called by the agent after it has written what is new. It is a call of the system only if the
/// rank sleeps.
void tell_news(const NicLayout& layout);

/// Returns how much news there has been. The rank that asks sees what it looks at afterwards as new
/// as that.
std::uint32_t news_of(const NicLayout& layout);
/// Sleeps until there is more news than `seen`, `patience` at most. Returns true if there is.
/// Thread safe.
bool wait_for_news(const NicLayout& layout, std::uint32_t seen, std::chrono::microseconds patience);

}  // namespace gradcoll
