// The text of codecs: what is read, what is printed, and what bad text is told.
#include "compress/codec_spec.hpp"

#include <gtest/gtest.h>

#include "compress/codec_id.hpp"

namespace gradcoll {
namespace {

std::string message_of(std::string_view text) {
    const Result<CodecSpec> spec = CodecSpec::parse(text);
    EXPECT_FALSE(spec.ok()) << text;
    if (spec.ok()) return {};
    EXPECT_EQ(spec.status().code(), Code::invalid_argument);
    return spec.status().message();
}

TEST(CodecSpec, TextOfEveryCodecGivesItBack) {
    for (const CodecId codec : all_codecs()) {
        const auto number = static_cast<std::uint8_t>(codec);
        const CodecSpec spec = CodecSpec::of(number);
        EXPECT_EQ(spec.number(), number);
        EXPECT_EQ(spec.text(), name_of(codec));
        const Result<CodecSpec> read = CodecSpec::parse(spec.text());
        ASSERT_TRUE(read.ok()) << read.status().message();
        EXPECT_EQ(*read, spec);
    }
    EXPECT_NE(*CodecSpec::parse("2:4"), *CodecSpec::parse("bf16"));
}

TEST(CodecSpec, AliasesAreThePrintedNameAfterwards) {
    for (const char* name : {"off", "none", "4:4"})
        EXPECT_EQ(CodecSpec::parse(name)->text(), "exact") << name;
}

TEST(CodecSpec, UnknownNamesAreToldTheWholeTable) {
    for (const auto& [stage, member] : codec_entries())
        EXPECT_EQ(message_of("fast").find(member->name) == std::string::npos, member->is_internal)
            << member->name;
    EXPECT_NE(message_of("grid"), "");
    EXPECT_NE(message_of("zip"), "");
    EXPECT_EQ(message_of("9:4").find(
                  "codec \"9:4\" is unknown; allowed: exact (off, none, 4:4), "
                  "1:4, 2:4, 1:8, 2:8, 4:8, 1:16, bf16, int8, int4, int16, bound, int, "
                  "2:4+int8, 1:4+int8, 2:4+int4, and +zstd or +lz4 behind a lossy "
                  "one"),
              0U);
}

TEST(CodecSpec, ChainsAreFoundByTheirWholeText) {
    EXPECT_EQ(CodecSpec::parse("2:4+int8")->number(), number_of(CodecId::nm_2_4_int8));
    EXPECT_EQ(CodecSpec::parse("2:4+int8")->text(), "2:4+int8");
    EXPECT_NE(*CodecSpec::parse("2:4+int8"), *CodecSpec::parse("2:4"));
}

TEST(CodecSpec, UnknownChainsAreRefusedBehindWhatIsOne) {
    EXPECT_EQ(message_of("2:4+bf16"),
              "codec \"2:4+bf16\": \"+bf16\" at character 4: no such chain; allowed: 2:4+int8, "
              "1:4+int8, 2:4+int4, or +zstd or +lz4 behind a whole lossy codec");
    EXPECT_EQ(message_of("2:4+int8+int4/abs=1")
                  .find("codec \"2:4+int8+int4/abs=1\": \"+int4/abs=1\" at character 9: no such"),
              0U);
    EXPECT_EQ(message_of("off+int8").find("codec \"off+int8\": \"+int8\" at character 4: no"), 0U);
}

TEST(CodecSpec, ParametersAndUnknownStagesAreRefusedAtTheirPlace) {
    EXPECT_EQ(message_of("2:4+int8/abs=1"),
              "codec \"2:4+int8/abs=1\": \"/abs=1\" at character 9: 2:4+int8 takes no parameters; "
              "allowed: 2:4+int8");
    EXPECT_EQ(message_of("bf16/abs=1e-4"),
              "codec \"bf16/abs=1e-4\": \"/abs=1e-4\" at character 5: bf16 takes no parameters; "
              "allowed: bf16");
    EXPECT_EQ(message_of("zip+bf16")
                  .find("codec \"zip\", character 1 of \"zip+bf16\", is unknown; allowed: exact"),
              0U);
    for (const char* text : {"+", "/", "2:4+", "2:4/", "+2:4", "2:4+2:4+2:4", "++"})
        EXPECT_NE(message_of(text).find(text), std::string::npos) << text;
}

TEST(CodecSpec, ToleranceIsReadAndPrinted) {
    EXPECT_EQ(CodecSpec::parse("bound/abs=1e-3")->text(), "bound/abs=0.001");
    EXPECT_EQ(CodecSpec::parse("bound/abs=0.001")->text(), "bound/abs=0.001");
    EXPECT_EQ(CodecSpec::parse("bound")->text(), "bound");
    EXPECT_EQ(*codec_from_name("bound/abs=1e-3"), *codec_from_name("bound/abs=0.001"));
    EXPECT_NE(*codec_from_name("bound/abs=1e-3"), *codec_from_name("bound"));
}

TEST(CodecSpec, QuantizersTakeATolerancesOrASeed) {
    for (const char* text : {"int8/abs=0.001", "int4/rel=0.25", "int16/abs=call", "int8/seed=7"})
        EXPECT_EQ(CodecSpec::parse(text)->text(), text);
    EXPECT_EQ(CodecSpec::parse("int8/rel=1e-2")->parameters(), CodecParameters{.rel = 0.01});
    EXPECT_EQ(CodecSpec::parse("int8/seed=7")->parameters(), CodecParameters{.seed = 7});
    EXPECT_EQ(message_of("int8/abs=1e-3/seed=7"),
              "codec \"int8/abs=1e-3/seed=7\": \"/seed=7\" at character 14: a second parameter; "
              "allowed: one");
    EXPECT_EQ(message_of("int8/rel=2"),
              "codec \"int8/rel=2\": \"/rel=2\" at character 5: no such value; allowed: "
              "abs=NUMBER, a positive number such as 1e-4: no element comes back further off; or "
              "rel=NUMBER, above 0 and below 1: not further off than this times its magnitude; or "
              "seed=INTEGER, from 1 to 4294967295: rounded up or down by chance");
    for (const char* text : {"int8/seed=0", "int8/seed=-1", "int8/seed=4294967296", "int8/seed",
                             "int8/rel=1", "int8/rel=0", "int8/rel=call", "bound/seed=1",
                             "int8/abs=Call", "int8/ab=1", "int8/abs=1/rel=0.1"})
        EXPECT_NE(message_of(text).find(text), std::string::npos) << text;
}

TEST(CodecSpec, ACallDealsOutWhatItMayLoseInParts) {
    for (const char* text : {"bound/abs=8call", "int8/abs=2call+lz4"})
        EXPECT_EQ(CodecSpec::parse(text)->text(), text);
    EXPECT_EQ(CodecSpec::parse("bound/abs=1call")->text(), "bound/abs=call");
    for (const char* text : {"bound/abs=0call", "bound/abs=65call", "bound/abs=-1call",
                             "bound/abs=1.5call", "bound/abs=callcall", "bound/abs=2callcall"})
        EXPECT_NE(message_of(text).find("no such value"), std::string::npos) << text;
    EXPECT_EQ(loss_parts_of(CodecId::exact), 0);
    EXPECT_EQ(loss_parts_of(CodecId::nm_2_4), 1);
    EXPECT_EQ(loss_parts_of(CodecId::bound), 1);
    const CodecId eight = *with_loss_parts(CodecId::bound, 8);
    EXPECT_EQ(name_of(eight), "bound/abs=8call");
    EXPECT_EQ(loss_parts_of(eight), 8);
    EXPECT_TRUE(shortens_with_tolerance(eight));
    EXPECT_FALSE(shortens_with_tolerance(*codec_from_name("int8/abs=2call")));
    EXPECT_FALSE(shortens_with_tolerance(*codec_from_name("bound/abs=1e-3")));
}

TEST(CodecSpec, AToleranceMakesTheRateVariable) {
    EXPECT_TRUE(has_fixed_rate(CodecId::int8));
    EXPECT_TRUE(has_fixed_rate(*codec_from_name("int8/seed=3")));
    for (const char* text :
         {"int8/abs=1e-3", "int4/rel=0.1", "int16/abs=call", "int8/abs=1e-3+zstd"}) {
        const CodecId codec = *codec_from_name(text);
        EXPECT_FALSE(has_fixed_rate(codec)) << text;
        EXPECT_EQ(codec_block_elems(codec), 512U);
        EXPECT_EQ(bound_bytes(codec, 4, 1024), 2 * (4U + 2048U));
    }
    EXPECT_EQ(bound_bytes(CodecId::int8, 4, 512), 528U);
    EXPECT_TRUE(waits_for_tolerance(*codec_from_name("int8/abs=call")));
    EXPECT_FALSE(waits_for_tolerance(CodecId::int8));
    EXPECT_TRUE(waits_for_tolerance(*codec_from_name("bound+zstd")));
    const CodecId told = *told_by_call(*codec_from_name("int8+zstd"));
    EXPECT_EQ(name_of(told), "int8/abs=call+zstd");
    EXPECT_TRUE(waits_for_tolerance(told));
}

TEST(CodecSpec, TolerancesThatAreNoPositiveNumbersAreRefused) {
    for (const char* text : {"bound/", "bound/abs", "bound/abs=", "bound/abs=0", "bound/abs=-1",
                             "bound/abs=inf", "bound/abs=nan", "bound/abs=1e-3x", "bound/rel=1",
                             "bound/abs=1/abs=1", "bound/abs=1e999"})
        EXPECT_NE(message_of(text).find(text), std::string::npos) << text;
}

TEST(CodecSpec, PackingIsReadAndPrintedBehindAnyLossyCodec) {
    for (const char* text : {"int8+zstd", "2:4+int8+lz4", "bound/abs=0.001+zstd", "bf16+lz4",
                             "bound+zstd", "int8/rel=0.01+lz4", "int4/seed=3+zstd"}) {
        const Result<CodecSpec> spec = CodecSpec::parse(text);
        ASSERT_TRUE(spec.ok()) << spec.status().message();
        EXPECT_EQ(spec->text(), text);
    }
    EXPECT_EQ(CodecSpec::parse("bound/abs=1e-3+lz4")->parameters(),
              (CodecParameters{.abs = 1e-3, .packing = Packing::lz4}));
    EXPECT_EQ(CodecSpec::parse("bound/abs=1e+3")->text(), "bound/abs=1000");
    EXPECT_EQ(CodecSpec::parse("int8+zstd")->number(), number_of(CodecId::int8));
    EXPECT_NE(*CodecSpec::parse("int8+zstd"), *CodecSpec::parse("int8"));
    EXPECT_NE(*CodecSpec::parse("int8+zstd"), *CodecSpec::parse("int8+lz4"));
}

TEST(CodecSpec, PackingThatCannotBeIsRefusedAtItsPlace) {
    EXPECT_EQ(message_of("off+zstd"),
              "codec \"off+zstd\": \"+zstd\" at character 4: only what a lossy codec encodes is "
              "packed; allowed: exact");
    EXPECT_EQ(message_of("int8+zip"),
              "codec \"int8+zip\": \"+zip\" at character 5: no such chain; allowed: 2:4+int8, "
              "1:4+int8, 2:4+int4, or +zstd or +lz4 behind a whole lossy codec");
    for (const char* text : {"zstd", "+zstd", "int8+zstd+lz4", "int8+", "bound+zstd/abs=1"})
        EXPECT_NE(message_of(text).find("+zstd or +lz4"), std::string::npos) << text;
}

}  // namespace
}  // namespace gradcoll
