// GC_TUNING_FILE: rank 0's file holds on all ranks, whatever the others have.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr MPI_Count count = 1 << 20;  // 4 MiB

nlohmann::json explained() {
    std::size_t length = 0;
    GC_Explain_allreduce(MPI_COMM_WORLD, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_JSON, nullptr,
                         &length);
    std::string text(length, '\0');
    GC_Explain_allreduce(MPI_COMM_WORLD, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_JSON, text.data(),
                         &length);
    return nlohmann::json::parse(text.c_str());
}

/// This file cuts such a call into sixteen chunks.
constexpr const char* chunks_of_256k =
    R"({"chunks": {"one_level": {"whole_bytes": 65536, "chunk_bytes": 262144}}})";

/// File is this rank's file, which is removed at the end.
class File {
  public:
    explicit File(const char* text) : path_("tuning." + std::to_string(getpid()) + ".json") {
        std::ofstream(path_) << text;
        setenv("GC_TUNING_FILE", path_.c_str(), 1);
    }
    ~File() { std::remove(path_.c_str()); }

  private:
    std::string path_;
};

/// The environment is read at the first call, so each rank can still choose its own, once a
/// program. GC_TEST_TUNING says which case this one is.
TEST(TuningFile, OfRankZeroHoldsOnAllRanks) {
    const char* named = std::getenv("GC_TEST_TUNING");
    const std::string scenario = named == nullptr ? "first" : named;
    const bool is_first = rank_of(MPI_COMM_WORLD) == 0;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool good_here = scenario == "broken" ? !is_first : is_first == (scenario == "first");
    const File file(good_here ? chunks_of_256k : R"({"chunks": {"one_level": 5}})");
    if (scenario == "others" && is_first) setenv("GC_TUNING_FILE", "/nonexistent/tuning.json", 1);

    if (ranks > 1) {
        const int chunks = explained().at("plan").at("chunks");
        EXPECT_EQ(chunks, scenario == "first" ? 16 : 1);
        if (is_first) {
            EXPECT_EQ(explained().at("settings").dump().find("GC_TUNING_FILE") != std::string::npos,
                      scenario == "first");
        }
    }
    std::vector<float> values(count, 1.0F);
    EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(values.front(), static_cast<float>(ranks));
    EXPECT_EQ(values.back(), static_cast<float>(ranks));
}

}  // namespace
}  // namespace gradcoll::test
