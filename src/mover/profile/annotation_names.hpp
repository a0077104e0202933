// mover/profile/annotation_names.hpp - tells the annotations that PyTorch and tools around it write
// into a trace from those of the program.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradcoll::mover {

enum class Annotator : std::uint8_t {
    program,  ///< may name a layer
    tool,     ///< names none, but may hold layers or be a part of one
    aside     ///< is no work of the layer that it is in: its time and memory are left out
};

Annotator annotator_of(std::string_view name);

}  // namespace gradcoll::mover
