// An engine of a test, and gradients in orders of each rank's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include "api/api_support.hpp"

namespace gradcoll::test {

class OwnEngine {
  public:
    OwnEngine(MPI_Comm comm,
              std::initializer_list<std::pair<const char*, const char*>> settings = {}) {
        EXPECT_EQ(GC_Engine_create(comm, Info(settings), &engine_), MPI_SUCCESS);
    }
    ~OwnEngine() {
        EXPECT_EQ(GC_Engine_free(&engine_), MPI_SUCCESS);
        EXPECT_EQ(engine_, GC_ENGINE_NULL);
    }
    OwnEngine(const OwnEngine&) = delete;
    OwnEngine& operator=(const OwnEngine&) = delete;
    operator GC_Engine() const { return engine_; }  // NOLINT: stands for the engine

  private:
    GC_Engine engine_ = GC_ENGINE_NULL;
};

/// Returns whole numbers, so that every order of additions gives the same sum.
inline std::vector<float> values_of(int rank, int gradient, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>((static_cast<int>(i) * 7 + gradient * 3 + rank) % 97 - 48);
    return values;
}

inline std::vector<float> sum_of(int ranks, int gradient, std::size_t count) {
    std::vector<float> sum(count, 0.0F);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<float> one = values_of(rank, gradient, count);
        for (std::size_t i = 0; i < count; ++i) sum[i] += one[i];
    }
    return sum;
}

inline const std::vector<std::size_t> counts{1, 100'000, 0, 17, 4'096, 300'000, 512, 33'333};

/// Sums all gradients once, in an order of this rank's own, now and then with a pause.
inline void expect_right_sums(GC_Engine engine, MPI_Comm comm, unsigned step, bool in_place) {
    std::mt19937 random(step * 101 + static_cast<unsigned>(rank_of(comm)));
    std::vector<int> order(counts.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::vector<float>> inputs(counts.size()), outputs(counts.size());
    std::vector<GC_Handle> handles(counts.size(), GC_HANDLE_NULL);
    for (const int gradient : order) {
        const auto at = static_cast<std::size_t>(gradient);
        if (random() % 3 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
        inputs[at] = values_of(rank_of(comm), gradient, counts[at]);
        outputs[at] = in_place ? inputs[at] : std::vector<float>(counts[at], -1.0F);
        const std::string name = "layer." + std::to_string(gradient);
        ASSERT_EQ(GC_Submit(engine, name.c_str(), in_place ? MPI_IN_PLACE : inputs[at].data(),
                            outputs[at].data(), static_cast<MPI_Count>(counts[at]), MPI_FLOAT,
                            MPI_SUM, gradient % 2, &handles[at]),
                  MPI_SUCCESS);
    }
    ASSERT_EQ(GC_Handle_waitall(static_cast<int>(handles.size()), handles.data()), MPI_SUCCESS);
    for (std::size_t at = 0; at < counts.size(); ++at) {
        EXPECT_EQ(handles[at], GC_HANDLE_NULL);
        EXPECT_EQ(outputs[at], sum_of(size_of(comm), static_cast<int>(at), counts[at])) << at;
    }
}

}  // namespace gradcoll::test
