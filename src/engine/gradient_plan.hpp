// engine/gradient_plan.hpp - how gradients are summed, name by name, as a file says it: written by
// an engine, read by the next one, or written by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/engine_figures.hpp"
#include "base/status.hpp"
#include "collectives/choose/hop_codecs.hpp"
#include "engine/strategy.hpp"

namespace gradcoll {

/// What a file says of the gradients whose names match; what it does not say is left to the engine.
struct GradientWish {
    std::string pattern;  ///< as POSIX fnmatch(3) reads it without escapes
    std::optional<EngineStrategy> strategy;
    std::string codec;         ///< as it stands there; empty: nothing was said
    HopCodecs codecs;          ///< the same, read
    std::optional<int> parts;  ///< that the vector is cut into
};

/// The first wish whose pattern matches counts. A value.
class GradientPlan {
  public:
    /// Nothing is wished for.
    GradientPlan() = default;
    /// A JSON object: "gradcoll_engine_plan": 1, and "gradients", an array of objects with "name",
    /// and "strategy", "codec" and "parts" where they are wished for. "bytes", "predicted_us" and
    /// "measured_us", and "links_carry" and "planned_anew" of all, which engines write, are for
    /// readers. Errors: invalid_argument naming
    /// `origin`, the place, what is there and what is allowed.
    static Result<GradientPlan> parse(std::string_view text, std::string_view origin);

    /// Null: nothing is wished for it.
    const GradientWish* find(const std::string& name) const;
    bool empty() const { return wishes_.empty(); }

  private:
    std::vector<GradientWish> wishes_;
};

/// What an engine writes of a gradient.
struct PlannedGradient {
    std::string name;
    std::string strategy;  ///< its name; empty: the MPI library summed it
    std::string codec;     ///< empty likewise
    std::int64_t parts = 1;
    std::uint64_t bytes = 0;
    double predicted_us = 0;  ///< 0: not known
    double measured_us = 0;   ///< of its last sum; 0: it was not summed by itself
};

/// GradientPlan::parse() reads it; bytes of names that are not UTF-8 are replaced. With what links
/// carried, if the engine has planned anew.
std::string plan_text(const std::vector<PlannedGradient>& gradients, const EngineFigures& figures);

}  // namespace gradcoll
