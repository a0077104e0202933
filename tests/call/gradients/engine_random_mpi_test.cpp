// Ten thousand gradients at random: orders, lengths, pauses and moments of waiting that differ on
// every rank, with every strategy, exact and lossy, with and without the coordinator.
#include <cstring>
#include <string>

#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t gradients_a_step = 70;
constexpr int steps = 6;

struct Way {
    const char* strategy;
    const char* codec;
    const char* coordinator;
    const char* shm_bytes;  ///< 0: by messages, also on one host
};

std::string text_of(const Way& way) {
    return std::string(way.strategy) + " " + way.codec + " coordinator " + way.coordinator +
           " shared memory " + way.shm_bytes;
}

/// Returns the length of a gradient, the same on all ranks: most are short, some need several
/// chunks.
std::size_t length_of(std::size_t gradient) {
    std::mt19937 random(static_cast<unsigned>(gradient) * 7919U + 1);
    const std::size_t most = gradient % 10 == 0 ? 40'000 : gradient % 3 == 0 ? 3'000 : 200;
    return random() % most;
}

class RandomRank {
  public:
    RandomRank(MPI_Comm comm, const Way& way)
        : comm_(comm),
          engine_(comm, {{"gc_engine",
                          (std::string(way.strategy) + ",coordinator=" + way.coordinator).c_str()},
                         {"gc_codec", way.codec},
                         {"gc_compress_bytes", "0"},
                         {"gc_compress_if", "always"},
                         {"gc_shm_bytes", way.shm_bytes}}),
          is_exact_(std::strcmp(way.codec, "exact") == 0),
          random_(static_cast<unsigned>(rank_of(comm)) * 31U + 7U),
          values_(gradients_a_step),
          handles_(gradients_a_step, GC_HANDLE_NULL) {}

    void step() {
        std::vector<std::size_t> order(gradients_a_step);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random_);
        for (const std::size_t gradient : order) {
            pause();
            submit(gradient);
            if (random_() % 5 == 0) look_at(order[random_() % order.size()]);
        }
        std::shuffle(order.begin(), order.end(), random_);
        for (const std::size_t gradient : order) {
            pause();
            ASSERT_EQ(GC_Handle_wait(&handles_[gradient]), MPI_SUCCESS);
        }
        check();
    }

  private:
    void pause() {
        if (random_() % 16 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
    }
    void submit(std::size_t gradient) {
        std::vector<float>& values = values_[gradient];
        values = values_of(rank_of(comm_), static_cast<int>(gradient), length_of(gradient));
        const std::string name = "layer." + std::to_string(gradient);
        ASSERT_EQ(GC_Submit(engine_, name.c_str(), MPI_IN_PLACE, values.data(),
                            static_cast<MPI_Count>(values.size()), MPI_FLOAT, MPI_SUM,
                            static_cast<int>(random_() % 4), &handles_[gradient]),
                  MPI_SUCCESS);
    }
    /// Tests a gradient's handle without waiting for it; one that has ended stays null.
    void look_at(std::size_t gradient) {
        int flag = 0;
        ASSERT_EQ(GC_Handle_test(&handles_[gradient], &flag), MPI_SUCCESS);
        if (flag != 0) {
            ASSERT_EQ(handles_[gradient], GC_HANDLE_NULL);
        }
    }
    void check() {
        for (std::size_t gradient = 0; gradient < gradients_a_step; ++gradient) {
            const std::vector<float>& mine = values_[gradient];
            if (is_exact_) {
                ASSERT_EQ(mine, sum_of(size_of(comm_), static_cast<int>(gradient), mine.size()))
                    << gradient;
                continue;
            }
            std::vector<float> of_rank_0 = mine;
            MPI_Bcast(of_rank_0.data(), static_cast<int>(mine.size()), MPI_FLOAT, 0, comm_);
            ASSERT_TRUE(mine.empty() || std::memcmp(mine.data(), of_rank_0.data(),
                                                    mine.size() * sizeof(float)) == 0)
                << gradient;
        }
    }

    MPI_Comm comm_;
    OwnEngine engine_;
    bool is_exact_;
    std::mt19937 random_;
    std::vector<std::vector<float>> values_;
    std::vector<GC_Handle> handles_;
};

TEST(EngineCalls, TenThousandGradientsAtRandom) {
    const OwnComm comm;
    std::size_t summed = 0;
    for (const char* strategy : {"tree", "ring", "ps"})
        for (const char* codec : {"exact", "bf16", "2:4", "int8"})
            for (const char* coordinator : {"hosts", "off"}) {
                const bool by_messages =
                    std::strcmp(coordinator, "off") == 0 || std::strcmp(codec, "exact") != 0;
                const Way way{strategy, codec, coordinator, by_messages ? "0" : "256K"};
                SCOPED_TRACE(text_of(way));
                RandomRank rank(comm, way);
                for (int step = 0; step < steps; ++step) {
                    rank.step();
                    summed += gradients_a_step;
                }
            }
    EXPECT_GE(summed, 10'000U);
}

/// If all ranks change the count together, they agree upon it again.
TEST(EngineCalls, WithoutTheCoordinatorCountsMayChangeOnAllRanks) {
    const OwnComm comm;
    const OwnEngine engine(comm, {{"gc_engine", "coordinator=off"}, {"gc_shm_bytes", "0"}});
    for (const std::size_t count : {1'000U, 1'000U, 70'000U, 70'000U, 1'000U, 0U, 5U}) {
        std::vector<float> values = values_of(comm.rank(), 3, count);
        GC_Handle handle = GC_HANDLE_NULL;
        ASSERT_EQ(GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), static_cast<MPI_Count>(count),
                            MPI_FLOAT, MPI_SUM, 0, &handle),
                  MPI_SUCCESS);
        ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
        EXPECT_EQ(values, sum_of(comm.size(), 3, count));
    }
}

}  // namespace
}  // namespace gradcoll::test
