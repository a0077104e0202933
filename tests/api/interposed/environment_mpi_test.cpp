// What libgradcoll_pmpi may ask of the library, under settings of the environment (CMakeLists.txt):
// a codec with filters, kinds of calls, threads, and a report.
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

using Floats = std::vector<float>;
using nlohmann::json;

bool alone() {
    return size_of(MPI_COMM_WORLD) == 1;
}

void name(MPI_Comm comm, const char* text) {
    MPI_Comm_set_name(comm, text);
}

bool sum(const PlainComm& comm, std::size_t count) {
    const Floats input = floats<float>(comm.rank(), count);
    Floats output(count);
    return connected()
        .allreduce(input.data(), output.data(), static_cast<std::int64_t>(count), MPI_FLOAT,
                   MPI_SUM, comm)
        .served;
}

unsigned long long compressed(const PlainComm& comm) {
    return comm.stats().calls_compressed;
}

/// Returns the entry of the communicator `name` in the report as it stands.
json report_of(const std::string& name) {
    connected()->pcontrol(2);
    std::ifstream file(std::string(GC_TEST_REPORT_DIR) + "/interposed." + std::to_string(getpid()) +
                       ".json");
    const json report = json::parse(file, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(report.is_discarded());
    for (const json& entry : report.value("communicators", json::array()))
        if (entry["name"] == name) return entry;
    return json();
}

TEST(InterposedEnvironment, AReportMakesEveryCallBeOffered) {
    for (int kind = 0; kind < GC_CALL_COMPLETE; ++kind) {
        if (kind == GC_CALL_START) continue;
        EXPECT_EQ(connected().least(static_cast<GC_Call_kind>(kind)), 0) << kind;
    }
}

TEST(InterposedEnvironment, SumsBetweenMinAndMaxAreCompressed) {
    const PlainComm comm;
    EXPECT_FALSE(sum(comm, 1000));
    EXPECT_FALSE(comm.is_attached());
    EXPECT_EQ(sum(comm, 5000), !alone());
    if (alone()) return;
    EXPECT_EQ(compressed(comm), 1U);
    EXPECT_TRUE(sum(comm, 250'000));
    EXPECT_EQ(compressed(comm), 2U);
    EXPECT_TRUE(sum(comm, 300'000)) << "beyond GC_COMPRESS_BYTES: exact on the tree";
    EXPECT_EQ(compressed(comm), 2U);
}

TEST(InterposedEnvironment, CommunicatorsThatAreExcludedByNameAreExact) {
    const PlainComm comm;
    name(comm, comm.rank() == 0 ? "norm_of_gradients" : "something else");
    EXPECT_FALSE(sum(comm, 5000)) << "exact, and too short for the exact tree";
    EXPECT_EQ(sum(comm, 100'000), !alone());
    if (!alone()) {
        EXPECT_EQ(compressed(comm), 0U);
    }
}

TEST(InterposedEnvironment, AllgatherIsServedExactlyWhateverTheCodec) {
    const PlainComm comm;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const Floats block = floats<float>(comm.rank(), long_count);
    Floats all(long_count * ranks);
    MPI_Datatype triple = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(4, MPI_FLOAT, &triple);
    MPI_Type_commit(&triple);
    const bool derived = comm.rank() == 0;  // how a rank describes its blocks is its own affair
    const Answer answer = connected().allgather(block.data(), long_count, MPI_FLOAT, all.data(),
                                                derived ? long_count / 4 : long_count,
                                                derived ? triple : MPI_FLOAT, comm);
    EXPECT_EQ(answer.served, !alone());
    MPI_Type_free(&triple);
    if (alone()) return;
    Floats expected;
    for (int rank = 0; rank < comm.size(); ++rank) {
        const Floats values = floats<float>(rank, long_count);
        expected.insert(expected.end(), values.begin(), values.end());
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(compressed(comm), 0U);
    const Answer wrong = connected().allgather(block.data(), long_count, MPI_FLOAT, all.data(),
                                               long_count - 1, MPI_FLOAT, comm);
    EXPECT_TRUE(wrong.served) << "not all MPI libraries would refuse it";
    EXPECT_NE(wrong.code, MPI_SUCCESS);
}

TEST(InterposedEnvironment, KindsThatGcInterceptLeavesOutAreLeft) {
    const PlainComm comm;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const Floats input(long_count * ranks, 1.0F);
    Floats block(long_count);
    EXPECT_FALSE(
        connected()
            .reduce_scatter_block(input.data(), block.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
            .served);
    EXPECT_FALSE(comm.is_attached());
}

TEST(InterposedEnvironment, NonblockingCallsAreServedOnceTheCommunicatorIsAttached) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    const PlainComm comm;
    const Floats input(long_count, 1.0F);
    Floats output(long_count);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto ask = [&] {
        return connected().iallreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_MAX,
                                      comm, &request);
    };
    EXPECT_FALSE(ask().served);
    sum(comm, long_count);
    const Answer answer = ask();
    EXPECT_EQ(answer.served, !alone() && level == MPI_THREAD_MULTIPLE);
    if (!answer.served) return;
    EXPECT_EQ(answer.code, MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(output, input);
}

TEST(InterposedEnvironment, TheReportHasEveryCallOnceAndTheReasons) {
    const std::string own_name = "reported";
    const PlainComm comm;
    name(comm, own_name.c_str());
    sum(comm, 10);
    for (int call = 0; call < 4; ++call) sum(comm, 50'000);
    const json entry = report_of(own_name);
    ASSERT_TRUE(entry.is_object());
    EXPECT_EQ(entry["communicators"], 1);
    std::uint64_t calls = 0;
    std::uint64_t lossy = 0;
    std::uint64_t passed = 0;
    for (const json& cell : entry["calls"]) {
        EXPECT_EQ(cell["call"], "allreduce");
        calls += cell["calls"].get<std::uint64_t>();
        lossy += cell["compressed"].get<std::uint64_t>();
        passed += cell["passed"].get<std::uint64_t>();
    }
    EXPECT_EQ(calls, 5U);
    EXPECT_EQ(lossy, alone() ? 0U : 4U);
    EXPECT_EQ(passed, alone() ? 5U : 1U);
    if (alone()) return;
    ASSERT_EQ(entry["errors"].size(), 1U) << "GC_REPORT=json,error=2";
    EXPECT_EQ(entry["errors"][0]["measurements"], 2);
    EXPECT_GT(entry["errors"][0]["max_abs"].get<double>(), 0.0);
    const double relative = entry["errors"][0]["max_relative_l2"].get<double>();
    EXPECT_GT(relative, 0.01) << "half of the values are dropped";
    EXPECT_LT(relative, 1.0);
    EXPECT_EQ(entry["trees"].size(), 1U);
}

}  // namespace
}  // namespace gradcoll::test
