// Vectors that an agent adds for one rank here and one host elsewhere, whose agent the test plays:
// sums in the order of pieces, whatever comes first, and what that agent must not do.
#include "nic/agent/group_sums.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "nic/sum_note.hpp"

namespace gradcoll {
namespace {

using Floats = std::vector<float>;

std::span<const std::byte> bytes_of(const Floats& values) {
    return std::as_bytes(std::span(values));
}

/// Rank 0 on host 0, ranks 1 and 2 on host 1.
class GroupSumsTest : public testing::Test {
  protected:
    struct Sent {
        LinkFrame frame;
        Floats values;
    };

    void SetUp() override {
        members_.roster.host_of_rank = {0, 1, 1};
        members_.roster.endpoints.resize(2);
        members_.by_rank.resize(3);
        members_.gone.resize(3);
        Descriptor file;
        auto made = SharedRegion::make(NicShape::of(3), file);
        ASSERT_TRUE(made.ok());
        region_ = std::move(SharedRegion::map(NicShape::of(3), file)).value();
        members_.by_rank[0] = std::make_shared<NicMember>(0, std::move(made).value());
        members_.here = {0};
        entries_ = NicRingWriter(region_.layout(), NicWay::to_agent);
        arrivals_ = NicRingReader(region_.layout(), NicWay::to_rank);
    }

    static NicNote note(std::uint64_t index, ReduceOp op = ReduceOp::sum) {
        return note_of(SumKind{op, ElementType::f32}, index, 1000);
    }
    void hand_in(const Floats& values, std::uint64_t index) {
        NicEntry entry;
        entry.peer = 0;
        entry.number = ++posted_;
        entry.size_bytes = bytes_of(values).size();
        entry.note = note(index);
        std::memcpy(region_.layout().slot(NicSlots::leaving, 0, entry.number), values.data(),
                    entry.size_bytes);
        entries_.write(entry);
        ASSERT_TRUE(members_.by_rank[0]->take_entry().ok());
        sums_.work();
    }
    Code bring(FrameKind kind, std::uint64_t number, std::uint64_t index, const Floats& values,
               ReduceOp op = ReduceOp::sum) {
        LinkFrame frame;
        frame.kind = kind;
        frame.source = 1;
        frame.target = 0;
        frame.number = number;
        frame.note = note(index, op);
        frame.size_bytes = static_cast<std::uint32_t>(bytes_of(values).size());
        return sums_.take(frame, bytes_of(values)).code();
    }
    /// Returns the rank's next sum; nothing if there is none.
    Floats next_sum() {
        const auto entry = arrivals_.read();
        if (!entry.ok() || !entry->has_value()) return {};
        Floats values((*entry)->size_bytes / sizeof(float));
        std::memcpy(values.data(), region_.layout().slot(NicSlots::coming, 0, (*entry)->number),
                    (*entry)->size_bytes);
        return values;
    }
    bool is_lost() {
        return region_.layout().peer(0).state == static_cast<std::uint64_t>(NicPeerState::lost);
    }

    LocalMembers members_;
    AgentCounters counters_;
    SharedRegion region_;
    NicRingWriter entries_;
    NicRingReader arrivals_;
    std::uint64_t posted_ = 0;
    std::vector<Sent> sent_;
    GroupSums sums_{{members_, counters_},
                    [this](std::uint32_t, const LinkFrame& frame, const SumBytes& bytes) {
                        Floats values(frame.size_bytes / sizeof(float));
                        if (bytes) std::memcpy(values.data(), bytes->data(), bytes->size());
                        sent_.push_back({frame, values});
                    },
                    [](std::uint32_t) { return std::uint64_t{0}; }};
};

TEST_F(GroupSumsTest, AnOwnerAddsAndTellsAll) {
    hand_in({1, 2}, 0);
    EXPECT_TRUE(sent_.empty()) << "its own part stays here";
    EXPECT_EQ(bring(FrameKind::part, 1, 0, {10, 20}), Code::ok);
    ASSERT_EQ(sent_.size(), 1U);
    EXPECT_EQ(sent_[0].frame.kind, FrameKind::total);
    EXPECT_EQ(sent_[0].values, (Floats{11, 22}));
    EXPECT_EQ(next_sum(), (Floats{11, 22}));
}

TEST_F(GroupSumsTest, RanksGetSumsInOrderWhicheverComesFirst) {
    EXPECT_EQ(bring(FrameKind::part, 1, 0, {10}), Code::ok) << "before the rank's own";
    hand_in({1}, 0);
    hand_in({2}, 1);
    hand_in({3}, 2);
    ASSERT_EQ(sent_.size(), 2U) << "the first sum, and the part of the second piece";
    EXPECT_EQ(sent_[1].frame.kind, FrameKind::part);
    EXPECT_EQ(bring(FrameKind::part, 3, 2, {30}), Code::ok);
    EXPECT_EQ(next_sum(), Floats{11});
    EXPECT_EQ(next_sum(), Floats{}) << "the third waits for the second";
    EXPECT_EQ(bring(FrameKind::total, 2, 1, {22}), Code::ok);
    EXPECT_EQ(next_sum(), Floats{22});
    EXPECT_EQ(next_sum(), Floats{33});
}

TEST_F(GroupSumsTest, AnotherAgentKeepsToTheRules) {
    hand_in({1}, 0);
    EXPECT_EQ(bring(FrameKind::total, 1, 0, {5}), Code::corrupt) << "of a piece that is ours";
    EXPECT_EQ(bring(FrameKind::part, 2, 1, {5}), Code::corrupt) << "of a piece that is its own";
    EXPECT_EQ(bring(FrameKind::total, 2, 1, {5}), Code::corrupt) << "nobody has handed that in";
    EXPECT_EQ(bring(FrameKind::part, 1000, 999 * 2, {5}), Code::corrupt) << "far ahead";
    EXPECT_EQ(bring(FrameKind::part, 3, 2, {5}), Code::ok);
    EXPECT_EQ(bring(FrameKind::part, 3, 2, {5}), Code::corrupt) << "twice";
    EXPECT_EQ(bring(FrameKind::part, 1, 0, {5}), Code::ok);
    EXPECT_EQ(bring(FrameKind::part, 1, 0, {5}), Code::corrupt) << "it is summed";
    EXPECT_FALSE(sums_.has_ended()) << "its link is what ends";
}

TEST_F(GroupSumsTest, EndForAllIfHostsDoNotAddTheSame) {
    hand_in({1}, 0);
    EXPECT_EQ(bring(FrameKind::part, 1, 0, {5}, ReduceOp::max), Code::ok);
    EXPECT_TRUE(sums_.has_ended());
    EXPECT_TRUE(is_lost());
    ASSERT_FALSE(sent_.empty());
    EXPECT_EQ(sent_.back().frame.kind, FrameKind::no_sums);
    EXPECT_EQ(bring(FrameKind::part, 2, 2, {5}), Code::ok) << "late ones are nobody's fault";
}

TEST_F(GroupSumsTest, EndIfARankLeavesInTheMiddle) {
    hand_in({1}, 0);
    bring(FrameKind::part, 1, 0, {5});
    sums_.rank_leaves(0);
    EXPECT_FALSE(sums_.has_ended()) << "it had all that it asked for";
    hand_in({1}, 0);
    sums_.rank_leaves(0);
    EXPECT_TRUE(sums_.has_ended());
}

}  // namespace
}  // namespace gradcoll
