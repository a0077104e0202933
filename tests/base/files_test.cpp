// Files, read and written whole: what is no plain file is not waited for and not replaced.
#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradcoll {
namespace {

namespace fs = std::filesystem;

constexpr uid_t somebody_else = 4711;

class Files : public testing::Test {
  protected:
    Files() {
        std::string pattern = (fs::temp_directory_path() / "gradcoll.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~Files() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string put(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }
    std::string fifo(const std::string& name) const {
        EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
        return path(name);
    }
    static std::string content(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    static struct stat about(const std::string& path) {
        struct stat what {};
        EXPECT_EQ(::lstat(path.c_str(), &what), 0) << path;
        return what;
    }
    static mode_t mode_of(const std::string& path) { return about(path).st_mode & 07777; }
    std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(folder_), {}); }

    fs::path folder_;
};

void expect_refused(const Status& status, const std::string& path, const std::string& reason) {
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
}

TEST_F(Files, AFileIsReadWhole) {
    EXPECT_EQ(*read_file(put("empty", "")), "");
    const std::string text(200'000, 'x');
    EXPECT_EQ(*bytes_of_file(put("long", text), text.size()), text);
    EXPECT_EQ(bytes_of_file(path("long"), text.size() - 1).status().message(),
              "it is larger than 199999 bytes");
    fs::create_symlink("long", path("link"));
    EXPECT_EQ(*read_file(path("link")), text) << "what is only read may be a link";
}

TEST_F(Files, WhatIsNoFileIsNotWaitedForByReaders) {
    expect_refused(read_file(fifo("fifo")).status(), path("fifo"), "a FIFO, not a regular file");
    expect_refused(read_file("/dev/zero").status(), "/dev/zero", "a character device");
    expect_refused(read_file(path("")).status(), path(""), "Is a directory");
    expect_refused(read_file(path("none")).status(), path("none"), "No such file");
}

TEST_F(Files, WhatWasThereIsReplacedAndNothingElseIsLeft) {
    ASSERT_TRUE(write_file(path("report"), "first and longer").ok());
    ASSERT_TRUE(write_file(path("report"), "second").ok());
    EXPECT_EQ(content(path("report")), "second");
    EXPECT_EQ(entries(), 1);
}

TEST_F(Files, TheOldFileStaysUntilTheNewOneIsWhole) {
    ASSERT_TRUE(write_file(path("report"), "old").ok());
    const Status status = write_file(path("report"), [&](const TextSink& sink) {
        sink("ne");
        EXPECT_EQ(content(path("report")), "old");
        sink("w");
    });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(content(path("report")), "new");
}

TEST_F(Files, WhoeverThrowsLeavesTheOldFileAlone) {
    put("report", "old");
    EXPECT_THROW((void)write_file(path("report"),
                                  [](const TextSink& sink) {
                                      sink("new");
                                      throw std::bad_alloc();
                                  }),
                 std::bad_alloc);
    EXPECT_EQ(content(path("report")), "old");
    EXPECT_EQ(entries(), 1);
}

TEST_F(Files, NothingLiesInTheWayOfTheTemporaryFile) {
    const std::string victim = put("victim", "untouched");
    for (const char* ending : {".tmp", ".new"})
        fs::create_symlink(victim, path("report." + std::to_string(::getpid()) + ending));
    std::vector<std::string> names;
    for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(write_file(path("report"), [&](const TextSink& sink) {
                        for (const auto& entry : fs::directory_iterator(folder_))
                            if (!entry.is_symlink() && entry.path() != victim &&
                                entry.path() != path("report"))
                                names.push_back(entry.path().filename());
                        sink("text");
                    }).ok());
    EXPECT_EQ(content(victim), "untouched");
    ASSERT_EQ(names.size(), 2U);
    EXPECT_NE(names[0], names[1]) << "it can be foreseen";
}

TEST_F(Files, AMissingFolderAndAFolderInTheWayAreNamed) {
    expect_refused(write_file(path("no/such/report"), "text"), "no/such/report", "No such file");
    fs::create_directory(path("report"));
    expect_refused(write_file(path("report"), "text"), path("report"), "Is a directory");
    EXPECT_EQ(entries(), 1);
}

TEST_F(Files, ModeAndOwnerAreHandedOn) {
    const mode_t before = ::umask(022);
    ASSERT_TRUE(write_file(path("new"), "text").ok());
    EXPECT_EQ(mode_of(path("new")), 0644U);
    ::umask(077);
    ASSERT_TRUE(write_file(path("private"), "text").ok());
    EXPECT_EQ(mode_of(path("private")), 0600U);
    ASSERT_EQ(::chmod(path("new").c_str(), 0664), 0);
    ASSERT_TRUE(write_file(path("new"), "again").ok());
    EXPECT_EQ(mode_of(path("new")), 0664U);
    ASSERT_EQ(::chmod(path("new").c_str(), 04755), 0);
    ASSERT_TRUE(write_file(path("new"), "again").ok());
    EXPECT_EQ(mode_of(path("new")), 0755U) << "nobody becomes another by what we wrote";
    ::umask(before);
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    ASSERT_EQ(::chown(path("new").c_str(), somebody_else, somebody_else), 0);
    ASSERT_TRUE(write_file(path("new"), "again").ok());
    EXPECT_EQ(about(path("new")).st_uid, somebody_else);
    EXPECT_EQ(about(path("new")).st_gid, somebody_else);
}

/// Root may write all files, so a child that is somebody else looks.
TEST_F(Files, AFileThatMayNotBeWrittenStays) {
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(folder_.c_str(), somebody_else, somebody_else), 0);
        ASSERT_EQ(::seteuid(somebody_else), 0);
    }
    put("report", "precious");
    ASSERT_EQ(::chmod(path("report").c_str(), 0444), 0);
    const Status status = write_file(path("report"), "text");
    if (::getuid() == 0) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    expect_refused(status, path("report"), "Permission denied");
    EXPECT_EQ(content(path("report")), "precious");
}

TEST_F(Files, ALinkStaysAndItsTargetIsWritten) {
    fs::create_directory(path("runs"));
    const std::string target = put("runs/7", "old");
    fs::create_symlink("runs/7", path("latest"));
    ASSERT_TRUE(write_file(path("latest"), "new").ok());
    EXPECT_TRUE(fs::is_symlink(path("latest")));
    EXPECT_EQ(content(target), "new");
    fs::create_symlink("none", path("dangling"));
    expect_refused(write_file(path("dangling"), "text"), path("dangling"), "No such file");
    EXPECT_TRUE(fs::is_symlink(path("dangling")));
}

TEST_F(Files, ALinkOfAnotherUserIsNotFollowed) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives links away";
    const std::string victim = put("victim", "untouched");
    fs::create_symlink(victim, path("report"));
    ASSERT_EQ(::lchown(path("report").c_str(), somebody_else, somebody_else), 0);
    expect_refused(write_file(path("report"), "text"), path("report"),
                   "a symbolic link of another user");
    EXPECT_EQ(content(victim), "untouched");
}

