// train_fashion/sgd.hpp - stochastic gradient descent with momentum (Polyak 1964).
#pragma once

#include <cstddef>
#include <vector>

#include "mlp.hpp"

namespace train {

/// Sgd computes velocity = momentum * velocity + gradient; value -= rate * velocity. There is one
/// velocity for each parameter.
class Sgd {
  public:
    Sgd(const std::vector<Parameter>& parameters, float rate, float momentum)
        : rate_(rate), momentum_(momentum) {
        for (const Parameter& parameter : parameters)
            velocities_.emplace_back(parameter.values.size());
    }

    void step(std::vector<Parameter>& parameters) {
        for (std::size_t i = 0; i < parameters.size(); ++i) update(parameters[i], velocities_[i]);
    }

  private:
    void update(Parameter& parameter, std::vector<float>& velocity) const {
        for (std::size_t i = 0; i < velocity.size(); ++i) {
            velocity[i] = momentum_ * velocity[i] + parameter.gradient[i];
            parameter.values[i] -= rate_ * velocity[i];
        }
    }

    float rate_;
    float momentum_;
    std::vector<std::vector<float>> velocities_;
};

}  // namespace train
