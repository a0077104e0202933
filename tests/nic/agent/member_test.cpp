// What a rank may do to its agent, and what another agent may do to it: nothing that is not right.
#include "nic/agent/member.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "nic/coded_frame.hpp"

namespace gradcoll {
namespace {

constexpr std::uint32_t ranks = 3;

/// Ends are rank 0 at both ends of its memory.
struct Ends {
    explicit Ends(RankMemory memory = {})
        : member([&] {
              auto made = SharedRegion::make(NicShape::of(ranks), file);
              EXPECT_TRUE(made.ok());
              return NicMember(0, std::move(made).value(), std::move(memory));
          }()),
          region(std::move(SharedRegion::map(NicShape::of(ranks), file)).value()),
          entries(region.layout(), NicWay::to_agent),
          arrivals(region.layout(), NicWay::to_rank) {}

    void write(NicEntryKind kind, std::uint32_t peer, std::uint64_t number,
               std::uint64_t size_bytes = 0) {
        NicEntry entry;
        entry.kind = kind;
        entry.peer = peer;
        entry.number = number;
        entry.size_bytes = size_bytes;
        entries.write(entry);
    }
    Code take() { return member.take_entry().status().code(); }

    Descriptor file;
    NicMember member;
    SharedRegion region;
    NicRingWriter entries;
    NicRingReader arrivals;
};

LinkFrame frame(FrameKind kind, std::uint64_t number, std::uint32_t size_bytes = 0) {
    LinkFrame made;
    made.kind = kind;
    made.source = 1;
    made.target = 0;
    made.number = number;
    made.size_bytes = size_bytes;
    return made;
}

TEST(NicMember, SendsWhatWasPostedAsFarAsTheOtherHasRoom) {
    Ends ends;
    const std::uint32_t slots = ends.member.shape().slots;
    for (std::uint64_t number = 1; number <= slots; ++number) {
        ends.write(NicEntryKind::frame, 1, number, number);
        ASSERT_EQ(ends.take(), Code::ok);
        ASSERT_TRUE(ends.member.pair(1).may_send());
        const LinkFrame next = ends.member.next_frame(1);
        EXPECT_EQ(next.number, number);
        EXPECT_EQ(ends.member.bytes_of(next).size(), number);
    }
    ASSERT_TRUE(ends.member.take_word(frame(FrameKind::delivered, slots)).ok());
    EXPECT_EQ(ends.region.layout().peer(1).delivered, slots);
    ends.write(NicEntryKind::frame, 1, slots + 1);
    ASSERT_EQ(ends.take(), Code::ok);
    EXPECT_FALSE(ends.member.pair(1).may_send()) << "nothing was read there";
    ASSERT_TRUE(ends.member.take_word(frame(FrameKind::consumed, 1)).ok());
    EXPECT_TRUE(ends.member.pair(1).may_send());
}

TEST(NicMember, RefusesEntriesThatCannotBe) {
    const std::uint32_t slots = NicShape::of(ranks).slots;
    const std::uint32_t bytes = NicShape::of(ranks).slot_bytes;
    struct Case {
        NicEntryKind kind;
        std::uint32_t peer;
        std::uint64_t number;
        std::uint64_t size_bytes;
    };
    for (const Case& bad :
         {Case{NicEntryKind::frame, ranks, 1, 0}, Case{NicEntryKind::frame, ~0U, 1, 0},
          Case{NicEntryKind::consumed, 0, 1, 0}, Case{NicEntryKind::frame, 1, 2, 0},
          Case{NicEntryKind::frame, 1, 0, 0}, Case{NicEntryKind::frame, 1, 1, bytes + 1ULL},
          Case{NicEntryKind::frame, 1, 1, ~std::uint64_t{0}}, Case{NicEntryKind::consumed, 1, 1, 0},
          Case{NicEntryKind::consumed, 1, 0, 0}, Case{static_cast<NicEntryKind>(99), 1, 1, 0}}) {
        Ends ends;
        ends.write(bad.kind, bad.peer, bad.number, bad.size_bytes);
        EXPECT_EQ(ends.take(), Code::corrupt) << bad.peer << " " << bad.number;
    }
    Ends ends;
    for (std::uint64_t number = 1; number <= slots; ++number) {
        ends.write(NicEntryKind::frame, 1, number);
        ASSERT_EQ(ends.take(), Code::ok);
    }
    ends.write(NicEntryKind::frame, 1, slots + 1);
    EXPECT_EQ(ends.take(), Code::corrupt) << "more than there are slots";
}

/// What decoding gives of a frame goes beside what the rank handed in, which stays.
TEST(NicMember, HasRoomForEchoesOfCodedFrames) {
    NicEntry entry;
    entry.peer = 1;
    entry.number = 1;
    entry.size_bytes = 5;
    entry.coding = NicCoding::plain;
    entry.echo = 1;
    Ends ends;
    ends.entries.write(entry);
    ASSERT_EQ(ends.take(), Code::ok);
    const LinkFrame next = ends.member.next_frame(1);
    EXPECT_TRUE(ends.member.wants_echo(next));
    const auto room = ends.member.room_for_echo(next);
    ASSERT_TRUE(room.ok());
    EXPECT_EQ(room->size(), ends.member.shape().slot_bytes);
    std::memset(room->data(), 7, room->size());
    EXPECT_EQ(*ends.region.layout().slot(NicSlots::echoed, 1, 1), std::byte{7});
    EXPECT_EQ(*ends.region.layout().slot(NicSlots::leaving, 1, 1), std::byte{0});

    for (const auto& [peer, coding, echo] : {std::tuple{1U, NicCoding::none, 1},
                                             {0U, NicCoding::plain, 1},
                                             {1U, NicCoding::plain, 2}}) {
        Ends others;
        entry.peer = peer;
        entry.coding = coding;
        entry.echo = static_cast<std::uint8_t>(echo);
        others.entries.write(entry);
        EXPECT_EQ(others.take(), Code::corrupt) << peer << " " << echo;
    }
}

/// ElementsInRuns is a frame whose elements are in this process's memory, and the rank's slot with
/// where they are.
struct ElementsInRuns {
    ElementsInRuns() : ends(RankMemory::of(RankMemory::of_this_process()).value()) {
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(i);
        entry.peer = 1;
        entry.number = 1;
        entry.size_bytes = frame_header_bytes + 5000;
        entry.coding = NicCoding::plain;
        entry.runs = 2;
    }
    /// Posts the frame, and copies it as far as it is taken.
    Result<bool> copy() {
        std::byte* const slot = ends.region.layout().slot(NicSlots::leaving, entry.peer, 1);
        const std::size_t header = plain_header_bytes(entry.coding);
        std::memset(slot, 7, header);
        std::memcpy(slot + header, runs.data(), sizeof runs);
        ends.entries.write(entry);
        GRADCOLL_TRY(ends.member.take_entry().status());
        if (entry.peer == 0) {
            GRADCOLL_TRY(ends.member.copy_piece(1, copied));
            return true;
        }
        copied.resize(entry.size_bytes);
        return ends.member.copy_frame(ends.member.next_frame(1), copied);
    }

