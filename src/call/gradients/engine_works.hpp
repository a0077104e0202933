// call/gradients/engine_works.hpp - the work that sums a gradient of an engine: made for it, and
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

/// One gradient as it was handed in.
struct Given {
    const CallArguments& arguments;
    CallShape shape;
    EngineWay way;

    std::string shape_text() const {
        if (way.passes()) return fmt::format("{} elements, summed by MPI", arguments.count);
        return fmt::format("{} elements of {}, {}, {}", shape.count, name_of(shape.type),
                           name_of(shape.op), way.key.compress ? "compressed" : "exact");
    }
};

/// Where the caller holds GC_Engine_s::submits:

/// The way of a gradient. Errors: those of EngineChoice::way_of().
Result<Given> given_to(GC_Engine_s& engine, const Gradient& gradient,
                       const CallArguments& arguments, const Classified& classified);
/// What to sum in place of `arguments`: themselves, or, where what earlier sums dropped does not go
/// with the way that the gradient has been planned anew for, that added to the input, in place in
/// the receive buffer. Errors: likewise.
Result<CallArguments> with_what_was_dropped(GC_Engine_s& engine, const Gradient& gradient,
                                            const CallArguments& arguments,
                                            const Classified& classified);
/// The same, as it was chosen before for the same shape.
Result<Given> given_again(GC_Engine_s& engine, const Gradient& gradient,
                          const CallArguments& arguments, const Classified& classified);
/// That of the gradient before, if it goes the same way. All work of these engines is EngineWork.
Result<EngineWork*> work_for(GC_Engine_s& engine, Gradient& gradient, const EngineWay& way);
/// Whether this rank has a plan of sums that go this way: not where another rank of its host talks
/// to other hosts for it.
bool plans_itself(const GC_Engine_s& engine, const EngineWay& way);
/// With feedback only where something is dropped. The codecs of an engine stay what they are.
/// Only where this rank plans_itself().
Result<std::shared_ptr<PlannedCall>> planned_with_feedback_if_lossy(const GC_Engine_s& engine,
                                                                    const EngineWay& way);
/// What the residual of such a gradient belongs to; none: nothing is dropped. Without values where
/// another rank of the host encodes for this one.
Result<std::optional<ResidualIdentity>> residual_identity_of(const GC_Engine_s& engine,
                                                             const EngineWay& way);
/// What the name's earlier sums dropped; zeros if it had none of this count, type and layout.
std::shared_ptr<Residual> residual_for(GC_Engine_s& engine, const std::string& name,
                                       const ResidualIdentity& identity);

/// Where nobody does:

/// Whether its sums have messages and numbers of their own (Submission::alone).
bool begins_alone(const GC_Engine_s& engine, const Given& given);
/// Whether this rank compares sums with what they should take, and has gradients planned anew.
bool watches_links(const GC_Engine_s& engine);
/// Which gradients it may be packed with (Submission::pack).
std::uint32_t pack_of(const GC_Engine_s& engine, const std::string& name, const Given& given);
/// Of a pack of such gradients. Its plan is apart from those of gradients.
Result<std::unique_ptr<EngineWork>> pack_work(const GC_Engine_s& engine, const CallShape& shape);

}  // namespace gradcoll
