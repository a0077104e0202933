// Short compressed gradients, which are always summed in packs: what is dropped of each stays its
// own, wherever its elements lie and whoever encodes them.
#include <cmath>

#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

/// A PackedCase is one type of elements, as MPI and C++ know it.
template <class T>
struct PackedCase {
    MPI_Datatype datatype;

    /// Returns values between -1 and 1, the same in every step.
    static std::vector<T> values(int rank, std::size_t gradient, std::size_t count) {
        std::mt19937 random(static_cast<unsigned>(gradient * 64 + static_cast<std::size_t>(rank)));
        std::uniform_real_distribution<double> uniform(-1, 1);
        std::vector<T> values(count);
        for (T& value : values) value = static_cast<T>(uniform(random));
        return values;
    }
};

/// Some gradients are empty or shorter than a block, some have whole blocks, some an end behind
/// them.
constexpr std::size_t gradients = 40;
std::size_t length_of(std::size_t gradient) {
    constexpr std::size_t some[] = {0, 1, 37, 256, 512, 513, 1000, 4096, 5000, 20'000};
    return some[gradient % std::size(some)];
}

bool is_in_place(std::size_t gradient) {
    return gradient % 3 != 0;
}

/// Sums all gradients once, handed in in an order of this rank's own. Every rank gets equal bits.
template <class T>
std::vector<std::vector<T>> packed_step(GC_Engine engine, MPI_Comm comm, unsigned step,
                                        MPI_Datatype datatype) {
    std::vector<std::size_t> order(gradients);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(step * 31 + static_cast<unsigned>(rank_of(comm)));
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::vector<T>> inputs(gradients), outputs(gradients);
    std::vector<GC_Handle> handles(gradients, GC_HANDLE_NULL);
    for (const std::size_t at : order) {
        inputs[at] = PackedCase<T>::values(rank_of(comm), at, length_of(at));
        outputs[at] = is_in_place(at) ? inputs[at] : std::vector<T>(length_of(at), T{-1});
        EXPECT_EQ(GC_Submit(engine, std::to_string(at).c_str(),
                            is_in_place(at) ? MPI_IN_PLACE : inputs[at].data(), outputs[at].data(),
                            static_cast<MPI_Count>(length_of(at)), datatype, MPI_SUM,
                            static_cast<int>(random() % 3), &handles[at]),
                  MPI_SUCCESS);
    }
    EXPECT_EQ(GC_Handle_waitall(static_cast<int>(gradients), handles.data()), MPI_SUCCESS);
    for (std::size_t at = 0; at < gradients; ++at) {
        std::vector<T> of_rank_0 = outputs[at];
        MPI_Bcast(of_rank_0.data(), static_cast<int>(length_of(at) * sizeof(T)), MPI_BYTE, 0, comm);
        EXPECT_TRUE(length_of(at) == 0 || std::memcmp(of_rank_0.data(), outputs[at].data(),
                                                      length_of(at) * sizeof(T)) == 0)
            << at;
        if (!is_in_place(at)) {
            EXPECT_EQ(inputs[at], PackedCase<T>::values(rank_of(comm), at, length_of(at))) << at;
        }
    }
    return outputs;
}

/// Returns by how much the mean of some steps is off at most, in any element.
template <class T>
double worst_drift(GC_Engine engine, MPI_Comm comm, MPI_Datatype datatype) {
    constexpr unsigned steps = 10;
    std::vector<std::vector<double>> off(gradients);
    for (std::size_t at = 0; at < gradients; ++at) {
        off[at].assign(length_of(at), 0.0);
        for (int rank = 0; rank < size_of(comm); ++rank) {
            const auto one = PackedCase<T>::values(rank, at, length_of(at));
            for (std::size_t i = 0; i < one.size(); ++i)
                off[at][i] -= static_cast<double>(one[i]) * steps;
        }
    }
    for (unsigned step = 0; step < steps; ++step) {
        const auto out = packed_step<T>(engine, comm, step, datatype);
        for (std::size_t at = 0; at < gradients; ++at)
            for (std::size_t i = 0; i < out[at].size(); ++i)
                off[at][i] += static_cast<double>(out[at][i]);
    }
    double worst = 0;
    for (const auto& of_gradient : off)
        for (const double value : of_gradient) worst = std::max(worst, std::abs(value) / steps);
    return worst;
}

class PackingEngine : public OwnEngine {
  public:
    PackingEngine(MPI_Comm comm, const char* codec, const char* feedback, const char* engine)
        : OwnEngine(comm, {{"gc_codec", codec},
                           {"gc_feedback", feedback},
                           {"gc_engine", engine},
                           {"gc_compress_bytes", "0"},
                           {"gc_compress_if", "always"}}) {}
};

/// What one step drops comes with later ones, so the mean of many steps is near the exact sum. Each
/// step packs other gradients together.
template <class T>
void expect_nothing_is_lost(const char* codec, const char* engine, MPI_Datatype datatype) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    const PackingEngine with(comm, codec, "on", engine);
    const PackingEngine without(comm, codec, "off", engine);
    EXPECT_LT(worst_drift<T>(with, comm, datatype), worst_drift<T>(without, comm, datatype) / 2)
        << codec << ' ' << engine;
}

TEST(GradientPacks, NothingIsLostOfFloats) {
    expect_nothing_is_lost<float>("2:4", "tree,pack=64K", MPI_FLOAT);
    expect_nothing_is_lost<float>("int8", "ps,pack=16K", MPI_FLOAT);
    expect_nothing_is_lost<float>("bf16", "ring", MPI_FLOAT);
    expect_nothing_is_lost<float>("int8+zstd", "tree", MPI_FLOAT);
}

TEST(GradientPacks, NothingIsLostOfDoubles) {
    expect_nothing_is_lost<double>("1:4+int8", "ps", MPI_DOUBLE);
}

TEST(GradientPacks, OfOneGradientHaveTheBitsOfThatGradientAlone) {
    const OwnComm comm;
    const auto values = PackedCase<float>::values(comm.rank(), 1, 20'000);
    std::vector<std::vector<float>> sums;
    for (const char* engine : {"ps,pack=1M", "ps,pack=0"}) {
        const PackingEngine packing(comm, "int8", "on", engine);
        for (int step = 0; step < 3; ++step) {
            std::vector<float> out = values;
            GC_Handle handle = GC_HANDLE_NULL;
            ASSERT_EQ(GC_Submit(packing, "w", MPI_IN_PLACE, out.data(), 20'000, MPI_FLOAT, MPI_SUM,
                                0, &handle),
                      MPI_SUCCESS);
            ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
            sums.push_back(std::move(out));
        }
    }
    // Where segments are cut depends on the length, which packs round up; the first is the same.
    const std::size_t same = 512;
    for (std::size_t step = 0; step < 3; ++step)
        EXPECT_TRUE(
            std::equal(sums[step].begin(), sums[step].begin() + same, sums[step + 3].begin()))
            << step;
}

}  // namespace
}  // namespace gradcoll::test
