// Which way gradients of an engine go: short ones together, and all as a plan by hand says.
#include <fstream>
#include <nlohmann/json.hpp>

#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

/// The test sums many short gradients of two types, in different orders on each rank, and expects
/// the same bits on all ranks.
TEST(EngineCalls, ShortOnesAreRightPackedAndByThemselves) {
    const OwnComm comm;
    constexpr std::size_t gradients = 300;
    for (const char* pack : {"pack=0", "pack=32K", "pack=auto"}) {
        const OwnEngine engine(comm, {{"gc_engine", pack}});
        std::mt19937 random(static_cast<unsigned>(comm.rank()));
        std::vector<std::size_t> order(gradients);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int step = 0; step < 3; ++step) {
            std::shuffle(order.begin(), order.end(), random);
            std::vector<std::vector<float>> floats(gradients);
            std::vector<std::vector<double>> doubles(gradients);
            std::vector<GC_Handle> handles(gradients);
            for (const std::size_t at : order) {
                floats[at] = values_of(comm.rank(), static_cast<int>(at), at * 7 % 500);
                doubles[at].assign(floats[at].begin(), floats[at].end());
                const bool is_double = at % 3 == 0;
                void* const data = is_double ? static_cast<void*>(doubles[at].data())
                                             : static_cast<void*>(floats[at].data());
                ASSERT_EQ(GC_Submit(engine, std::to_string(at).c_str(), MPI_IN_PLACE, data,
                                    static_cast<MPI_Count>(floats[at].size()),
                                    is_double ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, 0, &handles[at]),
                          MPI_SUCCESS);
            }
            ASSERT_EQ(GC_Handle_waitall(static_cast<int>(gradients), handles.data()), MPI_SUCCESS);
            for (std::size_t at = 0; at < gradients; ++at) {
                const auto sum = sum_of(comm.size(), static_cast<int>(at), at * 7 % 500);
                if (at % 3 == 0) floats[at].assign(doubles[at].begin(), doubles[at].end());
                ASSERT_EQ(floats[at], sum) << at << ", pack " << pack;
            }
        }
    }
}

/// A plan by hand is followed, what is written is what was done, and it is read again.
TEST(EngineCalls, PlansAreReadAndWritten) {
    const OwnComm comm;
    const std::string given = testing::TempDir() + "plan." + std::to_string(comm.size()) + ".json";
    const std::string written = given + ".out";
    if (comm.rank() == 0)
        std::ofstream(given) << R"({"gradcoll_engine_plan": 1, "gradients": [
                   {"name": "layer.5", "strategy": "ring", "parts": 3},
                   {"name": "layer.[1-4]", "strategy": "ps"}]})";
    {
        const OwnEngine engine(comm, {{"gc_engine_plan", given.c_str()},
                                      {"gc_engine_plan_to", written.c_str()},
                                      {"gc_engine", "auto,pack=1M"}});
        for (unsigned step = 0; step < 2; ++step)
            expect_right_sums(engine, comm, step, step % 2 == 1);
    }
    if (comm.rank() == 0) {
        std::ifstream file(written);
        const auto json = nlohmann::json::parse(file);
        ASSERT_EQ(json["gradients"].size(), counts.size());
        for (const auto& gradient : json["gradients"]) {
            EXPECT_EQ(gradient["codec"], "exact");
            const auto name = gradient["name"].get<std::string>();
            const bool is_named = name >= "layer.1" && name <= "layer.5";
            // Those that no plan names may have been packed.
            if (is_named && comm.size() > 1 && gradient["bytes"] > 0) {
                EXPECT_GT(gradient["measured_us"], 0);
                EXPECT_GT(gradient["predicted_us"], 0);
            }
            if (name == "layer.5") {
                EXPECT_EQ(gradient["strategy"], "ring");
                if (comm.size() > 1) {
                    EXPECT_EQ(gradient["parts"], 3);
                }
            }
            if (name >= "layer.1" && name <= "layer.4") {
                EXPECT_EQ(gradient["strategy"], "ps");
            }
        }
    }
    {
        const OwnEngine again(comm, {{"gc_engine_plan", written.c_str()}});
        expect_right_sums(again, comm, 7, false);
    }
    if (comm.rank() == 0) std::ofstream(given) << "{}";
    MPI_Barrier(comm);
    GC_Engine engine = GC_ENGINE_NULL;
    EXPECT_EQ(class_of(GC_Engine_create(comm, Info({{"gc_engine_plan", given.c_str()}}), &engine)),
              MPI_ERR_ARG);
    EXPECT_EQ(
        class_of(GC_Engine_create(comm, Info({{"gc_engine_plan", "/no/such/plan"}}), &engine)),
        MPI_ERR_ARG);
}

}  // namespace
}  // namespace gradcoll::test
