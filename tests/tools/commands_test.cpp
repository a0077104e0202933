// A program whose first word names a command: what is chosen, and what is said of other words.
#include "command_line/commands.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradcoll {
namespace {

constexpr Command commands[] = {{"draw", "makes a picture"},
                                {"erase", "takes it back", "rubber (WITH_RUBBER)"}};
constexpr Front front = {"art", "Makes pictures.", commands};

ChosenCommand choose(std::vector<const char*> words) {
    words.insert(words.begin(), "elsewhere/art");
    return choose_command(front, static_cast<int>(words.size()), words.data());
}

void expect_refused(const ChosenCommand& chosen, const std::string& text) {
    EXPECT_FALSE(chosen.run);
    EXPECT_EQ(chosen.exit_status, usage_error);
    EXPECT_EQ(chosen.text, text);
}

TEST(Commands, TheFirstWordNamesOne) {
    const ChosenCommand chosen = choose({"erase", "--help", "draw"});
    ASSERT_TRUE(chosen.run);
    EXPECT_EQ(chosen.command, &commands[1]);
}

TEST(Commands, OtherWordsAreRefusedWithThoseThatThereAre) {
    expect_refused(choose({}), "art: a command is missing: draw, erase\n");
    expect_refused(choose({"sing", "draw"}), "art: no command is called 'sing': draw, erase\n");
    expect_refused(choose({"earse"}),
                   "art: no command is called 'earse': draw, erase; did you mean erase?\n");
    expect_refused(choose({"--bogus"}), "art: no command is called '--bogus': draw, erase\n");
}

TEST(Commands, HelpHasALineForEach) {
    for (const char* word : {"-h", "--help"}) {
        const ChosenCommand chosen = choose({word});
        EXPECT_FALSE(chosen.run);
        EXPECT_EQ(chosen.exit_status, 0);
        EXPECT_EQ(chosen.text.rfind("Makes pictures.\nUsage: art COMMAND [OPTIONS]\n", 0), 0U);
        EXPECT_NE(chosen.text.find("\n  draw       makes a picture\n  erase      takes it back\n"),
                  std::string::npos)
            << chosen.text;
    }
}

TEST(Commands, VersionIsThatOfTheProgram) {
    const ChosenCommand chosen = choose({"--version"});
    EXPECT_FALSE(chosen.run);
    EXPECT_EQ(chosen.exit_status, 0);
    EXPECT_EQ(chosen.text.rfind("art of Gradcoll ", 0), 0U) << chosen.text;
}

}  // namespace
}  // namespace gradcoll
