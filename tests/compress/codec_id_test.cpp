// The registry: names, sizes, and which type has which codec.
#include "compress/codec_id.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "compress/codec.hpp"

namespace gradcoll {
namespace {

TEST(CodecId, EveryNameLeadsBackToItsCodec) {
    for (const CodecId codec : all_codecs()) {
        const Result<CodecId> found = codec_from_name(name_of(codec));
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(*found, codec);
    }
    for (const char* name : {"off", "none", "4:4", "exact"})
        EXPECT_EQ(*codec_from_name(name), CodecId::exact);
}

TEST(CodecId, ConstantsMeanTheCodecsOfTheirNames) {
    const std::pair<CodecId, std::string_view> named[] = {{CodecId::exact, "exact"},
                                                          {CodecId::nm_1_4, "1:4"},
                                                          {CodecId::nm_2_4, "2:4"},
                                                          {CodecId::nm_1_8, "1:8"},
                                                          {CodecId::nm_2_8, "2:8"},
                                                          {CodecId::nm_4_8, "4:8"},
                                                          {CodecId::nm_1_16, "1:16"},
                                                          {CodecId::bf16, "bf16"},
                                                          {CodecId::int8, "int8"},
                                                          {CodecId::int4, "int4"},
                                                          {CodecId::int16, "int16"},
                                                          {CodecId::bound, "bound"},
                                                          {CodecId::nm_2_4_int8, "2:4+int8"},
                                                          {CodecId::nm_1_4_int8, "1:4+int8"},
                                                          {CodecId::nm_2_4_int4, "2:4+int4"}};
    for (const auto& [codec, name] : named) EXPECT_EQ(name_of(codec), name);
    EXPECT_EQ(all_codecs().front(), CodecId::exact);
    EXPECT_FALSE(is_registered(static_cast<CodecId>(127)));
}

TEST(CodecId, TypesAreToldInWords) {
    EXPECT_EQ(types_of(CodecId::exact), "all types");
    EXPECT_EQ(types_of(CodecId::nm_2_4), "fp16, bf16, fp32, fp64");
    EXPECT_EQ(types_of(CodecId::bf16), "fp32");
    EXPECT_EQ(types_of(CodecId::int8), "fp16, bf16, fp32, fp64");
    EXPECT_EQ(types_of(CodecId::int16), "fp32, fp64");  // no gain for types of 16 bits
}

TEST(CodecId, UnknownNamesAreNamedWithTheAllowedOnes) {
    for (const char* name : {"", "3:4", "2:4 ", "zip", "2:"}) {
        const Result<CodecId> found = codec_from_name(name);
        ASSERT_FALSE(found.ok()) << name;
        EXPECT_EQ(found.status().code(), Code::invalid_argument);
        EXPECT_NE(found.status().message().find(name), std::string::npos);
        EXPECT_NE(found.status().message().find("1:16"), std::string::npos);
    }
}

TEST(CodecId, WireSizesOfOneBlockAreThoseOfTheSpecification) {
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 4, 512) * 128, 512 * 4 * 68u);  // 68 of 128 bits
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 2, 512) * 64, 512 * 2 * 36u);
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 8, 512) * 256, 512 * 8 * 132u);
    EXPECT_EQ(bound_bytes(CodecId::bf16, 4, 512), 1024u);
    EXPECT_EQ(bound_bytes(CodecId::int8, 4, 512), 2 * (8 + 256u));
    EXPECT_EQ(bound_bytes(CodecId::int4, 2, 512), 2 * (8 + 128u));
    EXPECT_EQ(bound_bytes(CodecId::int16, 8, 512), 2 * (16 + 512u));
    EXPECT_EQ(bound_bytes(CodecId::bound, 4, 512), 4 + 512 * 4u);
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4_int8, 4, 512), 48 + 8 + 256u);
    EXPECT_EQ(bound_bytes(CodecId::nm_1_4_int8, 2, 512), 48 + 8 + 128u);
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4_int4, 8, 512), 48 + 16 + 128u);
    EXPECT_EQ(bound_bytes(CodecId::exact, 12, 7), 84u);
}

