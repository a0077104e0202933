// The hash is compared between ranks and builds, so its values are pinned.
#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

TEST(Hash, EqualsThePublishedFnv1aVectors) {
    EXPECT_EQ(Hash().digest(), 0xcbf29ce484222325ULL);
    EXPECT_EQ(Hash().bytes("a", 1).digest(), 0xaf63dc4c8601ec8cULL);
    EXPECT_EQ(Hash().bytes("foobar", 6).digest(), 0x85944171f73967e8ULL);
}

TEST(Hash, TextsAreToldApartWhereverTheyAreCut) {
    EXPECT_NE(Hash().text("ab").text("c").digest(), Hash().text("a").text("bc").digest());
    EXPECT_NE(Hash().text("").digest(), Hash().digest());
}

TEST(Hash, OrderOfValuesCounts) {
    EXPECT_NE(Hash().value(1).value(2).digest(), Hash().value(2).value(1).digest());
}

}  // namespace
}  // namespace gradcoll
