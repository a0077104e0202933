// The filters of communicators and calls, compared with the plainest reading of their lists.
#include "settings/compress_filter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <clocale>
#include <random>
#include <string>
#include <vector>

namespace gradcoll {
namespace {

NameFilter names(std::string_view text) {
    auto filter = NameFilter::parse(text);
    EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().message();
    return filter.ok() ? std::move(filter).value() : NameFilter();
}

CallFilter calls(std::string_view text) {
    auto filter = CallFilter::parse(text);
    EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().message();
    return filter.ok() ? std::move(filter).value() : CallFilter();
}

/// Returns the calls below `end` that are allowed, one digit each.
std::string allowed_below(std::string_view text, std::uint64_t end) {
    const CallFilter filter = calls(text);
    std::string digits;
    for (std::uint64_t call = 0; call < end; ++call) digits += filter.allows(call) ? '1' : '0';
    return digits;
}

TEST(NameFilter, StarsAndQuestionMarks) {
    EXPECT_TRUE(names("*").allows(""));
    EXPECT_TRUE(names("*").allows("MPI_COMM_WORLD"));
    EXPECT_TRUE(names("ddp*").allows("ddp"));
    EXPECT_FALSE(names("ddp*").allows("my ddp"));
    EXPECT_TRUE(names("*a*b").allows("xaxbxb"));
    EXPECT_FALSE(names("*a*b").allows("xbxa"));
    EXPECT_TRUE(names("?").allows("x"));
    EXPECT_FALSE(names("?").allows(""));
    EXPECT_FALSE(names("?").allows("xy"));
    EXPECT_FALSE(names("DDP").allows("ddp")) << "the case counts";
}

TEST(NameFilter, BracketsAreOneOfTheirBytes) {
    EXPECT_TRUE(names("layer[0-3]*").allows("layer3.weight"));
    EXPECT_FALSE(names("layer[0-3]*").allows("layer4"));
    EXPECT_TRUE(names("l[!0-9]").allows("lx"));
    EXPECT_FALSE(names("l[!0-9]").allows("l5"));
    EXPECT_FALSE(names("*, ![ab]").allows("b"));
    EXPECT_FALSE(names("*, !grad[[]*]").allows("grad[0]"));
    EXPECT_TRUE(names("a[b").allows("a[b")) << "nothing closes it";
    EXPECT_TRUE(names("[*]").allows("*"));
    EXPECT_FALSE(names("[*]").allows("a"));
    EXPECT_TRUE(names("a\\*").allows("a\\b")) << "a backslash is itself";
}

/// Ranks may have been started in different locales, and have to agree.
TEST(NameFilter, BytesCountWhateverTheLocale) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    for (const char* locale : {"C", "C.UTF-8"}) {
        ASSERT_NE(std::setlocale(LC_ALL, locale), nullptr) << locale;
        EXPECT_FALSE(names("?").allows("\xc3\xbc"));
        EXPECT_TRUE(names("??").allows("\xc3\xbc"));
        EXPECT_TRUE(names("*\xbc").allows("\xc3\xbc"));
        EXPECT_TRUE(names("?\xff").allows("a\xff")) << "no UTF-8";
        EXPECT_STREQ(std::setlocale(LC_ALL, nullptr), locale);
    }
    std::setlocale(LC_ALL, before.c_str());
}

TEST(NameFilter, TheLastMatchDecidesAndAnExclusionInFrontMeansAllBut) {
    EXPECT_FALSE(names("ddp*, !ddp_norm*").allows("ddp_norm_2"));
    EXPECT_TRUE(names("ddp*, !ddp_norm*").allows("ddp_2"));
    EXPECT_FALSE(names("ddp*, !ddp_norm*").allows("other"));
    EXPECT_TRUE(names("!*norm*").allows("other"));
    EXPECT_FALSE(names("!*norm*").allows("the norm"));
    EXPECT_TRUE(names("! *norm*, the*").allows("the norm"));
    EXPECT_TRUE(NameFilter().allows("anything"));
}

TEST(NameFilter, MissingPatternsAreNamed) {
    for (const char* text : {"", ",", "a,,b", "a,", "!", "a,! "}) {
        const auto filter = NameFilter::parse(text);
        ASSERT_FALSE(filter.ok()) << text;
        EXPECT_NE(filter.status().message().find("pattern is missing; allowed: comma separated"),
                  std::string::npos);
    }
}

/// Returns whether the name matches by the definition of a star: it takes no letter, or one and
/// goes on.
bool plainly_matches(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern.front() == '*')
        return plainly_matches(pattern.substr(1), name) ||
               (!name.empty() && plainly_matches(pattern, name.substr(1)));
    return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
           plainly_matches(pattern.substr(1), name.substr(1));
}

std::string random_word(std::mt19937& random, std::string_view letters, std::size_t longest) {
    std::string word;
    for (auto n = random() % (longest + 1); n > 0; --n) word += letters[random() % letters.size()];
    return word;
}

