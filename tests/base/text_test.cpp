// Parsers of what people write, and the messages they get back.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t kib = 1024;

TEST(ParseBytes, UnitsArePowersOf1024InAnyCase) {
    EXPECT_EQ(*parse_bytes("0"), 0U);
    EXPECT_EQ(*parse_bytes("4096"), 4096U);
    for (const char* text : {"64K", "64k", "64KiB", "64kib"})
        EXPECT_EQ(*parse_bytes(text), 64 * kib) << text;
    for (const char* text : {"1M", "1m", "1MiB"}) EXPECT_EQ(*parse_bytes(text), kib * kib) << text;
    for (const char* text : {"1G", "1g", "1GiB"})
        EXPECT_EQ(*parse_bytes(text), kib * kib * kib) << text;
}

TEST(ParseBytes, LargestValueIsAcceptedAndOneMoreIsNot) {
    EXPECT_EQ(*parse_bytes("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_FALSE(parse_bytes("18446744073709551616").ok());
    EXPECT_EQ(*parse_bytes("17179869183G"), 17179869183ULL << 30);
    EXPECT_FALSE(parse_bytes("17179869184G").ok());
}

TEST(ParseBytes, RefusesEverythingElseAndNamesIt) {
    for (const char* text :
         {"", " 1", "1 ", "-1", "+1", "K", "1KB", "1KK", "1T", "0x10", "1.5M", "1e3", "64 K"}) {
        const auto result = parse_bytes(text);
        ASSERT_FALSE(result.ok()) << text;
        EXPECT_EQ(result.status().code(), Code::invalid_argument);
        EXPECT_NE(result.status().message().find("bytes=" + std::string(text)), std::string::npos);
        EXPECT_NE(result.status().message().find("K, M or G"), std::string::npos);
    }
}

TEST(ParseInteger, BothBoundsAreAllowed) {
    EXPECT_EQ(*parse_integer("1", 1, 16), 1);
    EXPECT_EQ(*parse_integer("16", 1, 16), 16);
    EXPECT_EQ(*parse_integer("-9223372036854775808", std::numeric_limits<std::int64_t>::min(), 0),
              std::numeric_limits<std::int64_t>::min());
}

TEST(ParseInteger, OutsideTheRangeOrNoNumberIsRefusedWithTheRange) {
    for (const char* text : {"0", "17", "", "4x", "x", "+4", "99999999999999999999", "4.0"}) {
        const auto result = parse_integer(text, 1, 16);
        ASSERT_FALSE(result.ok()) << text;
        EXPECT_NE(result.status().message().find("from 1 to 16"), std::string::npos);
    }
}

TEST(ParseSwitch, KnowsFourWordsForEachSide) {
    for (const char* text : {"1", "on", "yes", "true", "ON", "True"})
        EXPECT_TRUE(*parse_switch(text)) << text;
    for (const char* text : {"0", "off", "no", "false", "OFF"})
        EXPECT_FALSE(*parse_switch(text)) << text;
    for (const char* text : {"", "2", "o", "onn", "auto"})
        EXPECT_FALSE(parse_switch(text).ok()) << text;
}

TEST(NearestWord, FindsOneInsertedDroppedReplacedOrSwappedLetter) {
    constexpr std::string_view known[] = {"topology", "codec", "min_bytes"};
    for (const char* word : {"coddec", "codc", "kodec", "cdoec", "CODEC", "codec"})
        EXPECT_EQ(nearest_word(word, known), "codec") << word;
}

TEST(NearestWord, FarWordsHaveNone) {
    constexpr std::string_view known[] = {"topology", "codec", "min_bytes"};
    EXPECT_FALSE(nearest_word("", known).has_value());
    EXPECT_FALSE(nearest_word("zebra", known).has_value());
    EXPECT_FALSE(nearest_word(std::string(100000, 'c'), known).has_value());
    EXPECT_FALSE(nearest_word("codec", {}).has_value());
}

TEST(NearestWord, TheNearerOneWinsAndTheFirstOfEquals) {
    constexpr std::string_view known[] = {"abcdef", "abcxyf", "abcxyg"};
    EXPECT_EQ(nearest_word("abcxyh", known), "abcxyf");
}

TEST(BadValue, NamesVariableValueAndAllowed) {
    const Status status = bad_value("GC_CPU", "fast", "best, scalar");
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(status.message(), "GC_CPU=fast is not allowed: best, scalar");
}

TEST(Printable, CutsLongTextAndReplacesControlBytes) {
    EXPECT_EQ(printable("a\nb\x1b\xff"), "a?b??");
    EXPECT_EQ(printable(std::string(81, 'a')), std::string(80, 'a') + "...");
}

/// Flips, inserts and drops bytes of texts that are nearly right.
std::string mutated(std::mt19937& random) {
    constexpr std::string_view seeds[] = {"64K",          "64KiB", "1M",   "18446744073709551615",
                                          "17179869183G", "-5",    "true", "off"};
    std::string text(seeds[random() % std::size(seeds)]);
    for (auto edits = random() % 4; edits > 0; --edits) {
        const std::size_t at = random() % (text.size() + 1);
        const char byte = static_cast<char>(random() % 3 == 0 ? random() : '0' + random() % 10);
        if (random() % 2 == 0)
            text.insert(at, 1, byte);
        else if (at < text.size())
            text.erase(at, 1);
    }
    return text;
}

TEST(NaturalLess, NumbersWithinNamesCountAsNumbers) {
    // Numbers of the same value are ordered by how they are written.
    const std::vector<std::string> ordered{"",        "10",       "leaf-002",  "leaf-2", "leaf-9",
                                           "leaf-10", "leaf-10a", "leaf-10b2", "leafs"};
    std::vector<std::string> names(ordered);
    std::mt19937 random(3);
    for (int turn = 0; turn < 100; ++turn) {
        std::shuffle(names.begin(), names.end(), random);
        std::sort(names.begin(), names.end(), natural_less);
        EXPECT_EQ(names, ordered);
    }
}

TEST(Parsers, MutatedTextsGiveAValueThatPrintsBackOrAMessage) {
    std::mt19937 random(20);
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
        const std::string text = mutated(random);
        if (const auto bytes = parse_bytes(text); bytes.ok()) {
            ++accepted;
            EXPECT_EQ(*parse_bytes(std::to_string(*bytes)), *bytes) << printable(text);
        } else {
            EXPECT_FALSE(bytes.status().message().empty());
        }
        if (const auto number = parse_integer(text, -9, 99); number.ok()) {
            EXPECT_GE(*number, -9);
            EXPECT_LE(*number, 99);
        }
        const auto on = parse_switch(text);
        EXPECT_TRUE(on.ok() || !on.status().message().empty());
    }
    EXPECT_GT(accepted, 1000);
}

constexpr const char* bad = "\xEF\xBF\xBD";

TEST(Markup, EscapesWhatBeginsOrEndsMarkup) {
    EXPECT_EQ(markup_text("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
    EXPECT_EQ(markup_text(""), "");
}

TEST(Markup, ControlCharactersAreNotAllowedInXml) {
    EXPECT_EQ(markup_text("a\tb\nc\rd"), "a b c d");
    EXPECT_EQ(markup_text(std::string_view("\0\x1b[31m\x7f", 7)),
              std::string(bad) + bad + "[31m" + bad);
}

TEST(Markup, KeepsUtf8) {
    const std::string good = "\xC3\xA4 \xE2\x86\x91 \xF0\x9F\x98\x80";
    EXPECT_EQ(markup_text(good), good);
}

TEST(Markup, ReplacesEachByteThatIsNone) {
    EXPECT_EQ(markup_text("\xff"), bad);
    EXPECT_EQ(markup_text("\xC3"), bad) << "cut";
    EXPECT_EQ(markup_text("\xC3("), std::string(bad) + "(");
    EXPECT_EQ(markup_text("\xC0\xAF"), std::string(bad) + bad) << "overlong";
    EXPECT_EQ(markup_text("\xED\xA0\x80"), std::string(bad) + bad + bad) << "a surrogate";
    EXPECT_EQ(markup_text("\xEF\xBF\xBF"), std::string(bad) + bad + bad) << "not a character";
    EXPECT_EQ(markup_text("\xF4\x90\x80\x80"), std::string(bad) + bad + bad + bad);
}

}  // namespace
}  // namespace gradcoll
