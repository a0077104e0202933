// Encoded blocks moved on what codec_machine() of the program is: each comes whole to where its
// entry says, and nothing else is touched.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compress/codec_cases.hpp"
#include "compress/codec_machine.hpp"

namespace gradcoll::test {
namespace {

using Use = TestArray::Use;
using Table = std::vector<CodedBlock>;

Bytes bytes_of(const Table& table) {
    Bytes bytes(table.size() * sizeof(CodedBlock));
    if (!bytes.empty()) std::memcpy(bytes.data(), table.data(), bytes.size());
    return bytes;
}

/// Case has a table of blocks, where they go, and what memory holds before and after.
struct Case {
    Table from, to, moved;
    Bytes in, out, want;

    /// Blocks lie in rooms; they go one behind the other, each `step` bytes further.
    static Case of(std::size_t count, std::size_t room, std::size_t first, std::size_t step,
                   std::mt19937& draw) {
        Case made;
        made.in.resize(count * room + 16);
        for (std::byte& byte : made.in) byte = static_cast<std::byte>(draw());
        std::size_t end = first;
        for (std::size_t i = 0; i < count; ++i) {
            const auto size = static_cast<std::uint32_t>(draw() % (room + 1));
            made.from.push_back({i * room, size, static_cast<std::uint32_t>(draw() % 2)});
            made.to.push_back({end, 0x55, 0x55});
            made.moved.push_back({end, size, made.from.back().is_plain});
            end += size + step;
        }
        made.out.assign(end, std::byte{0x11});
        made.want = made.out;
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(made.in.begin() + static_cast<std::ptrdiff_t>(made.from[i].offset_bytes),
                        made.from[i].size_bytes,
                        made.want.begin() + static_cast<std::ptrdiff_t>(made.to[i].offset_bytes));
        return made;
    }
};

class GpuBlockMove : public testing::Test {
  protected:
    void SetUp() override {
        machine_ = codec_machine();
        if (machine_ == nullptr) GTEST_SKIP() << "no CUDA device";
    }
    /// Placed has the arrays of a case where the machine reaches them.
    struct Placed {
        Placed(TestMemory& memory, const Case& c, std::size_t shift)
            : in(memory, c.in, Use::read, 0),
              out(memory, c.out, Use::written, shift),
              from(memory, bytes_of(c.from), Use::read, 0),
              to(memory, bytes_of(c.to), Use::written, 0),
              move{in.data(), out.data(), reinterpret_cast<const CodedBlock*>(from.data()),
                   reinterpret_cast<CodedBlock*>(to.data()), c.from.size()} {}
        TestArray in, out, from, to;
        BlockMove move;
    };
    static void expect_moved(const Placed& placed, const Case& c) {
        EXPECT_EQ(placed.out.content(), c.want);
        EXPECT_EQ(placed.to.content(), bytes_of(c.moved));
        EXPECT_TRUE(placed.out.canaries_intact() && placed.to.canaries_intact());
    }

    CodecMachine* machine_ = nullptr;
};

TEST_F(GpuBlockMove, BlocksOfAnyLengthComeToAnyPlace) {
    std::mt19937 draw(3);
    for (const std::size_t count : {1, 7, 70})
        for (const std::size_t room : {0, 1, 31, 516, 2052})
            for (const std::size_t first : {0, 1, 64, 66})
                for (const std::size_t shift : {0, 2, 5}) {
                    SCOPED_TRACE(testing::Message() << count << " blocks of up to " << room
                                                    << " bytes at " << first << '+' << shift);
                    const Case c = Case::of(count, room, first, draw() % 3, draw);
                    const Placed placed(machine_->memory(), c, shift);
                    ASSERT_TRUE(machine_->move({&placed.move, 1}).ok());
                    expect_moved(placed, c);
                }
}

TEST_F(GpuBlockMove, WordsGoWhereBothEndsAreAligned) {
    std::mt19937 draw(4);
    for (const std::size_t room : {16, 512, 516, 1030}) {
        Case c = Case::of(9, room, 64, 0, draw);
        for (std::size_t i = 0; i < c.from.size(); ++i) {
            c.from[i].size_bytes = static_cast<std::uint32_t>(room);
            c.to[i].offset_bytes = 64 + i * room;
            c.moved[i] = {c.to[i].offset_bytes, c.from[i].size_bytes, c.from[i].is_plain};
        }
        c.out.assign(64 + 9 * room, std::byte{0x11});
        c.want = c.out;
        std::copy_n(c.in.begin(), 9 * room, c.want.begin() + 64);
        const Placed placed(machine_->memory(), c, 0);
        ASSERT_TRUE(machine_->move({&placed.move, 1}).ok());
        expect_moved(placed, c);
    }
}

TEST_F(GpuBlockMove, MovesOfOneLaunchAreAllDone) {
    std::mt19937 draw(5);
    std::vector<Case> cases;
    std::vector<std::unique_ptr<Placed>> placed;
    std::vector<BlockMove> moves;
    for (std::size_t i = 0; i < 70; ++i) {
        cases.push_back(Case::of(i % 5, 100 + i, i, 0, draw));
        placed.push_back(std::make_unique<Placed>(machine_->memory(), cases.back(), i % 3));
        moves.push_back(placed.back()->move);
    }
    ASSERT_TRUE(machine_->move(moves).ok());
    for (std::size_t i = 0; i < cases.size(); ++i) expect_moved(*placed[i], cases[i]);
}

}  // namespace
}  // namespace gradcoll::test
