// call/gradients/gradient_sums.hpp - the work that sums a gradient of an engine: made for it, and
// kept as long as it goes the same way.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "call/call_kinds.hpp"
#include "call/gradients/engine_state.hpp"

namespace gradcoll {

/// Given is one gradient as it was handed in, and the way it goes.
struct Given {
    const CallArguments& arguments;
    CallShape shape;
    GradientWay way;

    std::string shape_text() const {
        if (way.passes()) return fmt::format("{} elements, summed by MPI", arguments.count);
        return fmt::format("{} elements of {}, {}, {}", shape.count, name_of(shape.type),
                           name_of(shape.op), way.key.compress ? "compressed" : "exact");
    }
};

/// The caller of the functions from here on holds GC_Engine_s::submits.

/// Chooses the way of a gradient. Errors: those of GradientChoice::way_of().
Result<Given> given_to(GC_Engine_s& engine, const Gradient& gradient,
                       const CallArguments& arguments, const Classified& classified);
/// Returns what to sum in place of `arguments`. These are returned themselves, unless earlier sums
/// have dropped values that do not fit the way which the gradient has been planned anew for. Then
/// the values are added to the input, in the receive buffer, and the sum is in place there. Errors:
/// as above.
Result<CallArguments> with_what_was_dropped(GC_Engine_s& engine, const Gradient& gradient,
                                            const CallArguments& arguments,
                                            const Classified& classified);
/// Puts in place of each residual one with a value for each element, which belongs to `next`: the
/// first sum there of that name, count and type adds it to its input, or goes on with it. What was
/// restored and never used in a sum becomes zeros. Errors: those of devices.
Status keep_dropped_by_element(GC_Engine_s& engine, const std::shared_ptr<CommContext>& next);
/// Returns whether it has a value for each element of such gradients.
bool is_kept_by_element(const Residual& residual, const Classified& classified);
/// Returns the way that was chosen before for the same shape, or chooses one as given_to() does.
Result<Given> given_again(GC_Engine_s& engine, const Gradient& gradient,
                          const CallArguments& arguments, const Classified& classified);
/// Returns the gradient's work: the one before, if it goes the same way, or a new one. All work of
/// these engines is GradientSum.
Result<GradientSum*> work_for(GC_Engine_s& engine, Gradient& gradient, const GradientWay& way);
/// Returns whether this rank has a plan for sums that go this way. It has none if another rank of
/// its host talks to other hosts for it.
bool plans_itself(const GC_Engine_s& engine, const GradientWay& way);
/// Returns the plan of the way. It has feedback only if something is dropped, as the codecs of an
/// engine stay what they are. Called only if plans_itself().
Result<std::shared_ptr<PlannedCall>> planned_with_feedback_if_lossy(const GC_Engine_s& engine,
                                                                    const GradientWay& way);
/// Returns what the residual of such a gradient belongs to; nothing if no values are dropped. It
/// has no values if another rank of the host encodes for this one.
Result<std::optional<ResidualIdentity>> residual_identity_of(const GC_Engine_s& engine,
                                                             const GradientWay& way);
/// Returns what the name's earlier sums dropped; zeros if none of them had this count, type and
/// layout.
std::shared_ptr<Residual> residual_for(GC_Engine_s& engine, const std::string& name,
                                       const ResidualIdentity& identity);

/// The functions from here on are called without it.

/// Returns whether its sums have messages and numbers of their own (Submission::alone).
bool begins_alone(const GC_Engine_s& engine, const Given& given);
/// Returns whether this rank compares sums with what they should take, and has gradients planned
/// anew.
bool watches_links(const GC_Engine_s& engine);
/// Returns which gradients it may be packed with (Submission::pack).
std::uint32_t pack_of(const GC_Engine_s& engine, const std::string& name, const Given& given);
/// Makes the sum of a pack of gradients that go as `member`. Its plan is kept apart from those of
/// gradients.
Result<std::unique_ptr<PackedSum>> packed_sum(const GC_Engine_s& engine, const GradientWay& member,
                                              const CallShape& shape);

}  // namespace gradcoll
