// mover/input/families.hpp - the families of models whose config.json is read. Each has what its
// configuration class in transformers has where a file is silent, as far as sizes depend on it.
#pragma once

#include <span>
#include <string_view>

#include "mover/input/fields.hpp"
#include "mover/input/transformer.hpp"

namespace gradcoll::mover {

struct Family {
    std::string_view type;      ///< model_type
    std::string_view defaults;  ///< an object of JSON
    void (*read)(Fields& in, TransformerModel& out);
};

/// These are decoders whose blocks are attention and one feed-forward part.
std::span<const Family> dense_families();
/// These are decoders with experts.
std::span<const Family> expert_families();
/// These have state spaces.
std::span<const Family> state_space_families();
/// These are encoders, and encoders with a decoder.
std::span<const Family> encoder_families();

}  // namespace gradcoll::mover
