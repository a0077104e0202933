// train_fashion/mlp.cpp - forward and backward pass, written with one matrix product.
#include "mlp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "matrix.hpp"
#include "random.hpp"

namespace train {
namespace {

void fill_uniform(std::vector<float>& values, float bound, Random& random) {
    for (float& value : values) value = bound * random.symmetric();
}

void add_bias(Matrix out, const std::vector<float>& bias) {
    for (std::size_t row = 0; row < out.rows; ++row)
        for (std::size_t col = 0; col < out.cols; ++col)
            out.data[row * out.cols + col] += bias[col];
}

void relu(std::vector<float>& values) {
    for (float& value : values) value = std::max(value, 0.0F);
}

/// Lets the gradient pass where the activation was positive.
void relu_backward(const std::vector<float>& activations, std::vector<float>& delta) {
    for (std::size_t i = 0; i < delta.size(); ++i)
        if (activations[i] <= 0.0F) delta[i] = 0.0F;
}

void sum_rows(ConstMatrix in, std::vector<float>& sums) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::size_t row = 0; row < in.rows; ++row)
        for (std::size_t col = 0; col < in.cols; ++col) sums[col] += in.data[row * in.cols + col];
}

/// Replaces logits by scale * (softmax - one at the label); returns the cross-entropy.
double softmax_gradient(std::span<float> logits, std::size_t label, float scale) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    const float at_label = logits[label] - largest;
    float sum = 0.0F;
    for (float& logit : logits) sum += logit = std::exp(logit - largest);
    for (float& logit : logits) logit *= scale / sum;
    logits[label] -= scale;
    return std::log(static_cast<double>(sum)) - static_cast<double>(at_label);
}

}  // namespace

Mlp::Mlp(std::vector<std::size_t> widths, std::uint64_t seed)
    : widths_(std::move(widths)), activations_(widths_.size()), deltas_(layers()) {
    Random random(seed);
    for (std::size_t layer = 0; layer < layers(); ++layer) {
        const std::size_t inputs = widths_[layer];
        const std::size_t outputs = widths_[layer + 1];
        parameters_.push_back({fmt::format("weights{}", layer + 1),
                               std::vector<float>(inputs * outputs),
                               std::vector<float>(inputs * outputs)});
        parameters_.push_back({fmt::format("bias{}", layer + 1), std::vector<float>(outputs),
                               std::vector<float>(outputs)});
        fill_uniform(weights(layer).values, std::sqrt(6.0F / static_cast<float>(inputs)), random);
    }
}

std::span<const float> Mlp::forward(std::span<const float> inputs, std::size_t batch) {
    batch_ = batch;
    activations_[0].assign(inputs.begin(),
                           inputs.begin() + static_cast<std::ptrdiff_t>(batch * widths_[0]));
    for (std::size_t layer = 0; layer < layers(); ++layer) {
        auto& out = activations_[layer + 1];
        out.resize(batch * widths_[layer + 1]);
        const Matrix product{out.data(), batch, widths_[layer + 1]};
        multiply(Matrix{activations_[layer].data(), batch, widths_[layer]},
                 Matrix{weights(layer).values.data(), widths_[layer], widths_[layer + 1]}, product);
        add_bias(product, bias(layer).values);
        if (layer + 1 < layers()) relu(out);
    }
    return activations_.back();
}

double Mlp::softmax_loss(std::span<const std::uint8_t> labels, float scale) {
    auto& delta = deltas_.back();
    delta = activations_.back();
    double loss = 0;
    for (std::size_t i = 0; i < batch_; ++i)
        loss += softmax_gradient(std::span(delta).subspan(i * widths_.back(), widths_.back()),
                                 labels[i], scale);
    return loss;
}

void Mlp::backward(const GradientReady& ready) {
    for (std::size_t layer = layers(); layer-- > 0;) {
        const std::size_t inputs = widths_[layer];
        const std::size_t outputs = widths_[layer + 1];
        const Matrix delta{deltas_[layer].data(), batch_, outputs};
        sum_rows(delta, bias(layer).gradient);
        ready(2 * layer + 1);
        multiply(Matrix{activations_[layer].data(), batch_, inputs}.transposed(), delta,
                 Matrix{weights(layer).gradient.data(), inputs, outputs});
        ready(2 * layer);
        if (layer == 0) break;
        deltas_[layer - 1].resize(batch_ * inputs);
        multiply(delta, Matrix{weights(layer).values.data(), inputs, outputs}.transposed(),
                 Matrix{deltas_[layer - 1].data(), batch_, inputs});
        relu_backward(activations_[layer], deltas_[layer - 1]);
    }
}

std::size_t Mlp::count_correct(std::span<const std::uint8_t> labels) const {
    const std::size_t classes = widths_.back();
    std::size_t correct = 0;
    for (std::size_t i = 0; i < batch_; ++i) {
        const float* row = activations_.back().data() + i * classes;
        if (std::max_element(row, row + classes) - row == labels[i]) ++correct;
    }
    return correct;
}

}  // namespace train
