// Which gradient begins when, and what is said of those that cannot.
#include "engine/coordinator.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

constexpr std::uint64_t any_room = UINT64_MAX;

Ready ready_as(std::string name, std::int32_t priority = 0, std::uint64_t shape = 7,
               std::string shape_text = "7 elements") {
    return {unnumbered, priority, 100, shape, 0, std::move(name), std::move(shape_text), 0, ""};
}

Ready ready_as(std::uint32_t number) {
    return {number, 0, 100, 7, 0, "", "", 0, ""};
}

/// Returns names, or numbers of those that have one, in the order in which they begin. Each sum
/// ends before the next begins.
std::vector<std::string> begun(Coordinator& coordinator) {
    std::vector<std::string> names;
    std::vector<Verdict> verdicts;
    while (coordinator.next(any_room, verdicts)) {
        for (const Verdict& verdict : verdicts)
            names.push_back((verdict.name.empty() ? std::to_string(verdict.number) : verdict.name) +
                            (verdict.more ? "+" : ""));
        coordinator.ended(verdicts.front().number);
    }
    return names;
}

TEST(Coordinator, BeginsWhatAllRanksHaveInWhateverOrderTheyHandItIn) {
    Coordinator coordinator(flat_circle(0, 3).members, 1000);
    const std::vector<std::vector<std::string>> orders{
        {"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}};
    for (std::size_t step = 0; step < 3; ++step) {
        EXPECT_TRUE(begun(coordinator).empty() || step == 2);
        for (std::size_t rank = 0; rank < 3; ++rank)
            ASSERT_TRUE(coordinator.add(rank, ready_as(orders[rank][step]), 0).ok());
    }
    EXPECT_EQ(begun(coordinator), (std::vector<std::string>{"c", "b", "a"}));
}

TEST(Coordinator, HighestPriorityOfAnyRankGoesFirst) {
    Coordinator coordinator(flat_circle(0, 2).members, 1000);
    for (const int rank : {0, 1}) {
        ASSERT_TRUE(coordinator.add(rank, ready_as("late", 0), 0).ok());
        ASSERT_TRUE(coordinator.add(rank, ready_as("early", rank == 1 ? 5 : 0), 0).ok());
        ASSERT_TRUE(coordinator.add(rank, ready_as("never", -2), 0).ok());
    }
    EXPECT_EQ(begun(coordinator), (std::vector<std::string>{"early", "late", "never"}));
}

TEST(Coordinator, NumbersFollowTheFirstVerdictAndServeFromThenOn) {
    Coordinator coordinator(flat_circle(0, 2).members, 1000);
    for (const int rank : {0, 1}) {
        ASSERT_TRUE(coordinator.add(rank, ready_as("x"), 0).ok());
        ASSERT_TRUE(coordinator.add(rank, ready_as("y", 1), 0).ok());
    }
    EXPECT_EQ(begun(coordinator), (std::vector<std::string>{"y", "x"}));
    for (const int rank : {0, 1}) {
        ASSERT_TRUE(coordinator.add(rank, ready_as(1), 0).ok());
        ASSERT_TRUE(coordinator.add(rank, ready_as(0), 0).ok());
    }
    EXPECT_EQ(begun(coordinator), (std::vector<std::string>{"1", "0"}));
}

TEST(Coordinator, ShapesThatDifferAreAnErrorThatNamesBoth) {
    Coordinator coordinator(flat_circle(0, 3).members, 1000);
    for (const int rank : {1, 0, 2}) {
        Ready ready = rank < 2 ? ready_as("w", 0, 1, "10 elements of fp32")
                               : ready_as("w", 0, 2, "11 elements of fp32");
        ready.rank = rank;
        ASSERT_TRUE(coordinator.add(rank, ready, 0).ok());
    }
    std::vector<Verdict> verdicts;
    ASSERT_TRUE(coordinator.next(any_room, verdicts));
    EXPECT_EQ(verdicts.at(0).error,
              "gradient \"w\": rank 1 has 10 elements of fp32, rank 2 has 11 elements of fp32");
    for (const int rank : {0, 1, 2}) ASSERT_TRUE(coordinator.add(rank, ready_as(0), 0).ok());
    ASSERT_TRUE(coordinator.next(any_room, verdicts));
    EXPECT_EQ(verdicts.at(0).error, "");
}

/// Who changed nothing says the number alone; it counts for what that rank itself said last.
TEST(Coordinator, AsBeforeIsWhatTheSameRankSaidLast) {
    Coordinator coordinator(flat_circle(0, 2).members, 1000);
    const auto as_before = [](std::uint32_t number) {
        Ready ready;
        ready.number = number;
        ready.as_before = true;
        return ready;
    };
    std::vector<Verdict> verdicts;
    const auto next = [&] {
        EXPECT_TRUE(coordinator.next(any_room, verdicts));
        return verdicts.at(0);
    };
    for (const int rank : {0, 1})
        for (const char* name : {"a", "b"})
            ASSERT_TRUE(coordinator.add(rank, ready_as(name, *name == 'b' ? rank : 0), 0).ok());
    EXPECT_EQ(next().name, "b");
    EXPECT_EQ(next().name, "a");
    for (const int rank : {0, 1})
        for (const std::uint32_t number : {1U, 0U})
            ASSERT_TRUE(coordinator.add(rank, as_before(number), 0).ok());
    EXPECT_EQ(next().number, 0U);
    EXPECT_EQ(next().number, 1U);
    Ready other = ready_as(std::uint32_t{0});
    other.shape = 8;
    other.shape_text = "8 elements";
    other.rank = 1;
    ASSERT_TRUE(coordinator.add(1, other, 0).ok());
    ASSERT_TRUE(coordinator.add(0, as_before(0), 0).ok());
    EXPECT_EQ(next().error, "gradient \"b\": rank 1 has 8 elements, rank 0 has 7 elements");
    for (const int rank : {0, 1}) ASSERT_TRUE(coordinator.add(rank, as_before(0), 0).ok());
    EXPECT_EQ(next().error, "gradient \"b\": rank 0 has 7 elements, rank 1 has 8 elements");
}

Ready packable(std::string name, std::uint32_t pack, std::uint64_t bytes, int priority = 0) {
    return {unnumbered, priority, bytes, 7, pack, std::move(name), "7 elements", 0, ""};
}

TEST(Coordinator, PacksWhatIsShortAndAlikeUpToASize) {
    Coordinator coordinator(flat_circle(0, 1).members, 1000);
    for (const Ready& ready :
         {packable("a", 5, 400, 9), packable("long", 0, 100'000, 8), packable("b", 5, 300, 1),
          packable("other", 6, 10, 7), packable("c", 5, 300, 2), packable("d", 5, 400, 0)})
        ASSERT_TRUE(coordinator.add(0, ready, 0).ok());
    EXPECT_EQ(begun(coordinator),
              (std::vector<std::string>{"a+", "c+", "b", "long", "other", "d"}));
}

TEST(Coordinator, PackThatIsLessThanAQuarterFullWaitsForThoseOfItsKind) {
    Coordinator coordinator(flat_circle(0, 1).members, 1000);
    std::vector<Verdict> verdicts;
    const auto add = [&](const Ready& ready) { ASSERT_TRUE(coordinator.add(0, ready, 0).ok()); };
    const auto next = [&] {
        std::string names;
        if (coordinator.next(any_room, verdicts))
            for (const Verdict& verdict : verdicts) names += verdict.name;
        return names;
    };
    add(packable("a", 5, 400));
    EXPECT_EQ(next(), "a");
    add(packable("b", 5, 200));
    EXPECT_EQ(next(), "");
    add(packable("other", 6, 10));
    add(packable("long", 0, 100'000));
    EXPECT_EQ(next(), "other");
    EXPECT_EQ(next(), "long");
    EXPECT_EQ(next(), "");
    add(packable("c", 5, 50));
    EXPECT_EQ(next(), "bc");
    add(packable("d", 5, 249));
    coordinator.ended(0);
    EXPECT_EQ(next(), "");
    coordinator.ended(3);
    EXPECT_EQ(next(), "d");
}

TEST(Coordinator, PacksNothingThatRanksDisagreeOn) {
    Coordinator coordinator(flat_circle(0, 2).members, 1000);
    for (const int rank : {0, 1}) {
        const auto pack = static_cast<std::uint32_t>(5 + rank);
        ASSERT_TRUE(coordinator.add(rank, packable("a", pack, 1, 3), 0).ok());
        ASSERT_TRUE(coordinator.add(rank, packable("b", 5, 1, 2), 0).ok());
        Ready wrong = packable("wrong", 5, 1, 1);
        wrong.shape += static_cast<std::uint64_t>(rank);
        ASSERT_TRUE(coordinator.add(rank, wrong, 0).ok());
        ASSERT_TRUE(coordinator.add(rank, packable("c", 5, 1, 0), 0).ok());
    }
    EXPECT_EQ(begun(coordinator), (std::vector<std::string>{"a", "b+", "c", "wrong"}));
}

/// All ranks hear it before the same sum, and each gradient once.
TEST(Coordinator, TellsEachGradientOnceWhatItIsPlannedFor) {
    Coordinator coordinator(flat_circle(0, 1).members, 1000);
    const auto told = [&](const Ready& ready) {
        EXPECT_TRUE(coordinator.add(0, ready, 0).ok());
        std::vector<Verdict> verdicts;
        EXPECT_TRUE(coordinator.next(any_room, verdicts));
        return verdicts.at(0).links_carry;
    };
    EXPECT_EQ(told(ready_as("a")), 0);
    coordinator.plan_for(0.25);
    EXPECT_EQ(told(ready_as("b")), 0.25);
    EXPECT_EQ(told(ready_as(0)), 0.25);
    EXPECT_EQ(told(ready_as(0)), 0);
    coordinator.plan_for(0.5);
    coordinator.plan_for(0.75);
    EXPECT_EQ(told(ready_as(1)), 0.75);
    EXPECT_EQ(told(ready_as(1)), 0);
    EXPECT_EQ(told(ready_as("c")), 0.75);
}

TEST(Coordinator, WaitsForRoom) {
    Coordinator coordinator(flat_circle(0, 1).members, 1000);
    ASSERT_TRUE(coordinator.add(0, ready_as("a"), 0).ok());
    std::vector<Verdict> verdicts;
    EXPECT_FALSE(coordinator.next(99, verdicts));
    EXPECT_TRUE(coordinator.next(100, verdicts));
}

TEST(Coordinator, WhatCannotBeIsCorrupt) {
    Coordinator coordinator(flat_circle(0, 2).members, 1000);
    EXPECT_EQ(coordinator.add(0, ready_as(std::uint32_t{0}), 0).code(), Code::corrupt);
    EXPECT_EQ(coordinator.add(0, ready_as(""), 0).code(), Code::corrupt);
    ASSERT_TRUE(coordinator.add(0, ready_as("a"), 0).ok());
    const Status twice = coordinator.add(0, ready_as("a"), 0);
    EXPECT_EQ(twice.code(), Code::corrupt);
    EXPECT_EQ(twice.message(), "rank 0 has gradient \"a\" ready twice");
    ASSERT_TRUE(coordinator.add(1, ready_as("a"), 0).ok());
    std::vector<Verdict> verdicts;
    ASSERT_TRUE(coordinator.next(any_room, verdicts));
    ASSERT_TRUE(coordinator.add(0, ready_as("b"), 0).ok());
    Gathering fresh(flat_circle(0, 2).members);
    ASSERT_TRUE(fresh.give_number("a", 0).ok());
    Ready ready = ready_as(std::uint32_t{0});
    ready.as_before = true;
    const Status unsaid = fresh.add(1, ready, 0).status();
    EXPECT_EQ(unsaid.code(), Code::corrupt);
    EXPECT_EQ(unsaid.message(),
              "rank 1 has gradient \"a\" as before, and said nothing of it before");
}

TEST(Coordinator, SaysWhoIsMissingAndForHowLong) {
    constexpr std::uint64_t second = 1'000'000'000;
    Coordinator coordinator(flat_circle(0, 4).members, 1000);
    ASSERT_TRUE(coordinator.add(2, ready_as("late"), 5 * second).ok());
    ASSERT_TRUE(coordinator.add(0, ready_as("late"), 9 * second).ok());
    EXPECT_TRUE(coordinator.stalls(64 * second, 60 * second).empty());
    EXPECT_EQ(
        coordinator.stalls(66 * second, 60 * second),
        (std::vector<std::string>{"gradient \"late\" waits for 2 of 4 ranks since 61 s: 1, 3"}));
    EXPECT_TRUE(coordinator.stalls(67 * second, 60 * second).empty());
    EXPECT_EQ(coordinator.stalls(126 * second, 60 * second).size(), 1U);
    ASSERT_TRUE(coordinator.add(1, ready_as("late"), 0).ok());
    ASSERT_TRUE(coordinator.add(3, ready_as("late"), 0).ok());
    EXPECT_TRUE(coordinator.stalls(1000 * second, 60 * second).empty());
}

}  // namespace
}  // namespace gradcoll
