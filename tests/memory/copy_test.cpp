// Copies give what memcpy gives, whatever the alignment and the size.
#include "memory/copy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradcoll {
namespace {

using Copy = void (*)(void*, const void*, std::size_t);

class Copies : public testing::TestWithParam<Copy> {};

TEST_P(Copies, CopyEveryByteAndNoOtherAtAnyAlignment) {
    constexpr std::size_t room = 4096;
    std::vector<unsigned char> from(room);
    for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<unsigned char>(i * 37 + i / 256);
    for (const std::size_t from_offset : {0U, 1U, 16U, 63U})
        for (std::size_t to_offset = 0; to_offset < 64; ++to_offset)
            for (const std::size_t size : {0U, 1U, 5U, 63U, 64U, 65U, 200U, 320U, 2048U, 3001U}) {
                std::vector<unsigned char> to(room, 0xee);
                GetParam()(to.data() + to_offset, from.data() + from_offset, size);
                std::vector<unsigned char> expected(room, 0xee);
                std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_offset), size,
                            expected.begin() + static_cast<std::ptrdiff_t>(to_offset));
                ASSERT_EQ(to, expected) << to_offset << ", " << size << " bytes";
            }
}

INSTANTIATE_TEST_SUITE_P(All, Copies,
                         testing::Values(&copy_streaming, &copy_in_vectors, &copy_bytes));

}  // namespace
}  // namespace gradcoll
