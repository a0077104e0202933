#include "runtime/program.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

/// Returns steps of the given kinds; step i waits for deps[i].
Schedule schedule_of(const std::vector<StepKind>& kinds,
                     const std::vector<std::vector<std::uint32_t>>& deps) {
    Schedule schedule;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        Step step;
        step.kind = kinds[i];
        step.range = {0, 10 * static_cast<std::int64_t>(i + 1)};
        step.first_dep = static_cast<std::uint32_t>(schedule.deps.size());
        step.dep_count = static_cast<std::uint16_t>(deps[i].size());
        schedule.deps.insert(schedule.deps.end(), deps[i].begin(), deps[i].end());
        schedule.steps.push_back(step);
    }
    return schedule;
}

std::vector<std::uint32_t> list(std::span<const std::uint32_t> steps) {
    return {steps.begin(), steps.end()};
}

TEST(Program, SuccessorsAreTheDependenciesTurnedRound) {
    const Schedule schedule =
        schedule_of({StepKind::recv, StepKind::recv, StepKind::reduce, StepKind::send},
                    {{}, {}, {0, 1}, {2, 0}});
    const auto program = Program::make(schedule, 4);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(list(program->successors(0)), (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(list(program->successors(1)), (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(list(program->successors(2)), (std::vector<std::uint32_t>{3}));
    EXPECT_TRUE(program->successors(3).empty());
    EXPECT_EQ(list(program->roots()), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(program->message_count(), 3U);
}

TEST(Program, ResidualsOfEncodeStepsLieOneAfterAnother) {
    const Schedule schedule = schedule_of(
        {StepKind::encode, StepKind::send, StepKind::encode, StepKind::encode}, {{}, {}, {}, {}});
    const auto program = Program::make(schedule, 4);
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(program->residual_first_elem(0), 0);
    EXPECT_EQ(program->residual_first_elem(2), 10);
    EXPECT_EQ(program->residual_first_elem(3), 40);
}

TEST(Program, ADependencyThatPointsForwardsIsRefused) {
    const Schedule schedule = schedule_of({StepKind::copy, StepKind::copy}, {{1}, {}});
    const auto program = Program::make(schedule, 4);
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.status().code(), Code::internal);
}

TEST(Program, AnEmptyScheduleHasNothingToDo) {
    const Schedule schedule;
    const auto program = Program::make(schedule, 4);
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(program->step_count(), 0U);
    EXPECT_TRUE(program->roots().empty());
}

}  // namespace
}  // namespace gradcoll