    std::vector<std::byte> elements = std::vector<std::byte>(9000);
    std::array<NicRun, 2> runs = {NicRun{reinterpret_cast<std::uintptr_t>(&elements[4000]), 3000},
                                  NicRun{reinterpret_cast<std::uintptr_t>(&elements[17]), 2000}};
    NicEntry entry;
    std::vector<std::byte> copied = std::vector<std::byte>(frame_header_bytes + 5000);
    Ends ends;
};

TEST(NicMember, ReadsElementsWhereTheRankHasThem) {
    ElementsInRuns there;
    const auto copied = there.copy();
    ASSERT_TRUE(copied.ok() && *copied) << copied.status().message();
    EXPECT_EQ(there.copied.front(), std::byte{7});
    EXPECT_EQ(std::memcmp(&there.copied[frame_header_bytes], &there.elements[4000], 3000), 0);
    EXPECT_EQ(std::memcmp(&there.copied[frame_header_bytes + 3000], &there.elements[17], 2000), 0);
    ElementsInRuns piece;  // of an exact sum
    piece.entry.peer = 0;
    piece.entry.coding = NicCoding::none;
    piece.entry.size_bytes = 5000;
    piece.copied.resize(5000);
    ASSERT_TRUE(piece.copy().ok());
    EXPECT_EQ(std::memcmp(piece.copied.data(), &piece.elements[4000], 3000), 0);
}

/// What a rank has withdrawn may be anything by now, and must not leave.
TEST(NicMember, KnowsWhatTheRankHasWithdrawn) {
    ElementsInRuns there;
    there.ends.region.layout().own(1).withdrawn = 1;
    const auto copied = there.copy();
    ASSERT_TRUE(copied.ok());
    EXPECT_FALSE(*copied);
    ElementsInRuns piece;
    piece.entry.peer = 0;
    piece.ends.region.layout().own(0).withdrawn = 1;
    EXPECT_EQ(piece.copy().status().code(), Code::peer_failed);
}

TEST(NicMember, RefusesRunsThatCannotBe) {
    using Change = void (*)(ElementsInRuns&);
    for (const Change change :
         {Change([](ElementsInRuns& each) { each.entry.runs = most_nic_runs + 1; }),
          Change([](ElementsInRuns& each) { each.entry.coding = NicCoding::none; }),
          Change([](ElementsInRuns& each) { each.entry.size_bytes = 10; }),
          Change([](ElementsInRuns& each) { --each.entry.size_bytes; }),
          Change([](ElementsInRuns& each) { ++each.entry.size_bytes; }),
          Change([](ElementsInRuns& each) { each.runs[0].size_bytes = ~std::uint64_t{0}; }),
          Change([](ElementsInRuns& each) { each.runs[1].size_bytes = 2000 + (1ULL << 63); })}) {
        ElementsInRuns there;
        change(there);
        EXPECT_EQ(there.copy().status().code(), Code::corrupt);
    }
    ElementsInRuns nowhere;
    nowhere.runs[1].address = 8;
    EXPECT_EQ(nowhere.copy().status().code(), Code::io);
    Ends without;  // the rank has given no memory
    without.entries.write(ElementsInRuns().entry);
    EXPECT_EQ(without.take(), Code::corrupt);
}

TEST(NicMember, PutsFramesIntoTheRanksMemoryInOrder) {
    Ends ends;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        const LinkFrame data = frame(FrameKind::data, number, 4);
        const auto room = ends.member.room_for(data);
        ASSERT_TRUE(room.ok());
        std::memcpy(*room, &number, 4);
        ASSERT_TRUE(ends.member.arrived(data, data.size_bytes).ok());
        const auto entry = ends.arrivals.read();
        ASSERT_TRUE(entry.ok() && entry->has_value());
        EXPECT_EQ((*entry)->number, number);
        EXPECT_EQ(std::memcmp(ends.region.layout().slot(NicSlots::coming, 1, number), &number, 4),
                  0);
        EXPECT_EQ(ends.member.word_for(1, FrameKind::delivered).number, number);
    }
}

TEST(NicMember, RefusesFramesThatCannotBe) {
    Ends ends;
    const std::uint32_t slots = ends.member.shape().slots;
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}})
        EXPECT_EQ(ends.member.room_for(frame(FrameKind::data, number)).status().code(),
                  Code::corrupt);
    for (std::uint64_t number = 1; number <= slots; ++number) {
        ASSERT_TRUE(ends.member.room_for(frame(FrameKind::data, number)).ok());
        ASSERT_TRUE(ends.member.arrived(frame(FrameKind::data, number), 0).ok());
    }
    EXPECT_EQ(ends.member.room_for(frame(FrameKind::data, slots + 1)).status().code(),
              Code::corrupt)
        << "the rank has read none of them";
    for (const FrameKind kind : {FrameKind::delivered, FrameKind::consumed})
        EXPECT_EQ(ends.member.take_word(frame(kind, 1)).code(), Code::corrupt)
            << "nothing was sent";
}

/// A rank may write anything: the result is an error, or something that can be, and never more
/// frames to send than there is room for.
TEST(NicMember, SurvivesAnyEntries) {
    std::mt19937_64 random(35);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        Ends ends;
        for (int i = 0; i < 20; ++i) {
            ends.write(static_cast<NicEntryKind>(random() % 3), random() % 4, random() % 6,
                       random() % 5 == 0 ? random() : random() % 1000);
            const auto taken = ends.member.take_entry();
            if (!taken.ok()) {
                ++refused;
                break;
            }
            NicMember::Pair& pair = ends.member.pair(1);
            ASSERT_LE(pair.posted - pair.delivered, ends.member.shape().slots);
            if (!pair.may_send()) continue;
            const LinkFrame next = ends.member.next_frame(1);
            ASSERT_LE(ends.member.bytes_of(next).size(), ends.member.shape().slot_bytes);
        }
    }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace gradcoll
