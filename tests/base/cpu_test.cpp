// The choice of the instruction set.
#include "base/cpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/option_table.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

TEST(InstructionSets, ScalarIsAlwaysThereAndHigherSetsIncludeLowerOnes) {
    EXPECT_TRUE(cpu_has(InstructionSet::scalar));
    for (std::size_t i = 1; i < instruction_set_count; ++i)
        EXPECT_TRUE(!cpu_has(all_instruction_sets.sets[i]) ||
                    cpu_has(all_instruction_sets.sets[i - 1]));
}

TEST(InstructionSets, TheLimitIsReadFromItsOwnNameAndBestIsNoLimit) {
    for (const InstructionSet set : all_instruction_sets)
        EXPECT_EQ(*parse_instruction_set(name_of(set)), set);
    EXPECT_EQ(*parse_instruction_set("best"), highest_instruction_set);
}

TEST(InstructionSets, EveryWordThatTheTableAllowsIsALimit) {
    for (const std::string_view word : split_at_commas(info_of(OptionId::cpu).allowed))
        EXPECT_TRUE(parse_instruction_set(word).ok()) << word;
}

TEST(InstructionSets, AnUnknownSetIsRefusedWithTheKnownOnes) {
    EXPECT_EQ(parse_instruction_set("sse9").status().message(),
              "GC_CPU=sse9 is not allowed: best, " GRADCOLL_SET_TEXT);
}

[[noreturn]] void leave_with_limit(const char* limit) {
    setenv("GC_CPU", limit, 1);
    std::exit(best_instruction_set() == InstructionSet::scalar ? 0 : 1);
}

TEST(InstructionSets, TheVariableHoldsTheChoiceDown) {
    EXPECT_EXIT(leave_with_limit("scalar"), testing::ExitedWithCode(0), "^$");
}

TEST(InstructionSets, ABrokenVariableIsReportedAndTheBestSetIsUsed) {
    const int expected = cpu_has(all_instruction_sets.sets[1]) ? 1 : 0;
    EXPECT_EXIT(leave_with_limit("sse9"), testing::ExitedWithCode(expected),
                "GC_CPU=sse9 is not allowed.*ignored, best .default. holds");
}

}  // namespace
}  // namespace gradcoll
