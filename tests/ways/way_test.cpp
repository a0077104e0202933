#include "ways/way.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "ways/route.hpp"

namespace gradcoll {
namespace {

CallShape floats(std::int64_t count) {
    return {count, ElementType::f32, 4, ReduceOp::sum, {}};
}

Settings with(CodecId codec) {
    Settings settings;
    settings.codec = codec;
    settings.min_bytes = 1000;
    settings.tree_min_bytes = 1000;
    return settings;
}

TEST(WayOffers, TheFirstThatTakesTheCallIsTaken) {
    WayOffers offers;
    EXPECT_EQ(offers.first(false), nullptr);
    offers.add(agents_way(), {.lossy = true});
    offers.add(one_host_way(), {.exact = true});
    offers.add(hosts_way(), {.exact = true, .lossy = true});
    EXPECT_EQ(offers.first(false), &one_host_way());
    EXPECT_EQ(offers.first(true), &agents_way());
    offers.drop(agents_way());
    EXPECT_EQ(offers.first(true), &hosts_way());
    EXPECT_FALSE(offers.of(agents_way()).lossy);
    EXPECT_TRUE(offers.of(one_host_way()).exact);
}

TEST(WayOffers, AnOfferBeyondTheLastPlaceIsLeftOut) {
    WayOffers offers;
    for (int i = 0; i < 20; ++i) offers.add(hosts_way(), {.exact = true});
    offers.add(agents_way(), {.lossy = true});
    EXPECT_EQ(offers.first(false), &hosts_way());
    EXPECT_EQ(offers.first(true), nullptr);
}

TEST(WayInfo, EachHasAnotherNameAndSaysWhatItDoes) {
    const std::array ways{&agents_way(), &one_host_way(), &hosts_way(), &tree_way(), &mpi_way()};
    for (const WayInfo* way : ways) {
        EXPECT_GT(std::string_view(way->says).size(), 10U) << way->name;
        for (const WayInfo* other : ways)
            EXPECT_TRUE(other == way || std::string_view(other->name) != way->name) << way->name;
    }
}

TEST(Route, AWayThatTakesTheCallComesBeforeTheTree) {
    RouteQuestion question;
    question.offers.add(hosts_way(), {.exact = true});
    const Route exact = route_of(with(CodecId::exact), floats(1), question);
    EXPECT_TRUE(exact.goes(hosts_way()) && !exact.passes()) << "short ones, too";
    const Route lossy = route_of(with(CodecId::nm_2_4), floats(500), question);
    EXPECT_TRUE(lossy.goes(tree_way()) && lossy.key.compress);
    question.feedback = true;
    EXPECT_TRUE(route_of(with(CodecId::exact), floats(500), question).goes(tree_way()));
}

TEST(Route, WhatNobodyTakesGoesOverTheTreeOrPasses) {
    const Route longer = route_of(with(CodecId::exact), floats(250), {});
    EXPECT_TRUE(longer.goes(tree_way()) && longer.needs_tree());
    const Route passing = route_of(with(CodecId::exact), floats(249), {});
    EXPECT_TRUE(passing.goes(mpi_way()) && passing.passes());
    EXPECT_FALSE(passing.tries_mpi() || passing.needs_tree());
    Route tried = longer;
    tried.way = &mpi_way();
    EXPECT_TRUE(tried.tries_mpi());
}

}  // namespace
}  // namespace gradcoll
