// What a warm GC_Allreduce does besides moving and adding: allocates nothing, takes no lock, and
// enters the kernel only to sleep or to send. Calls of the MPI library itself do not count
// (support/watched_calls.hpp tells how they are told apart).
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <ostream>
#include <set>

#include "api/api_support.hpp"
#include "support/watched_calls.hpp"

namespace gradcoll::test {
namespace {

/// These system calls give the core away, sleep, wake, or read and write a peer's memory. A wait
/// that has lasted for milliseconds looks by poll() whether a peer has died.
const std::set<long> sleeps_or_sends{
    SYS_sched_yield,       SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_poll};

/// Returns whether the filter for system calls is in place; it stays until the program ends.
bool sees_system_calls() {
    static const bool sees = watch_system_calls();
    return sees;
}

using SeenCalls = std::vector<SeenCall>;

bool is_system_call(const SeenCall& call) {
    return call.system_call >= 0;
}
bool is_lock(const SeenCall& call) {
    return call.name.starts_with("pthread_") || call.name == "sem_wait";
}
bool is_allocation(const SeenCall& call) {
    return !is_system_call(call) && !is_lock(call);
}
bool is_needless(const SeenCall& call) {
    return is_system_call(call) && !sleeps_or_sends.contains(call.system_call);
}

template <class Which>
SeenCalls only(const SeenCalls& calls, Which which) {
    SeenCalls left;
    std::copy_if(calls.begin(), calls.end(), std::back_inserter(left), which);
    return left;
}

/// Returns what was seen in the third to eighth call of a shape.
SeenCalls seen_in_warm_calls(const OwnComm& comm, std::size_t bytes, bool in_place) {
    const int count = static_cast<int>(bytes / sizeof(float));
    std::vector<float> in = floats<float>(comm.rank(), bytes / sizeof(float));
    std::vector<float> out = in;
    const void* send = in_place ? MPI_IN_PLACE : in.data();
    const auto call = [&] {
        return GC_Allreduce(send, out.data(), count, MPI_FLOAT, MPI_SUM, comm);
    };
    int failed = call() | call();
    start_watching();
    for (int i = 0; i < 6; ++i) failed |= call();
    SeenCalls seen = stop_watching();
    EXPECT_EQ(failed, MPI_SUCCESS);
    return seen;
}

/// Setting is one case: the default settings of a program that attaches nothing, a written tree, or
/// a codec.
struct Setting {
    const char* name;
    const char* codec;
    bool by_default;

    friend std::ostream& operator<<(std::ostream& out, const Setting& setting) {
        return out << setting.name;
    }
};

class WarmCall : public testing::TestWithParam<Setting> {
  protected:
    static void SetUpTestSuite() {
        watch_calls_of(dlsym(RTLD_DEFAULT, "GC_Allreduce"), dlsym(RTLD_DEFAULT, "PMPI_Bcast"));
        sees_system_calls();
    }

    /// Calls `expect(what was seen)` for sizes from 4 B to 16 MiB.
    template <class Expect>
    void for_all_sizes(Expect&& expect) const {
        const Setting& setting = GetParam();
        const OwnComm comm = setting.by_default ? OwnComm() : OwnComm("flat");
        if (!setting.by_default) comm.set("gc_codec", setting.codec);
        for (std::size_t bytes = 4; bytes <= (16U << 20); bytes *= 4) {
            SCOPED_TRACE(std::string(setting.name) + ", bytes " + std::to_string(bytes));
            for (const bool in_place : {false, true})
                expect(seen_in_warm_calls(comm, bytes, in_place));
        }
    }
};

TEST_P(WarmCall, AllocatesNothing) {
    for_all_sizes([](const SeenCalls& seen) {
        const SeenCalls allocations = only(seen, is_allocation);
        EXPECT_TRUE(allocations.empty()) << text_of(allocations);
    });
}

/// The test calls with a short and a long vector in turns, which share scratch memory.
TEST_P(WarmCall, OfTwoSizesInTurnsAllocatesNothing) {
    const Setting& setting = GetParam();
    const OwnComm comm = setting.by_default ? OwnComm() : OwnComm("flat");
    if (!setting.by_default) comm.set("gc_codec", setting.codec);
    constexpr int counts[] = {100'000, 3'000'000};
    std::vector<float> in = floats<float>(comm.rank(), counts[1]), out(in.size());
    int failed = 0;
    const auto call_each = [&] {
        for (const int count : counts)
            failed |= GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm);
    };
    call_each();
    start_watching();
    call_each();
    const SeenCalls allocations = only(stop_watching(), is_allocation);
    EXPECT_EQ(failed, MPI_SUCCESS);
    EXPECT_TRUE(allocations.empty()) << text_of(allocations);
}

TEST_P(WarmCall, TakesNoLock) {
    for_all_sizes([](const SeenCalls& seen) {
        const SeenCalls locks = only(seen, is_lock);
        EXPECT_TRUE(locks.empty()) << text_of(locks);
    });
}

TEST_P(WarmCall, EntersTheKernelOnlyToSleepOrToSend) {
    if (!sees_system_calls()) GTEST_SKIP() << "the kernel permits no filter of system calls here";
    for_all_sizes([](const SeenCalls& seen) {
        const SeenCalls needless = only(seen, is_needless);
        EXPECT_TRUE(needless.empty()) << text_of(needless);
    });
}

INSTANTIATE_TEST_SUITE_P(Settings, WarmCall,
                         testing::Values(Setting{"default", "exact", true},
                                         Setting{"tree", "exact", false},
                                         Setting{"thinned", "2:4", false}),
                         [](const auto& of) { return std::string(of.param.name); });

/// The tests above can only fail if calls of this very program are seen.
TEST(WatchedCalls, AreSeen) {
    static int in_this_program = 0;
    watch_calls_of(&in_this_program, dlsym(RTLD_DEFAULT, "PMPI_Bcast"));
    const bool sees_all = sees_system_calls();
    std::mutex mutex;
    start_watching();
    {
        const std::scoped_lock lock(mutex);
        std::vector<int> some(100 + static_cast<std::size_t>(in_this_program));
        EXPECT_NE(syscall(SYS_getppid, some.data()), 0);
    }
    const SeenCalls seen = stop_watching();
    EXPECT_EQ(only(seen, is_lock).size(), 1U) << text_of(seen);
    EXPECT_EQ(only(seen, is_allocation).size(), 2U) << text_of(seen);
    if (sees_all) {
        EXPECT_EQ(only(seen, is_needless).size(), 1U) << text_of(seen);
    }
}

}  // namespace
}  // namespace gradcoll::test
