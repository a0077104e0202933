// tests/mover/listed_layers.hpp - what the tests of both kinds of traces look at.
#pragma once

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "mover/input/any_form.hpp"

namespace gradcoll::mover {

/// Returns the layers of a model that was read from a trace; none if there is no model.
template <class Profiled>
std::vector<ListedLayer> listed_layers(const Result<Profiled>& profiled) {
    EXPECT_TRUE(profiled.ok()) << profiled.status().message();
    if (!profiled.ok()) return {};
    const auto model = model_of(profiled->model);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return std::get<std::vector<ListedLayer>>(model->body);
}

}  // namespace gradcoll::mover
