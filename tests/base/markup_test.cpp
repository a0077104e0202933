#include "base/markup.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

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
