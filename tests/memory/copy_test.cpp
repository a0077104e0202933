// Copies give what memcpy gives, whatever the alignment and the size.
#include "memory/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace gradcoll {
namespace {

using Copy = void (*)(void*, const void*, std::size_t);

/// Every byte is copied and no other is touched, at any alignment.
void expect_like_memcpy(Copy copy, std::initializer_list<std::size_t> sizes) {
    constexpr std::size_t margin = 128;
    const std::size_t room = std::max(sizes) + margin;
    std::vector<unsigned char> from(room);
    for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<unsigned char>(i * 37 + 1);
    for (const std::size_t from_offset : {0U, 1U, 16U, 63U})
        for (std::size_t to_offset = 0; to_offset < 64; ++to_offset)
            for (const std::size_t size : sizes) {
                std::vector<unsigned char> to(room, 0xee);
                copy(to.data() + to_offset, from.data() + from_offset, size);
                std::vector<unsigned char> expected(room, 0xee);
                std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_offset), size,
                            expected.begin() + static_cast<std::ptrdiff_t>(to_offset));
                ASSERT_EQ(to, expected) << to_offset << ", " << size << " bytes";
            }
}

TEST(Copy, StreamingIsLikeMemcpy) {
    expect_like_memcpy(copy_streaming, {0, 1, 5, 63, 64, 65, 200, 320});
}

TEST(Copy, LongIsLikeMemcpyAlsoWhereItIsShort) {
    expect_like_memcpy(copy_long, {0, 1, 31, 33, 127, 255, 256, 257, 400, 1000, 5000});
}

TEST(Copy, BytesAreLikeMemcpyOnBothSidesOfTheShortest) {
    expect_like_memcpy(copy_bytes, {0, 1, 2047, 2048, 2049});
}

}  // namespace
}  // namespace gradcoll
