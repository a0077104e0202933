// Processes that end are noticed, waited for or not; those that are stopped, or others that have
// their number, are not taken for them.
#include "base/watched_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/child_process.hpp"

namespace gradcoll {
namespace {

bool has_ended(const WatchedProcess& process) {
    pollfd look{process.descriptor(), POLLIN, 0};
    return poll(&look, 1, 0) == 1;
}

bool ends_in_time(const WatchedProcess& process) {
    pollfd look{process.descriptor(), POLLIN, 0};
    return poll(&look, 1, 10'000) == 1;
}

TEST(WatchedProcess, EndIsNoticedBeforeAnybodyHasWaitedForIt) {
    const Child child;
    const auto watched = WatchedProcess::of(child.name);
    if (watched == nullptr) GTEST_SKIP() << "no pidfd here";
    EXPECT_FALSE(has_ended(*watched));
    kill(child.number, SIGKILL);
    EXPECT_TRUE(ends_in_time(*watched));
}

TEST(WatchedProcess, WhoIsStoppedHasNotEnded) {
    const Child child;
    const auto watched = WatchedProcess::of(child.name);
    if (watched == nullptr) GTEST_SKIP() << "no pidfd here";
    kill(child.number, SIGSTOP);
    int how = 0;
    ASSERT_EQ(waitpid(child.number, &how, WUNTRACED), child.number);
    EXPECT_FALSE(has_ended(*watched));
    kill(child.number, SIGCONT);
    EXPECT_FALSE(has_ended(*watched));
}

TEST(WatchedProcess, ANumberThatAnotherProcessHasByNowIsNotWatched) {
    const Child child;
    ProcessName earlier = child.name;
    earlier.start_ticks -= 1;
    EXPECT_EQ(WatchedProcess::of(earlier), nullptr);
}

TEST(WatchedProcess, ProcessesOfAnotherNumberingAreNotWatched) {
    const Child child;
    ProcessName elsewhere = child.name;
    elsewhere.numbering += 1;
    EXPECT_EQ(WatchedProcess::of(elsewhere), nullptr);
    elsewhere.numbering = 0;
    EXPECT_EQ(WatchedProcess::of(elsewhere), nullptr);
}

TEST(WatchedProcess, AllWhoWatchOneShareADescriptorAndGiveItBack) {
    const Child child;
    auto one = WatchedProcess::of(child.name);
    if (one == nullptr) GTEST_SKIP() << "no pidfd here";
    auto other = WatchedProcess::of(child.name);
    EXPECT_EQ(one, other);
    const int descriptor = one->descriptor();
    one.reset();
    EXPECT_FALSE(has_ended(*other));
    other.reset();
    pollfd look{descriptor, POLLIN, 0};
    EXPECT_EQ(poll(&look, 1, 0), 1);
    EXPECT_NE(look.revents & POLLNVAL, 0);
}

}  // namespace
}  // namespace gradcoll
