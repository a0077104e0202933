// engine/gradient_plan.hpp - how gradients are summed, name by name, as a file says it: written by
// an engine, read by the next one, or written by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures.hpp"
#include "base/status.hpp"
#include "collectives/choose/hop_codecs.hpp"
#include "engine/strategy.hpp"

namespace gradcoll {

/// GradientWish is what a file says of the gradients whose names match; what it does not say is
/// left to the engine.
struct GradientWish {
    std::string pattern;  ///< a pattern that POSIX fnmatch(3) reads without escapes
    std::optional<EngineStrategy> strategy;
    std::string codec;         ///< text of the codec; empty if nothing was said
    HopCodecs codecs;          ///< the same codecs, read
    std::optional<int> parts;  ///< how many parts the vector is cut into
};

/// A GradientPlan applies the first wish whose pattern matches. It is a value.
class GradientPlan {
  public:
    /// Makes a plan without wishes.
    GradientPlan() = default;
    /// Reads a JSON object: "gradcoll_engine_plan": 1, and "gradients", an array of objects with
    /// "name", and "strategy", "codec" and "parts" where they are wished for. "bytes",
    /// "packed", "predicted_us" and "measured_us", and "links_carry" and "planned_anew" of all,
    /// which engines write, are for readers. Errors: invalid_argument naming `origin`, the place,
    /// what is there and what is allowed.
    static Result<GradientPlan> parse(std::string_view text, std::string_view origin);

    /// Returns null if nothing is wished for it, as also an entry without wishes says.
    const GradientWish* find(const std::string& name) const;
    bool empty() const { return wishes_.empty(); }

  private:
    std::vector<GradientWish> wishes_;
};

/// PlannedGradient is what an engine writes of a gradient.
struct PlannedGradient {
    std::string name;
    std::string strategy;  ///< its name; empty: the MPI library summed it
    std::string codec;     ///< empty likewise
    std::int64_t parts = 1;
    bool is_packed = false;  ///< its sums are parts of packs with that codec
    std::uint64_t bytes = 0;
    double predicted_us = 0;  ///< 0: not known
    double measured_us = 0;   ///< duration of its last sum; 0: it was not summed by itself
};

/// Writes a text that GradientPlan::parse() reads; bytes of names that are not UTF-8 are replaced.
/// It has what links carried, if the engine has planned anew.
std::string plan_text(const std::vector<PlannedGradient>& gradients, const EngineFigures& figures);

}  // namespace gradcoll
