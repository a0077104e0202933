// Gradients of an engine are planned anew where links carry something else than was said: all ranks
// between the same two sums, and nothing that codecs dropped is lost.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t count = 300'000;
constexpr int gradients = 3;

/// SharedFile is a file that rank 0 writes, and removes at the end.
class SharedFile {
  public:
    SharedFile(const OwnComm& comm, const char* name, const std::string& text)
        : comm_(comm),
          path_(testing::TempDir() + name + "." + std::to_string(comm.size()) + ".json") {
        if (comm_.rank() == 0) std::ofstream(path_) << text;
        MPI_Barrier(comm_);
    }
    ~SharedFile() {
        MPI_Barrier(comm_);
        if (comm_.rank() == 0) std::remove(path_.c_str());
    }
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;
    const char* path() const { return path_.c_str(); }

  private:
    const OwnComm& comm_;
    std::string path_;
};

/// Returns a tree with all ranks below one switch, whose links are said to carry so many GB/s.
std::string tree_text(int ranks, double gbytes_per_s) {
    nlohmann::json tree{{"kind", "switch"}, {"children", nlohmann::json::array()}};
    for (int rank = 0; rank < ranks; ++rank)
        tree["children"].push_back({{"bandwidth_gbytes_per_s", gbytes_per_s}, {"rank", rank}});
    return tree.dump();
}

/// Replan runs the steps of a program whose links are said to carry so many GB/s.
class Replan : public testing::Test {
  protected:
    /// Runs the steps and returns what rank 0 has written at the end.
    nlohmann::json run(
        double said_gbytes_per_s, int steps, const char* replan,
        const std::string& plan = R"({"gradcoll_engine_plan": 1, "gradients": []})") {
        const SharedFile tree(comm, "replan_tree", tree_text(comm.size(), said_gbytes_per_s));
        const SharedFile given(comm, "replan_given", plan);
        const SharedFile written(comm, "replan_written", "");
        {
            const OwnEngine engine(comm,
                                   {{"gc_topology", (std::string("json:") + tree.path()).c_str()},
                                    {"gc_engine", (std::string("ring,replan=") + replan).c_str()},
                                    {"gc_codec", "2:4"},
                                    {"gc_compress_if", "pays"},
                                    {"gc_engine_plan", given.path()},
                                    {"gc_engine_plan_to", written.path()}});
            for (int step = 0; step < steps; ++step) one_step(engine, step);
        }
        MPI_Barrier(comm);
        std::ifstream file(written.path());
        return nlohmann::json::parse(file);
    }

    void one_step(GC_Engine engine, int step) {
        std::vector<std::vector<float>> in(gradients), out(gradients);
        std::vector<GC_Handle> handles(gradients);
        for (int i = 0; i < gradients; ++i) {
            const auto at = static_cast<std::size_t>((i + comm.rank() + step) % gradients);
            const bool in_place = (step + comm.rank()) % 2 == 0;
            in[at] = values_of(comm.rank(), static_cast<int>(at), count);
            out[at] = in[at];
            ASSERT_EQ(GC_Submit(engine, ("layer." + std::to_string(at)).c_str(),
                                in_place ? MPI_IN_PLACE : in[at].data(), out[at].data(), count,
                                MPI_FLOAT, MPI_SUM, 0, &handles[at]),
                      MPI_SUCCESS);
        }
        ASSERT_EQ(GC_Handle_waitall(gradients, handles.data()), MPI_SUCCESS);
        for (std::size_t at = 0; at < gradients; ++at) {
            EXPECT_TRUE(same_on_all_ranks(out[at], comm)) << step;
            totals[at].resize(count);
            for (std::size_t i = 0; i < count; ++i) totals[at][i] += out[at][i];
        }
    }

    /// Codecs drop half of each sum. With the residual added, all steps together give what exact
    /// sums would.
    void expect_nothing_lost(int steps) {
        for (std::size_t at = 0; at < gradients; ++at) {
            const std::vector<float> sum = sum_of(comm.size(), static_cast<int>(at), count);
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_NEAR(totals[at][i], static_cast<double>(steps) * sum[i], 0.05)
                    << "gradient " << at << ", element " << i;
        }
    }

    static std::string codec_of(const nlohmann::json& plan, std::size_t at) {
        for (const auto& gradient : plan["gradients"])
            if (gradient["name"] == "layer." + std::to_string(at)) return gradient["codec"];
        return "none";
    }

    OwnComm comm;
    std::vector<std::vector<double>> totals = std::vector<std::vector<double>>(gradients);
};

TEST_F(Replan, LinksThatAreFasterThanSaidEndWithExactSumsAndNothingIsLost) {
    constexpr int steps = 40;
    const nlohmann::json plan = run(0.00002, steps, "on");
    EXPECT_GE(plan.value("planned_anew", 0), 1) << plan;
    EXPECT_GT(plan.value("links_carry", 1.0), 3) << plan;
    for (std::size_t at = 0; at < gradients; ++at) EXPECT_EQ(codec_of(plan, at), "exact") << plan;
    expect_nothing_lost(steps);
}

TEST_F(Replan, WhoDoesNotWantItKeepsThePlan) {
    const nlohmann::json plan = run(0.00002, 12, "off");
    EXPECT_FALSE(plan.contains("planned_anew")) << plan;
    for (std::size_t at = 0; at < gradients; ++at) EXPECT_EQ(codec_of(plan, at), "2:4") << plan;
}

TEST_F(Replan, WhatAPlanByHandSaysStays) {
    const nlohmann::json plan =
        run(0.00002, 40, "on",
            R"({"gradcoll_engine_plan": 1, "gradients": [{"name": "layer.1", "codec": "2:4"},
                {"name": "layer.2", "strategy": "ps", "codec": "2:4", "parts": 2}]})");
    EXPECT_GE(plan.value("planned_anew", 0), 1) << plan;
    EXPECT_EQ(codec_of(plan, 0), "exact") << plan;
    EXPECT_EQ(codec_of(plan, 1), "2:4") << plan;
    EXPECT_EQ(codec_of(plan, 2), "2:4") << plan;
    for (const auto& gradient : plan["gradients"])
        if (gradient["name"] == "layer.2") {
            EXPECT_EQ(gradient["strategy"], "ps");
        }
}

/// The opposite needs slow links: those of a lab.
TEST_F(Replan, LinksOfALabThatAreSlowerThanSaidEndWithTheCodec) {
    if (std::getenv("GC_TEST_LAB") == nullptr) GTEST_SKIP() << "not in a lab";
    const nlohmann::json plan = run(100, 30, "on");
    EXPECT_GE(plan.value("planned_anew", 0), 1) << plan;
    EXPECT_LT(plan.value("links_carry", 1.0), 0.01) << plan;
    for (std::size_t at = 0; at < gradients; ++at) EXPECT_EQ(codec_of(plan, at), "2:4") << plan;
}

}  // namespace
}  // namespace gradcoll::test
