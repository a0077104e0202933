#include "support/test_memory.hpp"

#include <algorithm>
#include <new>

namespace gradcoll::test {
namespace {

constexpr std::size_t guard_bytes = 128;
constexpr std::byte canary{0xa5};

}  // namespace

std::byte* HostMemory::allocate(std::size_t size_bytes) {
    return new (std::align_val_t{16}) std::byte[size_bytes];
}

void HostMemory::release(std::byte* memory) {
    operator delete[](memory, std::align_val_t{16});
}

void HostMemory::copy(void* to, const void* from, std::size_t size_bytes) {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

TestArray::TestArray(TestMemory& memory, const Bytes& content, Use use, std::size_t shift)
    : memory_(memory),
      guard_(use == Use::written ? guard_bytes : 0),
      shift_(shift),
      size_(content.size()),
      allocation_(memory.allocate(shift + size_ + 2 * guard_)) {
    Bytes all(shift + size_ + 2 * guard_, canary);
    std::copy(content.begin(), content.end(),
              all.begin() + static_cast<std::ptrdiff_t>(guard_ + shift));
    memory_.copy(allocation_, all.data(), all.size());
}

TestArray::~TestArray() {
    memory_.release(allocation_);
}

TestArray::Bytes TestArray::content() const {
    Bytes out(size_);
    memory_.copy(out.data(), data(), size_);
    return out;
}

bool TestArray::canaries_intact() const {
    Bytes all(shift_ + size_ + 2 * guard_);
    memory_.copy(all.data(), allocation_, all.size());
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(guard_ + shift_);
    const auto is_canary = [](std::byte b) { return b == canary; };
    return std::all_of(all.begin(), first, is_canary) &&
           std::all_of(first + static_cast<std::ptrdiff_t>(size_), all.end(), is_canary);
}

}  // namespace gradcoll::test
