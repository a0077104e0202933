#include "ways/tree/call_decision.hpp"

#include <gtest/gtest.h>

#include "collectives/build/planner.hpp"
#include "ways/host_trees.hpp"

namespace gradcoll {
namespace {

/// The size of chunks depends on the codec, but for calls with a residual it must not.
TEST(CallDecision, AllPhasesOfAScheduleHaveTheLayoutOfOneResidual) {
    const Tree tree = test::hosts(3, VertexKind::fabric_switch, 0.125);
    Settings settings;
    settings.exchange = {ExchangeWish()};
    settings.compress_if = CompressIf::always;
    settings.schedule = *CodecSchedule::parse("0:exact,1:2:4,2:int8,3:bf16");
    for (const std::int64_t count : {100'000, 1'000'000, 10'000'000}) {
        std::vector<std::int64_t> chunks, residuals;
        for (const CodecId codec :
             {CodecId::exact, CodecId::nm_2_4, CodecId::int8, CodecId::bf16}) {
            CallKey key;
            key.elem_bytes = 4;
            key.count = count;
            key.feedback = true;
            key.compress = codec != CodecId::exact;
            key.phase = codec;
            const auto plan = make_plan(tree, decision_for(tree, settings, key).spec, 0);
            ASSERT_TRUE(plan.ok()) << plan.status().message();
            chunks.push_back(plan->spec.chunk_elems);
            residuals.push_back(plan->residual_elems());
        }
        EXPECT_EQ(chunks, std::vector<std::int64_t>(chunks.size(), chunks.front())) << count;
        EXPECT_EQ(residuals, std::vector<std::int64_t>(residuals.size(), residuals.front()))
            << count;
    }
}

/// Returns whether anything of an exact call is packed, on hosts whose links carry so many GB/s.
bool zips(double gbytes_per_s, std::int64_t count, ElementType type = ElementType::f32,
          Zips zips = Zips::slow_links) {
    CallKey key;
    key.type = type;
    key.elem_bytes = static_cast<std::uint32_t>(element_bytes(type));
    key.count = count;
    key.zips = zips;
    const Tree tree = test::hosts(3, VertexKind::fabric_switch, gbytes_per_s);
    return is_lossy(decision_for(tree, Settings(), key).spec);
}

TEST(CallDecision, ExactFloatsArePackedWhereLinksAreSlow) {
    EXPECT_TRUE(zips(0.125, 1'000'000));
    EXPECT_TRUE(zips(0.125, 1'000'000, ElementType::bf16));
    EXPECT_FALSE(zips(0.6, 1'000'000));
    EXPECT_TRUE(zips(0.6, 1'000'000, ElementType::f32, Zips::faster_links));
    EXPECT_FALSE(zips(25, 1'000'000, ElementType::f32, Zips::faster_links));
    EXPECT_FALSE(zips(0.125, 10'000)) << "too short";
    EXPECT_FALSE(zips(0, 1'000'000)) << "nobody knows what the links carry";
}

}  // namespace
}  // namespace gradcoll
