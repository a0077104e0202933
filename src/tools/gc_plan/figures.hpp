// gc_plan/figures.hpp - speeds from a file instead of the measured ones.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "collectives/speeds.hpp"

namespace gc_plan {

/// What the text leaves out stays as measured. `source` is for messages. Errors: invalid_argument
/// naming the key, what was found and what is allowed.
///   {"codecs": {"2:4": {"encode": 14, "decode": 12.8, "decode_sum": 14.5}},
///    "message_us": 0.5, "incast_loss_per_sender": 0.03, "most_incast_loss": 1, "chunks_in_flight":
///    4}
gradcoll::Result<gradcoll::SpeedFigures> figures_from(std::string_view text,
                                                      const std::string& source);

/// Empty path: the measured ones. Errors: also io.
gradcoll::Result<gradcoll::SpeedFigures> figures_of(const std::string& path);

}  // namespace gc_plan
