// The memory that a rank and its agent share: its shape, its rings, its seals.
#include "nic/layout.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "nic/ring.hpp"
#include "nic/shared_region.hpp"

namespace gradcoll {
namespace {

SharedRegion region_for(std::uint32_t ranks, Descriptor& file) {
    auto made = SharedRegion::make(NicShape::of(ranks), file);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(made).value();
}

NicEntry entry(std::uint64_t number) {
    NicEntry made;
    made.peer = 1;
    made.number = number;
    return made;
}

TEST(NicShape, ShrinksWithTheRanksAndStaysInBounds) {
    for (const std::uint32_t ranks : {1U, 2U, 64U, 65U, 1000U, 1U << 20}) {
        const NicShape shape = NicShape::of(ranks);
        EXPECT_TRUE(shape.check().ok()) << ranks;
        EXPECT_GE(shape.slots, 4U);
        EXPECT_LE(shape.slots, 8U);
        EXPECT_GE(shape.slot_bytes, 4096U);
        EXPECT_LE(shape.slot_bytes, 128U << 10);
        EXPECT_EQ(shape.slot_bytes % 4096, 0U);
    }
    EXPECT_LT(NicShape::of(1000).slot_bytes, NicShape::of(2).slot_bytes);
}

TEST(NicShape, OfAnotherProcessIsNotBelieved) {
    NicShape shape = NicShape::of(4);
    shape.slot_bytes = ~0U;
    EXPECT_EQ(shape.check().code(), Code::corrupt);
    shape = NicShape::of(4);
    shape.ranks = 0;
    EXPECT_EQ(shape.check().code(), Code::corrupt);
    shape.ranks = ~0U;
    EXPECT_EQ(shape.check().code(), Code::corrupt);
}

TEST(NicLayout, PartsDoNotOverlapAndEndInsideTheMemory) {
    Descriptor file;
    const SharedRegion region = region_for(3, file);
    const NicLayout& layout = region.layout();
    auto* begin = reinterpret_cast<std::byte*>(&layout.agent());
    std::byte* at = reinterpret_cast<std::byte*>(&layout.peer(2)) + sizeof(NicPeerWords);
    for (const bool to_agent : {true, false}) {
        auto* words = reinterpret_cast<std::byte*>(&layout.ring_words(to_agent));
        EXPECT_LE(at, words);
        at = reinterpret_cast<std::byte*>(layout.ring_entries(to_agent) + layout.ring_capacity());
    }
    for (const NicSlots which : {NicSlots::leaving, NicSlots::coming, NicSlots::echoed}) {
        EXPECT_LE(at, layout.slot(which, 0, 0));
        at = layout.slot(which, 2, layout.shape().slots - 1) + layout.shape().slot_bytes;
    }
    EXPECT_EQ(at, begin + NicLayout::size_bytes(layout.shape()));
}

TEST(SharedRegion, IsWhatTheOtherSideMapsAndNobodyCanShrinkIt) {
    Descriptor file;
    const SharedRegion mine = region_for(2, file);
    const auto theirs = SharedRegion::map(NicShape::of(2), file);
    ASSERT_TRUE(theirs.ok());
    mine.layout().peer(1).delivered = 77;
    EXPECT_EQ(theirs->layout().peer(1).delivered, 77U);
    EXPECT_NE(ftruncate(file.number(), 4096), 0);
}

TEST(SharedRegion, RefusesAFileThatCouldShrinkOrHasAnotherSize) {
    const NicShape shape = NicShape::of(2);
    const Descriptor open_file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(open_file.number(), static_cast<off_t>(NicLayout::size_bytes(shape))), 0);
    EXPECT_EQ(SharedRegion::map(shape, open_file).status().code(), Code::corrupt);
    Descriptor file;
    region_for(3, file);
    EXPECT_EQ(SharedRegion::map(shape, file).status().code(), Code::corrupt);
}

TEST(NicRing, EntriesOfOneThreadReachAnotherInOrder) {
    Descriptor file;
    const SharedRegion region = region_for(2, file);
    constexpr std::uint64_t count = 100'000;
    std::thread writer([&] {
        NicRingWriter ring(region.layout(), NicWay::to_agent);
        for (std::uint64_t number = 1; number <= count; ++number) {
            while (!ring.has_room()) std::this_thread::yield();
            ring.write(entry(number));
        }
    });
    NicRingReader ring(region.layout(), NicWay::to_agent);
    for (std::uint64_t number = 1; number <= count;) {
        const auto read = ring.read();
        ASSERT_TRUE(read.ok());
        if (!*read) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ((*read)->number, number++);
    }
    writer.join();
    EXPECT_TRUE(ring.is_empty());
}

TEST(NicRing, FillsUpAndHasRoomAgainWhenItIsRead) {
    Descriptor file;
    const SharedRegion region = region_for(2, file);
    NicRingWriter writer(region.layout(), NicWay::to_rank);
    NicRingReader reader(region.layout(), NicWay::to_rank);
    for (std::uint64_t i = 0; i < region.layout().ring_capacity(); ++i) {
        ASSERT_TRUE(writer.has_room());
        writer.write(entry(i));
    }
    EXPECT_FALSE(writer.has_room());
    ASSERT_TRUE(reader.read().ok());
    EXPECT_TRUE(writer.has_room());
}

TEST(NicRing, ACounterThatCannotBeIsAnError) {
    Descriptor file;
    const SharedRegion region = region_for(2, file);
    NicRingReader reader(region.layout(), NicWay::to_agent);
    region.layout().ring_words(true).written = region.layout().ring_capacity() + 1;
    EXPECT_EQ(reader.read().status().code(), Code::corrupt);
    region.layout().ring_words(true).written = ~std::uint64_t{0};
    EXPECT_EQ(reader.read().status().code(), Code::corrupt);
}

}  // namespace
}  // namespace gradcoll
