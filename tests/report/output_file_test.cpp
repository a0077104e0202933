#include "report/output_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradcoll {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
  protected:
    WriteFile() {
        std::string pattern = (fs::temp_directory_path() / "gradcoll.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~WriteFile() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static std::string content(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }

    fs::path folder_;
};

TEST_F(WriteFile, ReplacesWhatWasThereAndLeavesNothingElse) {
    ASSERT_TRUE(write_file(path("report"), "first and longer").ok());
    ASSERT_TRUE(write_file(path("report"), "second").ok());
    EXPECT_EQ(content(path("report")), "second");
    EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, TheOldFileStaysUntilTheNewOneIsWhole) {
    ASSERT_TRUE(write_file(path("report"), "old").ok());
    const Status status = write_file(path("report"), [&](const TextSink& sink) {
        sink("ne");
        EXPECT_EQ(content(path("report")), "old");
        sink("w");
    });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(content(path("report")), "new");
}

TEST_F(WriteFile, AMissingFolderIsNamedWithTheReason) {
    const Status status = write_file(path("no/such/report"), "text");
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find("no/such/report"), std::string::npos);
    EXPECT_NE(status.message().find("No such file"), std::string::npos);
}

TEST_F(WriteFile, AFolderInTheWayIsNamedAndNothingIsLeftBehind) {
    fs::create_directory(folder_ / "report");
    const Status status = write_file(path("report"), "text");
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find(path("report")), std::string::npos);
    EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, AFullDiskIsNoticed) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    fs::create_symlink("/dev/full", folder_ / ("report." + std::to_string(::getpid()) + ".tmp"));
    const Status status = write_file(path("report"), "text");
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_FALSE(fs::exists(path("report")));
}

const PatternFacts facts{"node7", 4711, 3};

TEST(FilePattern, HostProcessAndRankAreFilledIn) {
    const ExpandedPattern all = expand_pattern("/tmp/%h.%p.%r.json", facts);
    EXPECT_EQ(all.path, "/tmp/node7.4711.3.json");
    EXPECT_TRUE(all.has_rank);
    EXPECT_TRUE(all.has_process);
    EXPECT_TRUE(all.complaints.empty());
    const ExpandedPattern none = expand_pattern("%h.txt", facts);
    EXPECT_FALSE(none.has_rank);
    EXPECT_FALSE(none.has_process);
}

TEST(FilePattern, TwoPercentSignsAreOne) {
    const ExpandedPattern expanded = expand_pattern("100%%r%%", facts);
    EXPECT_EQ(expanded.path, "100%r%");
    EXPECT_FALSE(expanded.has_rank);
}

TEST(FilePattern, UnknownPlacesStayAndAreNamed) {
    const ExpandedPattern expanded = expand_pattern("a%xb%R%", facts);
    EXPECT_EQ(expanded.path, "a%xb%R%");
    ASSERT_EQ(expanded.complaints.size(), 3U);
    EXPECT_NE(expanded.complaints[0].find("%x"), std::string::npos);
    EXPECT_NE(expanded.complaints[0].find("%h"), std::string::npos);
}

TEST(FilePattern, ASlashInAHostNameMakesNoFolder) {
    EXPECT_EQ(expand_pattern("%h", {"../evil", 1, 0}).path, ".._evil");
}

TEST(FilePattern, RankIsAddedInFrontOfTheExtension) {
    EXPECT_EQ(with_rank("trace.json"), "trace.r%r.json");
    EXPECT_EQ(with_rank("out.d/trace"), "out.d/trace.r%r");
    EXPECT_EQ(with_rank("out/.hidden"), "out/.hidden.r%r");
    EXPECT_EQ(with_rank("t.%r.json"), "t.%r.json");
    EXPECT_EQ(with_rank("100%%r.json"), "100%%r.r%r.json");
    EXPECT_EQ(expand_pattern(with_rank("t.%p.json"), facts).path, "t.4711.r3.json");
}

}  // namespace
}  // namespace gradcoll
