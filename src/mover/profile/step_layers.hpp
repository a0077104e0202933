// mover/profile/step_layers.hpp - finds the layers of the last training step among the annotations
// of a trace, and what autograd ran backward for each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mover/profile/autograd_nodes.hpp"
#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

/// A BackwardSpan is what autograd ran for a layer.
struct BackwardSpan {
    double start_us = 0, end_us = 0;
    int thread = 0;
    std::size_t layer = 0;
    std::int64_t parameters = 0;  ///< numbers that gradients were summed for
};

/// NotALayer says why an annotation is no layer.
enum class NotALayer : std::uint8_t {
    holds_layers,  ///< it was looked into
    of_a_tool,
    without_backward,
    recomputed,  ///< it ran in backward
    in_a_layer,
    other_thread
};

struct StepLayers {
    std::vector<TraceSpan> layers;       ///< one after the other, in one thread; names are unique
    std::vector<BackwardSpan> backward;  ///< by time
    std::vector<TraceSpan> aside;        ///< what is no work of layers, by time
    std::map<NotALayer, std::vector<std::string>> left_out;  ///< each name once
};

/// Finds the layers. A layer is an annotation of the program (aside.hpp) whose operators
/// made nodes that autograd ran after it. One that holds the backward of its own nodes, too, is no
/// layer, but those inside it may be. Of layers inside each other the outer one counts, unless it
/// is the only layer of its step: a step is looked into until it has several. A step begins where
/// backward has begun before. Layers of other threads than that with the most layers are left out.
StepLayers layers_of_last_step(const Trace& trace);

/// Says in a few lines which layers were found in `file` and what was left out.
std::string text_of(const StepLayers& step, const std::string& file);

/// Returns the error that there is no layer, with what was found instead.
Status no_layers(const StepLayers& step, const std::string& origin, const std::string& place);

}  // namespace gradcoll::mover