TEST_F(Files, FifosAndDisksAreRefusedAndStay) {
    expect_refused(write_file(fifo("fifo"), "text"), path("fifo"), "a FIFO");
    EXPECT_TRUE(fs::is_fifo(path("fifo")));
    fs::create_symlink("fifo", path("link"));
    expect_refused(write_file(path("link"), "text"), path("link"), "a FIFO");
    if (::mknod(path("disk").c_str(), S_IFBLK | 0600, makedev(240, 200)) != 0)
        GTEST_SKIP() << "no devices can be made here";
    expect_refused(write_file(path("disk"), "text"), path("disk"), "a block device");
    EXPECT_TRUE(fs::is_block_file(path("disk")));
}

/// `/dev/full` was once replaced by a report.
TEST_F(Files, CharacterDevicesAreWrittenAndStay) {
    if (::mknod(path("full").c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0 ||
        ::mknod(path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
        GTEST_SKIP() << "no devices can be made here";
    if (!std::ofstream(path("null"))) GTEST_SKIP() << "devices cannot be opened here";
    expect_refused(write_file(path("full"), "text"), path("full"), "No space left");
    EXPECT_TRUE(write_file(path("null"), "text").ok());
    EXPECT_TRUE(fs::is_character_file(path("full")));
    EXPECT_TRUE(fs::is_character_file(path("null")));
}

/// "/dev/stdout" leads to a pipe under most launchers, or to a file that others write to.
TEST_F(Files, WhatStdoutIsConnectedToGetsTheText) {
    const int saved = ::dup(STDOUT_FILENO);
    const auto written = [&](int connected) {
        std::fflush(stdout);
        ::dup2(connected, STDOUT_FILENO);
        const Status status = write_file("/dev/stdout", "text");
        ::dup2(saved, STDOUT_FILENO);
        return status.ok();
    };
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_TRUE(written(ends[1]));
    char text[8] = {};
    EXPECT_EQ(::read(ends[0], text, sizeof text), 4);
    EXPECT_STREQ(text, "text");
    const int log = ::open(put("log", "").c_str(), O_WRONLY);
    ASSERT_EQ(::write(log, "line\n", 5), 5);
    EXPECT_TRUE(written(log));
    EXPECT_EQ(content(path("log")), "line\ntext") << "what is there stays";
    for (const int descriptor : {saved, ends[0], ends[1], log}) ::close(descriptor);
}

}  // namespace
}  // namespace gradcoll
