// train_fashion/mlp.hpp - a multilayer perceptron: dense layers, ReLU between them, softmax
// cross-entropy at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace train {

/// A Parameter is one tensor that is learnt, and the gradient of the loss by it; both in row order.
struct Parameter {
    std::string name;
    std::vector<float> values;
    std::vector<float> gradient;
};

/// A GradientReady is called as soon as the gradient of parameters()[index] is complete; backward()
/// does not touch it again.
using GradientReady = std::function<void(std::size_t index)>;

/// An Mlp works on one batch at a time: forward(), then softmax_loss(), then backward(). Not thread
/// safe.
class Mlp {
  public:
    /// `widths` are the inputs, hidden layers and classes. Weights are uniform in +-sqrt(6 / inputs
    /// of the layer) (He et al., 2015), biases 0; the same `seed` gives the same bits everywhere.
    Mlp(std::vector<std::size_t> widths, std::uint64_t seed);

    /// Returns the logits, batch x classes, valid until the next forward(). `inputs` are batch x
    /// widths.front().
    std::span<const float> forward(std::span<const float> inputs, std::size_t batch);

    /// Returns the sum over the batch of the cross-entropy; prepares backward() with the gradient
    /// of `scale` times that sum.
    double softmax_loss(std::span<const std::uint8_t> labels, float scale);

    /// Computes the gradients of all parameters, last layer first, and announces each through
    /// `ready`.
    void backward(const GradientReady& ready);

    /// Returns how many of the last batch's logits are largest at their label.
    std::size_t count_correct(std::span<const std::uint8_t> labels) const;

    /// Returns weights (inputs x outputs) and bias of the first layer, of the second layer, ...
    std::vector<Parameter>& parameters() { return parameters_; }
    const std::vector<Parameter>& parameters() const { return parameters_; }

  private:
    std::size_t layers() const { return widths_.size() - 1; }
    Parameter& weights(std::size_t layer) { return parameters_[2 * layer]; }
    Parameter& bias(std::size_t layer) { return parameters_[2 * layer + 1]; }

    std::vector<std::size_t> widths_;
    std::vector<Parameter> parameters_;
    std::size_t batch_ = 0;
    std::vector<std::vector<float>> activations_;  // [l]: input of layer l; the last one: logits
    std::vector<std::vector<float>> deltas_;       // [l]: gradient by the output of layer l
};

}  // namespace train
