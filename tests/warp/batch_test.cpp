// Cutting jobs and gathering them into launches: pure arithmetic, for sizes that no test could
// allocate, too.
#include "warp/batch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t large = std::size_t{5} << 32;  // far beyond 2^31

struct Launched {
    Batch batch;
    unsigned ctas;
};
std::vector<Launched>& launches() {
    static std::vector<Launched> all;
    return all;
}
BatchKernel recording_kernel() {
    launches().clear();
    return {[](const Batch& batch, unsigned ctas, void*) -> const char* {
                launches().push_back({batch, ctas});
                return nullptr;
            },
            512, 32};
}
WarpJob job_of(std::size_t count) {
    WarpJob job;
    job.count = count;
    return job;
}

TEST(CutJob, TilesComeFirstAndTheRestIsLoose) {
    const BatchKernel kernel = recording_kernel();
    const WarpJob job = cut_job(job_of(1100), kernel, true);
    EXPECT_EQ(job.tiles, 2u);
    EXPECT_EQ(job.items, 2u + 3u);  // 76 elements are three windows
    EXPECT_EQ(cut_job(job_of(1100), kernel, false).items, 35u);
    EXPECT_EQ(cut_job(job_of(0), kernel, true).items, 0u);
}

TEST(CutJob, CountsBeyond32BitsKeepAllTheirItems) {
    const BatchKernel kernel = recording_kernel();
    const WarpJob job = cut_job(job_of(large + 33), kernel, true);
    EXPECT_EQ(job.tiles, large / 512);
    EXPECT_EQ(job.items, large / 512 + 2);
    EXPECT_EQ(cut_job(job_of(large), kernel, false).items, large / 32);
}

TEST(BatchLauncher, GathersThirtyTwoJobsInALaunchAndSkipsEmptyOnes) {
    const BatchKernel kernel = recording_kernel();
    BatchLauncher launcher(kernel, nullptr);
    for (std::size_t j = 0; j < 70; ++j) {
        EXPECT_TRUE(launcher.add(cut_job(job_of(512 * j), kernel, true)).ok());  // the first: empty
    }
    EXPECT_TRUE(launcher.flush().ok());
    ASSERT_EQ(launches().size(), 3u);
    EXPECT_EQ(launches()[0].batch.jobs, 32u);
    EXPECT_EQ(launches()[2].batch.jobs, 5u);
    EXPECT_EQ(launches()[0].batch.job[31].count, 512u * 32);
    EXPECT_EQ(launches()[1].batch.job[0].count, 512u * 33);
}

TEST(BatchLauncher, NothingIsLaunchedForNothing) {
    BatchLauncher launcher(recording_kernel(), nullptr);
    EXPECT_TRUE(launcher.flush().ok());
    EXPECT_TRUE(launches().empty());
}

TEST(BatchLauncher, AnErrorOfTheLaunchIsTransportInItsOwnWords) {
    const BatchKernel refusing{
        [](const Batch&, unsigned, void*) -> const char* { return "no such device"; }, 512, 32};
    BatchLauncher launcher(refusing, nullptr);
    EXPECT_TRUE(launcher.add(cut_job(job_of(1), refusing, true)).ok());
    const Status status = launcher.flush();
    EXPECT_EQ(status.code(), Code::transport);
    EXPECT_NE(status.message().find("no such device"), std::string::npos);
}

/// Every item of every job is done once, whoever does it.
TEST(WarpShare, TheWarpsOfALaunchDoEveryItemOnce) {
    const BatchKernel kernel = recording_kernel();
    BatchLauncher launcher(kernel, nullptr);
    const std::size_t counts[] = {1, 512 * 9, 512 * 200 + 7,
                                  512 * 140'000};  // the last one strides
    for (const std::size_t count : counts)
        ASSERT_TRUE(launcher.add(cut_job(job_of(count), kernel, true)).ok());
    ASSERT_TRUE(launcher.flush().ok());
    const auto& [batch, ctas] = launches().at(0);
    std::vector<std::vector<int>> done;
    for (unsigned j = 0; j < batch.jobs; ++j) done.emplace_back(batch.job[j].items);
    for (unsigned cta = 0; cta < ctas; ++cta)
        for (unsigned warp = 0; warp < warps_per_cta; ++warp) {
            const WarpShare share = share_of(batch, cta, warp);
            for (std::size_t i = share.first; i < batch.job[share.job].items; i += share.stride)
                ++done[share.job][i];
        }
    for (const std::vector<int>& job : done) EXPECT_EQ(job, std::vector<int>(job.size(), 1));
}

TEST(BatchLauncher, AJobHasNoMoreBlocksOfThreadsThanItMay) {
    const BatchKernel kernel = recording_kernel();
    BatchLauncher launcher(kernel, nullptr);
    for (int j = 0; j < 3; ++j)
        ASSERT_TRUE(launcher.add(cut_job(job_of(large), kernel, true)).ok());
    ASSERT_TRUE(launcher.flush().ok());
    EXPECT_EQ(launches().at(0).ctas, 3 * most_ctas);
}

TEST(Runs, WordsAndElementsAreTheSameBytes) {
    const gradcoll::Run<std::uint16_t, 4> halves{{1, 2, 3, 0xffff}};
    EXPECT_EQ(word_of(halves, 0), 0x00020001u);
    EXPECT_EQ(word_of(halves, 1), 0xffff0003u);
    const gradcoll::Run<std::uint64_t, 1> large_one{{0x1122334455667788u}};
    EXPECT_EQ(word_of(large_one, 0), 0x55667788u);
    EXPECT_EQ(word_of(large_one, 1), 0x11223344u);
    const std::uint32_t words[] = {0x55667788u, 0x11223344u};
    EXPECT_EQ(part_of<std::uint64_t>(words, 0), large_one.at[0]);
    EXPECT_EQ(part_of<std::uint16_t>(words, 3), 0x1122u);
    EXPECT_EQ(part_of<std::uint8_t>(words, 5), 0x33u);
}

}  // namespace
}  // namespace gradcoll
