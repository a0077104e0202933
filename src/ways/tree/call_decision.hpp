// ways/tree/call_decision.hpp - how one shape of call is done over a tree, and what that sends.
// Pure.
#pragma once

#include <cstdint>

#include "base/call_kind.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/plan/plan.hpp"
#include "settings/settings.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns what a plan for calls of the kind does.
constexpr Collective collective_of(CallKind kind) {
    if (!has(kind, CallTrait::in_blocks)) return Collective::allreduce;
    return gathers(kind) ? Collective::allgather : Collective::reduce_scatter_block;
}

/// Zips says which links between hosts an exact call may be packed for without loss, where the
/// model says that it pays. `nothing`: it is no call that could be packed.
enum class Zips : std::uint8_t { nothing, no_links, slow_links, faster_links };

/// A CallKey tells the shapes of one communicator's calls apart while its settings stay the same.
/// It holds only facts that all ranks know alike, but for `in_place`, which changes nothing that
/// other ranks see.
struct CallKey {
    Collective collective = Collective::allreduce;
    ElementType type = ElementType::f32;
    CodecId phase = CodecId::exact;  ///< codec of the schedule's step, if there is a schedule
    bool in_place = false;
    bool feedback = false;
    bool compress = false;  ///< whether codecs are used, those of the settings; else all is exact
    /// If this is set beside `compress`, the elements are words of sums on a grid, which are packed
    /// between hosts without loss, whatever the settings are.
    bool words = false;
    Zips zips = Zips::nothing;  ///< something else only without `compress`
    /// This is set if all vectors are in memory of devices that read each other.
    bool on_devices = false;
    std::uint32_t elem_bytes = 0;
    std::int64_t count = 0;  ///< number of elements of the whole vector
    friend bool operator==(const CallKey&, const CallKey&) = default;
};

/// Returns how a call of this shape is done, and why. The decision is the same on every rank but
/// for `in_place`.
Decision decision_for(const Tree& tree, const Settings& settings, const CallKey& key);

/// SendingCost is what one rank sends for a call, counted message by message as its executor does.
struct SendingCost {
    std::uint64_t bytes = 0;        ///< includes headers; a bound if `depends_on_data`
    std::uint64_t exact_bytes = 0;  ///< bytes of the same call with every codec exact
    std::uint64_t messages = 0;
    bool lossy = false;            ///< whether any message of any rank is lossy
    bool depends_on_data = false;  ///< whether some codec has a variable rate
};
/// Computes what the rank of `plan` sends. Errors: those of make_plan().
Result<SendingCost> sending_cost_of(const Tree& tree, const Plan& plan);

}  // namespace gradcoll