TEST(CodecId, SizesAddUpAtMultiplesOfTheBlock) {
    for (const CodecId codec : all_codecs())
        for (const std::size_t rest : {0, 1, 3, 31, 100, 511}) {
            const std::size_t blocks = 7 * codec_block_elems(codec);
            EXPECT_EQ(bound_bytes(codec, 4, blocks + rest),
                      bound_bytes(codec, 4, blocks) + bound_bytes(codec, 4, rest));
        }
}

TEST(CodecId, SizesOfTailsFollowTheLayout) {
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 4, 0), 0u);
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 4, 3), 12u);  // three left over
    EXPECT_EQ(bound_bytes(CodecId::nm_2_4, 4, 5),
              4 + 8 + 4u);                                // one word, two kept, one left over
    EXPECT_EQ(bound_bytes(CodecId::int4, 4, 3), 8 + 2u);  // half a byte left over
    EXPECT_EQ(bound_bytes(CodecId::nm_1_16, 8, 40), 4 + 2 * 8 + 8 * 8u);
    EXPECT_EQ(bound_bytes(CodecId::nm_4_8, 2, (1ull << 33) + 1),
              (1ull << 33) / 512 * (64 + 512) + 2);
}

TEST(CodecId, PackingIsAParameterAndCanBeTakenAway) {
    const CodecId packed = codec_from_name("bound/abs=1e-3+zstd").value();
    EXPECT_TRUE(is_registered(packed));
    EXPECT_EQ(plain(packed), CodecId::bound);
    EXPECT_EQ(packing_of(packed), Packing::zstd);
    EXPECT_EQ(name_of(without_packing(packed)), "bound/abs=0.001");
    EXPECT_EQ(without_packing(codec_from_name("int8+lz4").value()), CodecId::int8);
    for (const CodecId codec : all_codecs()) {
        EXPECT_EQ(packing_of(codec), Packing::none);
        EXPECT_EQ(without_packing(codec), codec);
    }
    EXPECT_EQ(bound_bytes(packed, 4, 512), bound_bytes(CodecId::bound, 4, 512));
}

/// Where the rate is not fixed, plain blocks see to it (compress/block_lengths.hpp).
TEST(CodecId, OfFixedRateNoPayloadIsMuchLongerThanItsElements) {
    for (const CodecId codec : all_codecs())
        for (const ElementType type :
             {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
            if (!codec_supports(codec, type) || !has_fixed_rate(codec)) continue;
            const std::size_t elem = element_bytes(type);
            for (std::size_t count = 1; count < 3000; ++count)
                ASSERT_LE(bound_bytes(codec, elem, count), count * elem + 64)
                    << name_of(codec) << " " << count;
        }
}

TEST(CodecFor, IsDefinedForExactlyTheTypesThatTheRegistryNames) {
    for (const CodecId codec : all_codecs())
        for (int t = 0; t <= static_cast<int>(ElementType::u64); ++t) {
            const auto type = static_cast<ElementType>(t);
            const Result<Codec> found = codec_for(codec, type);
            EXPECT_EQ(found.ok(), codec_supports(codec, type));
            if (!found.ok()) {
                EXPECT_EQ(found.status().code(), Code::unsupported);
                EXPECT_NE(found.status().message().find(name_of(type)), std::string::npos);
            }
        }
}

TEST(CodecFor, NumbersThatNobodyHasAreUnsupported) {
    const Result<Codec> found = codec_for(static_cast<CodecId>(127), ElementType::f32);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), Code::unsupported);
    EXPECT_NE(found.status().message().find("127"), std::string::npos);
}

TEST(CodecFor, OpaqueElementsHaveNoKernels) {
    EXPECT_TRUE(codec_supports(CodecId::exact, ElementType::opaque));   // they travel as they are,
    EXPECT_FALSE(codec_for(CodecId::exact, ElementType::opaque).ok());  // but are not ours to add
}

}  // namespace
}  // namespace gradcoll
