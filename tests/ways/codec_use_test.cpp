#include "ways/codec_use.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

CallKey floats(std::int64_t count) {
    CallKey key;
    key.elem_bytes = 4;
    key.count = count;
    key.compress = true;
    return key;
}

Settings with(CodecId codec, CompressIf compress_if) {
    Settings settings;
    settings.codec = codec;
    settings.compress_if = compress_if;
    settings.exchange = {ExchangeWish()};
    return settings;
}

/// Makes a tree of so many ranks below one vertex, each behind so many GB/s; 0: nobody knows.
Tree tree_of(VertexKind kind, int ranks, double gbytes_per_s = 0) {
    TreeSpec root;
    root.kind = kind;
    for (int rank = 0; rank < ranks; ++rank) {
        TreeSpec leaf;
        leaf.rank = rank;
        leaf.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
        root.children.push_back(leaf);
    }
    return *Tree::make(root);
}

TEST(CodecUse, ExactThroughTheMemoryOfOneHostBeatsEveryCodecAtEverySize) {
    const Tree tree = tree_of(VertexKind::host, 4);
    for (const CodecId codec : all_codecs()) {
        if (codec == CodecId::exact) continue;
        const Settings settings = with(codec, CompressIf::pays);
        for (std::int64_t count = 1 << 14; count <= 1 << 24; count *= 4) {
            const CodecUse use = codec_use({tree, settings, floats(count), 4});
            EXPECT_EQ(use.left_out, ExactReason::does_not_pay) << name_of(codec) << ' ' << count;
            EXPECT_FALSE(use.levels.empty());
        }
    }
}

TEST(CodecUse, BothTimesAreTold) {
    const Tree tree = tree_of(VertexKind::host, 4);
    const Settings settings = with(CodecId::nm_1_16, CompressIf::pays);
    const CodecUse use = codec_use({tree, settings, floats(1 << 22), 4});
    EXPECT_GT(use.memory_us, 0);
    EXPECT_GT(use.compressed_us, use.memory_us);
}

TEST(CodecUse, BlocksThatAreTooShortForCodecsAreSaidToBe) {
    const Tree tree = tree_of(VertexKind::host, 4);
    for (const CompressIf compress_if : {CompressIf::always, CompressIf::pays}) {
        const Settings settings = with(CodecId::bf16, compress_if);
        CallKey key = floats(4 * 511);
        key.collective = Collective::reduce_scatter_block;
        EXPECT_EQ(codec_use({tree, settings, key}).left_out, ExactReason::blocks_too_short);
        key.count = 4 * 512;
        EXPECT_NE(codec_use({tree, settings, key}).left_out, ExactReason::blocks_too_short);
    }
}

TEST(CodecUse, AlwaysLeavesNothingOut) {
    const Tree tree = tree_of(VertexKind::host, 4);
    const Settings settings = with(CodecId::nm_2_4, CompressIf::always);
    const CodecUse use = codec_use({tree, settings, floats(1 << 20), 4});
    EXPECT_EQ(use.left_out, ExactReason::none);
    EXPECT_EQ(use.memory_us, 0);
}

TEST(CodecUse, OverASlowLinkACodecPaysAndOverAVeryFastOneItDoesNot) {
    const Settings settings = with(CodecId::nm_2_4, CompressIf::pays);
    const Tree slow = tree_of(VertexKind::fabric_switch, 2, 0.125);
    EXPECT_EQ(codec_use({slow, settings, floats(1 << 20)}).left_out, ExactReason::none);
    const Tree fast = tree_of(VertexKind::fabric_switch, 2, 400);
    EXPECT_EQ(codec_use({fast, settings, floats(1 << 20)}).left_out, ExactReason::does_not_pay);
}

TEST(CodecUse, ACodecForLinksThatTheTreeHasNotCompressesNothing) {
    const Tree tree = tree_of(VertexKind::host, 4);
    Settings settings = with(CodecId::exact, CompressIf::always);
    settings.level_codecs = *hop_codecs_from("between=2:4");
    EXPECT_EQ(codec_use({tree, settings, floats(1 << 20), 4}).left_out,
              ExactReason::no_lossy_level);
}

TEST(CodecUses, RemembersTheLastShapes) {
    CodecUses uses;
    EXPECT_EQ(uses.find(floats(1)), nullptr);
    for (int count = 1; count <= 100; ++count)
        uses.add(floats(count), {ExactReason::does_not_pay, {}, {}, 1.0 * count, 0});
    ASSERT_NE(uses.find(floats(100)), nullptr);
    EXPECT_EQ(uses.find(floats(100))->compressed_us, 100);
    EXPECT_EQ(uses.find(floats(1)), nullptr);
    uses.forget();
    EXPECT_EQ(uses.find(floats(100)), nullptr);
}

}  // namespace
}  // namespace gradcoll
