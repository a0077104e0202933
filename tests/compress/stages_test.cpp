// The table of codec stages: what is wrong with one is found, and nothing is wrong with ours.
#include "compress/stage.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradcoll {
namespace {

constexpr std::string_view other_names[] = {"plain"};
constexpr CodecMember exact_only[] = {{.number = 0, .name = "exact", .aliases = other_names}};

/// Returns a complete stage with these members.
CodecStage stage_of(std::span<const CodecMember> members) {
    return {.members = members,
            .description = [](const CodecMember&) { return std::string("does something"); },
            .supports = [](const CodecMember&, ElementType) { return true; },
            .block_elems = 512,
            .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                              std::size_t count) { return count * elem_bytes; },
            .kernels = {[](const CodecMember&, ElementType) { return Kernels{}; }}};
}

std::string fault_with(const CodecStage& stage) {
    const CodecStage exact = stage_of(exact_only);
    const CodecStage* const stages[] = {&exact, &stage};
    return fault_of(stages);
}

std::string fault_with(const CodecMember& member) {
    const CodecMember members[] = {member};
    return fault_with(stage_of(members));
}

TEST(Stages, TheTableOfThisBuildIsGood) {
    std::vector<const CodecStage*> stages;
    for (const auto& [stage, member] : codec_entries())
        if (stages.empty() || stages.back() != stage) stages.push_back(stage);
    EXPECT_EQ(fault_of(stages), "");
    EXPECT_EQ(codec_entries().front().member->name, "exact");
}

TEST(Stages, PlacesAreThoseOfTheNumbers) {
    std::size_t found = 0;
    for (unsigned number = 0; number < 256; ++number) {
        const std::size_t place = place_of_codec(static_cast<std::uint8_t>(number));
        if (place == no_codec) continue;
        EXPECT_EQ(codec_entries()[place].member->number, number);
        ++found;
    }
    EXPECT_EQ(found, codec_entries().size());
}

TEST(Stages, EveryStageHasKernelsForEverySupportedTypeOfKnownSize) {
    for (const auto& [stage, member] : codec_entries())
        for (int number = 0; number <= static_cast<int>(ElementType::u64); ++number) {
            const auto type = static_cast<ElementType>(number);
            const Kernels kernels = stage->kernels[0](*member, type);
            EXPECT_EQ(kernels.encode != nullptr, stage->supports(*member, type)) << member->name;
            EXPECT_EQ(kernels.decode_sum != nullptr, stage->supports(*member, type))
                << member->name;
        }
}

TEST(Stages, TwoCodecsWithOneNumberOrNameAreAFault) {
    EXPECT_EQ(fault_with(CodecMember{.number = 200, .name = "mine"}), "");
    EXPECT_EQ(fault_with(CodecMember{.number = 0, .name = "mine"}),
              "codecs exact and mine both have number 0");
    EXPECT_EQ(fault_with(CodecMember{.number = 200, .name = "exact"}),
              "codecs 0 and 200 are both named exact");
    EXPECT_EQ(fault_with(CodecMember{.number = 200, .name = "plain"}),
              "codecs 0 and 200 are both named plain");
    EXPECT_EQ(fault_with(CodecMember{.number = 200, .name = "mine", .aliases = other_names}),
              "codecs 0 and 200 are both named plain");
}

TEST(Stages, NamesThatSettingsCannotSpellAreAFault) {
    for (const char* name : {"", "a b", "a,b", "2:4+int8", "int8/abs", "a=b", "\"a\"", "\xc3\xa4"})
        EXPECT_NE(fault_with(CodecMember{.number = 200, .name = name}), "") << name;
}

TEST(Stages, ChainsAreOfCodecsThatComeBeforeThem) {
    const auto fault_of_chain = [](std::string_view name) {
        const CodecMember members[] = {{.number = 200, .name = "mine"},
                                       {.number = 201, .name = name}};
        return fault_with(stage_of(members));
    };
    EXPECT_EQ(fault_of_chain("mine+plain"), "");
    EXPECT_EQ(fault_of_chain("mine+zip"),
              "\"mine+zip\", a name of codec 201: allowed beside + are names of codecs before it");
    for (const char* name : {"+", "mine+", "+mine", "mine++mine"})
        EXPECT_NE(fault_of_chain(name), "") << name;
}

TEST(Stages, StagesThatLackSomethingAreAFault) {
    const CodecMember mine[] = {{.number = 200, .name = "mine"}};
    CodecStage no_kernels = stage_of(mine), odd_block = stage_of(mine);
    no_kernels.kernels[0] = nullptr;
    odd_block.block_elems = 24;
    EXPECT_EQ(fault_with(no_kernels), "the stage of codec mine lacks a function");
    EXPECT_EQ(fault_with(odd_block),
              "codec mine has blocks of 24 elements; allowed: what divides 512");
    EXPECT_EQ(fault_of({}), "no codec");
    const CodecStage stage = stage_of(mine);
    const CodecStage* const without_exact[] = {&stage};
    EXPECT_EQ(fault_of(without_exact), "the first codec is mine; allowed: number 0");
}

}  // namespace
}  // namespace gradcoll
