// The folder of an agent: whose it may be, and that one agent has it at a time.
#include "nic/directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace gradcoll {
namespace {

class NicDirectory : public testing::Test {
  protected:
    NicDirectory() {
        std::array<char, 64> name{"/tmp/gc_nic_directory_XXXXXX"};
        if (mkdtemp(name.data()) == nullptr) std::abort();
        folder_ = name.data();
    }
    ~NicDirectory() override { std::filesystem::remove_all(folder_); }
    std::string folder_;
};

TEST_F(NicDirectory, IsTheSettingsOrOneOfTheUsersOwn) {
    EXPECT_EQ(nic_directory("/here"), "/here");
    EXPECT_NE(nic_directory("").find("gradcoll"), std::string::npos);
}

TEST_F(NicDirectory, IsMadeForTheUserAlone) {
    const std::string made = folder_ + "/new";
    ASSERT_TRUE(prepare_nic_directory(made).ok());
    struct stat facts {};
    ASSERT_EQ(stat(made.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U);
}

TEST_F(NicDirectory, ThatOthersMayEnterIsRefusedWithItsMode) {
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    const Status status = prepare_nic_directory(folder_);
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find("0755"), std::string::npos) << status.message();
    EXPECT_FALSE(open_nic_door(folder_).ok());
    EXPECT_FALSE(connect_to_nic_agent(folder_, std::chrono::seconds(1)).ok());
}

TEST_F(NicDirectory, MayBeNeitherALinkNorAFile) {
    const std::string link = folder_ + "/link";
    ASSERT_EQ(symlink(folder_.c_str(), link.c_str()), 0);
    EXPECT_EQ(check_nic_directory(link).code(), Code::io);
    EXPECT_EQ(check_nic_directory("/etc/passwd").code(), Code::io);
    EXPECT_EQ(check_nic_directory(folder_ + "/nothing").code(), Code::io);
}

TEST_F(NicDirectory, HasOneAgentAtATime) {
    auto first = open_nic_door(folder_);
    ASSERT_TRUE(first.ok()) << first.status().message();
    ASSERT_TRUE(first->has_value());
    const auto second = open_nic_door(folder_);
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->has_value());
    EXPECT_TRUE(connect_to_nic_agent(folder_, std::chrono::seconds(1)).ok());
    **first = NicDoor();
    EXPECT_FALSE(connect_to_nic_agent(folder_, std::chrono::seconds(1)).ok());
    const auto third = open_nic_door(folder_);
    ASSERT_TRUE(third.ok()) << third.status().message();
    EXPECT_TRUE(third->has_value());
}

TEST_F(NicDirectory, WithATooLongPathIsRefused) {
    const std::string longer = folder_ + "/" + std::string(120, 'x');
    EXPECT_EQ(open_nic_door(longer).status().code(), Code::io);
}

}  // namespace
}  // namespace gradcoll