TEST(NameFilter, AgreesWithThePlainReading) {
    std::mt19937 random(11);
    std::size_t allowed = 0;
    constexpr int cases = 50'000;
    for (int i = 0; i < cases; ++i) {
        std::vector<std::pair<bool, std::string>> entries(1 + random() % 4);
        std::string text;
        for (auto& [include, pattern] : entries) {
            include = random() % 2 == 0;
            pattern = random_word(random, "ab*?", 6) + "*ab?"[random() % 4];
            text += fmt::format("{}{}{}", text.empty() ? "" : ",", include ? "" : "!", pattern);
        }
        const std::string name = random_word(random, "ab", 8);
        bool expected = !entries.front().first;
        for (const auto& [include, pattern] : entries)
            if (plainly_matches(pattern, name)) expected = include;
        ASSERT_EQ(names(text).allows(name), expected) << text << " on " << name;
        allowed += expected;
    }
    EXPECT_GT(allowed, cases / 5U);
    EXPECT_LT(allowed, 4U * cases / 5);
}

TEST(NameFilter, ManyStarsDoNotTakeForever) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "*a";
    EXPECT_FALSE(names(pattern + "b").allows(std::string(20'000, 'a')));
}

TEST(CallFilter, NumbersRangesAndPeriods) {
    EXPECT_EQ(allowed_below("all", 4), "1111");
    EXPECT_EQ(allowed_below("2", 5), "00100");
    EXPECT_EQ(allowed_below("1-3", 6), "011100");
    EXPECT_EQ(allowed_below("3-", 6), "000111");
    EXPECT_EQ(allowed_below("1/3", 7), "0100100");
    EXPECT_EQ(allowed_below("1-2/3", 7), "0110110");
    EXPECT_EQ(allowed_below("1-/3", 7), "0110110");
    EXPECT_EQ(allowed_below("!1/3", 7), "1011011");
    EXPECT_EQ(allowed_below("4-, !1/3", 9), "000001101");
    EXPECT_EQ(allowed_below("!0-3, 2", 6), "001011");
    EXPECT_TRUE(calls("18446744073709551615").allows(18446744073709551615ULL));
    EXPECT_TRUE(CallFilter().allows(7));
}

TEST(CallFilter, TheExampleOfTheTableLeavesTheFirst100AndTheFourthOfEvery7) {
    const CallFilter filter = calls("100-,!3/7");
    for (std::uint64_t call = 0; call < 1000; ++call)
        EXPECT_EQ(filter.allows(call), call >= 100 && call % 7 != 3) << call;
}

TEST(CallFilter, EntriesThatMeanNothingAreNamed) {
    const std::pair<const char*, const char*> bad[] = {
        {"", "begins with no number"},
        {"1,,2", "begins with no number"},
        {"-3", "begins with no number"},
        {"x", "begins with no number"},
        {"!", "begins with no number"},
        {"All", "begins with no number"},
        {"1-x", "ends with no number"},
        {"1-2-3", "ends with no number"},
        {"5-4", "ends before it begins"},
        {"1/0", "the period is no number from 1"},
        {"1/", "the period is no number"},
        {"1/-2", "the period is no number"},
        {"7/7", "not below its period"},
        {"0-7/7", "not below its period"},
        {"18446744073709551616", "begins with no number"}};
    for (const auto& [text, why] : bad) {
        const auto filter = CallFilter::parse(text);
        ASSERT_FALSE(filter.ok()) << text;
        EXPECT_NE(filter.status().message().find(why), std::string::npos)
            << filter.status().message();
        EXPECT_NE(filter.status().message().find("allowed: all, or"), std::string::npos);
    }
}

TEST(CallFilter, AgreesWithThePlainReading) {
    struct Entry {
        bool include, open;
        std::uint64_t first, last, period;
    };
    std::mt19937 random(12);
    std::size_t allowed = 0, asked = 0;
    for (int i = 0; i < 5'000; ++i) {
        std::vector<Entry> entries(1 + random() % 4);
        std::string text;
        for (Entry& e : entries) {
            e.include = random() % 2 == 0;
            e.open = random() % 3 == 0;
            e.period = random() % 2 == 0 ? 0 : 1 + random() % 9;
            const std::uint64_t end = e.period == 0 ? 30 : e.period;
            e.first = random() % end;
            e.last = e.first + random() % (end - e.first);
            text += fmt::format("{}{}{}-", text.empty() ? "" : ", ", e.include ? "" : "!", e.first);
            if (!e.open) text += std::to_string(e.last);
            if (e.period != 0) text += fmt::format("/{}", e.period);
        }
        const CallFilter filter = calls(text);
        for (std::uint64_t call = 0; call < 40; ++call) {
            bool expected = !entries.front().include;
            for (const Entry& e : entries) {
                const std::uint64_t number = e.period == 0 ? call : call % e.period;
                if (number >= e.first && (e.open || number <= e.last)) expected = e.include;
            }
            ASSERT_EQ(filter.allows(call), expected) << text << " on " << call;
            allowed += expected;
            ++asked;
        }
    }
    EXPECT_GT(allowed, asked / 5);
    EXPECT_LT(allowed, 4 * asked / 5);
}

}  // namespace
}  // namespace gradcoll
