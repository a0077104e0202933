// tests/topology/slurm_host_list_test.cpp - host lists, read and written.
#include "fabric/host_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace gradcoll {
namespace {

using Names = std::vector<std::string>;

Names names_of(std::string_view list) {
    const Result<Names> names = names_of_host_list(list);
    return names.ok() ? *names : Names{"refused: " + names.status().message()};
}

std::string refusal_of(std::string_view list, std::size_t max_names = 1 << 20) {
    const Result<Names> names = names_of_host_list(list, max_names);
    return names.ok() ? "accepted" : names.status().message();
}

TEST(HostList, BracketsHoldRangesAndNumbers) {
    EXPECT_EQ(names_of("tux[0-2,20]"), (Names{"tux0", "tux1", "tux2", "tux20"}));
}

TEST(HostList, SeveralBracketsInANameTheLastRunsFastest) {
    EXPECT_EQ(names_of("r[1-2]n[08-10].x"),
              (Names{"r1n08.x", "r1n09.x", "r1n10.x", "r2n08.x", "r2n09.x", "r2n10.x"}));
}

TEST(HostList, LeadingZerosAreThoseOfTheLowerEnd) {
    EXPECT_EQ(names_of("a[008-010]"), (Names{"a008", "a009", "a010"}));
    EXPECT_EQ(names_of("a[8-10]"), (Names{"a8", "a9", "a10"}));
    EXPECT_EQ(names_of("a[09-10,1]"), (Names{"a09", "a10", "a1"}));
}

TEST(HostList, NamesAloneAndBracketsAloneAreNames) {
    EXPECT_EQ(names_of("login"), (Names{"login"}));
    EXPECT_EQ(names_of("a,[1-2],b-c.d"), (Names{"a", "1", "2", "b-c.d"}));
}

TEST(HostList, ErrorsNameTheColumn) {
    const std::string tux =
        "host list \"tux[0-1\": column 8: found the end, expected a digit, -, , or ]";
    EXPECT_EQ(refusal_of("tux[0-1"), tux);
    EXPECT_EQ(refusal_of("a[1-[2]]"),
              "host list \"a[1-[2]]\": column 5: found \"[\", expected a number");
    EXPECT_EQ(refusal_of("a[]"), "host list \"a[]\": column 3: found \"]\", expected a number");
    EXPECT_EQ(refusal_of("a,,b"),
              "host list \"a,,b\": column 3: found \",\", expected a host name");
    EXPECT_EQ(refusal_of(""), "host list \"\": column 1: found the end, expected a host name");
    EXPECT_EQ(
        refusal_of("a]"),
        "host list \"a]\": column 2: found \"]\", expected a letter or digit of a name, [ or ,");
    EXPECT_EQ(refusal_of("a[7-5]"), "host list \"a[7-5]\": column 3: range 7-5 runs backwards");
    EXPECT_EQ(refusal_of("a[1234567890123456789]"),
              "host list \"a[1234567890123456789]\": column 3: a number of more than 18 digits");
}

TEST(HostList, MoreNamesThanAllowedAreRefusedBeforeTheyAreMade) {
    EXPECT_EQ(names_of_host_list("a[1-3],b", 4)->size(), 4u);
    EXPECT_EQ(refusal_of("a[1-3],b,c", 4),
              "host list \"a[1-3],b,c\": column 10: more than 4 names");
    EXPECT_EQ(refusal_of("a[1-2][1-3]", 5),
              "host list \"a[1-2][1-3]\": column 8: more than 5 names");
    EXPECT_EQ(refusal_of("a[0-999999999999999999]"),
              "host list \"a[0-999999999999999999]\": column 3: more than 1048576 names");
    EXPECT_NE(refusal_of("a[0-999999][0-999999][0-999999]").find("more than 1048576 names"),
              std::string::npos);
}

TEST(HostList, NamesAreBoundedOneByOneAndTogether) {
    EXPECT_EQ(names_of(std::string(1024, 'a')).front().size(), 1024u);
    EXPECT_NE(refusal_of(std::string(1025, 'a')).find("column 1: a name of more than 1024 bytes"),
              std::string::npos);
    EXPECT_NE(refusal_of(std::string(1000, 'a') + "[0-99999]").find("more than 64 MiB of names"),
              std::string::npos);
}

TEST(HostListOf, JoinsNeighboursThatDifferInOneNumber) {
    EXPECT_EQ(host_list_of(Names{"s4", "s5", "s6", "s7"}), "s[4-7]");
    EXPECT_EQ(host_list_of(Names{"n1.a", "n3.a", "n4.a", "x", "n5.a"}), "n[1,3-4].a,x,n5.a");
    EXPECT_EQ(host_list_of(Names{"r1n1", "r1n2", "r2n1", "r2n2"}), "r1n[1-2],r2n[1-2]");
    EXPECT_EQ(host_list_of(Names{"a08", "a09", "a10", "a011"}), "a[08-10,011]");
    EXPECT_EQ(host_list_of(Names{"a9", "a10", "a11"}), "a[9-11]");
    EXPECT_EQ(host_list_of(Names{"spine", "spine"}), "spine,spine");
    EXPECT_EQ(host_list_of(Names{}), "");
}

TEST(HostListOf, ReadsBackAsTheSameNamesInTheSameOrder) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        Names names;
        for (unsigned n = 1 + random() % 8; n > 0; --n)
            names.push_back(fmt::format("{}{:0{}}{}{:0{}}{}", random() % 2 ? "r" : "",
                                        random() % 12, 1 + random() % 3, random() % 2 ? "-n" : "",
                                        random() % 12, 1 + random() % 2, random() % 3 ? "" : ".x"));
        EXPECT_EQ(names_of(host_list_of(names)), names) << host_list_of(names);
    }
}

}  // namespace
}  // namespace gradcoll
