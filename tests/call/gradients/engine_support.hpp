// An engine of a test, and gradients in orders of each rank's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
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

inline constexpr std::size_t dropped_count = 20'000;

inline std::vector<float> noise_of(int rank, unsigned seed, std::size_t count = dropped_count) {
    std::mt19937 random(seed * 64 + static_cast<unsigned>(rank));
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
}

/// Returns the sum of noise, exact but for the last bits.
inline std::vector<double> noise_sum(int ranks, unsigned seed) {
    std::vector<double> sum(dropped_count, 0.0);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<float> one = noise_of(rank, seed);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(one[i]);
    }
    return sum;
}

/// Submits one gradient and waits for its sum.
inline std::vector<float> summed(GC_Engine engine, const char* name,
                                 const std::vector<float>& values, bool in_place = false) {
    std::vector<float> out(values.size(), -1.0F);
    if (in_place) out = values;
    GC_Handle handle = GC_HANDLE_NULL;
    EXPECT_EQ(GC_Submit(engine, name, in_place ? MPI_IN_PLACE : values.data(), out.data(),
                        static_cast<MPI_Count>(values.size()), MPI_FLOAT, MPI_SUM, 0, &handle),
              MPI_SUCCESS);
    EXPECT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    return out;
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(squares);
}

class LossyEngine : public OwnEngine {
  public:
    explicit LossyEngine(MPI_Comm comm, const char* codec = "2:4", const char* feedback = "on",
                         const char* strategy = "tree")
        : OwnEngine(comm, {{"gc_codec", codec},
                           {"gc_feedback", feedback},
                           {"gc_engine", strategy},
                           {"gc_compress_bytes", "0"},
                           {"gc_compress_if", "always"}}) {}
};

}  // namespace gradcoll::test
