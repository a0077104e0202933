// apps.mlp - the matrix product against three plain loops, and the gradients against finite
// differences.
#include "mlp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "matrix.hpp"
#include "random.hpp"

namespace {

using namespace train;

std::vector<float> random_values(std::size_t count, Random& random) {
    std::vector<float> values(count);
    for (float& value : values) value = random.symmetric();
    return values;
}

float at(ConstMatrix m, std::size_t row, std::size_t col) {
    return m.data[row * m.row_stride + col * m.col_stride];
}

void expect_product(ConstMatrix a, ConstMatrix b) {
    std::vector<float> out(a.rows * b.cols, 99.0F);
    multiply(a, b, {out.data(), a.rows, b.cols});
    for (std::size_t row = 0; row < a.rows; ++row)
        for (std::size_t col = 0; col < b.cols; ++col) {
            float sum = 0;
            for (std::size_t k = 0; k < a.cols; ++k) sum += at(a, row, k) * at(b, k, col);
            ASSERT_EQ(out[row * b.cols + col], sum) << row << ' ' << col;
        }
}

TEST(Multiply, EqualsPlainLoopsBitForBitForEverySizeAndTransposition) {
    Random random(1);
    for (const std::size_t n : {0, 1, 3, 4, 5, 17})
        for (const std::size_t k : {0, 1, 2, 40})
            for (const std::size_t m : {1, 10, 31, 32, 33, 70}) {
                std::vector<float> a = random_values(n * k, random);
                std::vector<float> b = random_values(k * m, random);
                expect_product(Matrix{a.data(), n, k}, Matrix{b.data(), k, m});
                expect_product(Matrix{a.data(), k, n}.transposed(), Matrix{b.data(), k, m});
                expect_product(Matrix{a.data(), n, k}, Matrix{b.data(), m, k}.transposed());
            }
}

struct Problem {
    Mlp network{{7, 6, 5, 4}, 3};
    std::vector<float> inputs;
    std::vector<std::uint8_t> labels{0, 3, 1, 2, 3};

    Problem() {
        Random random(5);
        inputs = random_values(labels.size() * 7, random);
    }
    double loss() {
        network.forward(inputs, labels.size());
        return network.softmax_loss(labels, 1.0F);
    }
};

TEST(Mlp, GradientsEqualFiniteDifferences) {
    Problem problem;
    problem.loss();
    problem.network.backward([](std::size_t) {});
    for (Parameter& parameter : problem.network.parameters())
        for (std::size_t i = 0; i < parameter.values.size(); ++i) {
            constexpr float step = 1e-3F;
            const float value = parameter.values[i];
            parameter.values[i] = value + step;
            const double above = problem.loss();
            parameter.values[i] = value - step;
            const double below = problem.loss();
            parameter.values[i] = value;
            const double expected = (above - below) / (2.0 * static_cast<double>(step));
            EXPECT_NEAR(static_cast<double>(parameter.gradient[i]), expected, 5e-3)
                << parameter.name << ' ' << i;
        }
}

TEST(Mlp, AnnouncesEveryGradientOnceLastLayerFirst) {
    Problem problem;
    problem.loss();
    std::vector<std::size_t> order;
    problem.network.backward([&](std::size_t index) { order.push_back(index); });
    EXPECT_EQ(order, (std::vector<std::size_t>{5, 4, 3, 2, 1, 0}));
}

TEST(Mlp, EmptyShareOfABatchHasGradientsOfZero) {
    Problem problem;
    for (Parameter& parameter : problem.network.parameters())
        std::fill(parameter.gradient.begin(), parameter.gradient.end(), 7.0F);
    problem.network.forward({}, 0);
    EXPECT_EQ(problem.network.softmax_loss({}, 1.0F), 0.0);
    problem.network.backward([](std::size_t) {});
    for (const Parameter& parameter : problem.network.parameters())
        EXPECT_TRUE(std::all_of(parameter.gradient.begin(), parameter.gradient.end(), [](float g) {
            return g == 0;
        })) << parameter.name;
}

TEST(Mlp, LossOfHugeLogitsIsFinite) {
    Problem problem;
    for (Parameter& parameter : problem.network.parameters())
        for (float& value : parameter.values) value *= 1e6F;
    EXPECT_TRUE(std::isfinite(problem.loss()));
}

TEST(Mlp, CountsTheLargestLogitAtTheLabel) {
    Problem problem;
    const auto logits = problem.network.forward(problem.inputs, problem.labels.size());
    std::vector<std::uint8_t> best;
    for (std::size_t i = 0; i < problem.labels.size(); ++i) {
        const auto row = logits.subspan(i * 4, 4);
        best.push_back(
            static_cast<std::uint8_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    EXPECT_EQ(problem.network.count_correct(best), best.size());
    best[0] = static_cast<std::uint8_t>((best[0] + 1) % 4);
    EXPECT_EQ(problem.network.count_correct(best), best.size() - 1);
}

TEST(Mlp, SameSeedGivesTheSameWeightsAndAnotherSeedOthers) {
    const Mlp first({7, 6, 4}, 11);
    const Mlp again({7, 6, 4}, 11);
    const Mlp other({7, 6, 4}, 12);
    EXPECT_EQ(first.parameters()[0].values, again.parameters()[0].values);
    EXPECT_NE(first.parameters()[0].values, other.parameters()[0].values);
}

}  // namespace
