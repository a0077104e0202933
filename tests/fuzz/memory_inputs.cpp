#include "fuzz/memory_inputs.hpp"

#include <iterator>

namespace gradcoll::fuzz {

std::uint64_t number(Random& random) {
    constexpr std::uint64_t odd[] = {0,
                                     1,
                                     47,
                                     48,
                                     49,
                                     63,
                                     64,
                                     255,
                                     256,
                                     257,
                                     4096,
                                     65535,
                                     ~0U,
                                     1U << 24,
                                     1U << 31,
                                     ~std::uint64_t{0},
                                     std::uint64_t{1} << 63};
    return random.below(3) == 0 ? odd[random.below(std::size(odd))] : random.below(300);
}

void scribble(std::byte* bytes, std::size_t size, Random& random) {
    for (std::size_t changes = 1 + random.below(6); changes > 0; --changes)
        bytes[random.below(size)] = static_cast<std::byte>(random.byte());
}

}  // namespace gradcoll::fuzz
