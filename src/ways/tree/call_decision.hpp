// ways/tree/call_decision.hpp - how one shape of call is done over a tree, and what that sends.
// Pure.
#pragma once

#include <cstdint>

#include "collectives/choose/policy.hpp"
#include "collectives/plan/plan.hpp"
#include "settings/settings.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What tells the shapes of one communicator apart while its settings stay the same. Only facts
/// that all ranks know alike, but for `in_place`, which changes nothing that other ranks see.
struct CallKey {
    Collective collective = Collective::allreduce;
    ElementType type = ElementType::f32;
    CodecId phase = CodecId::exact;  ///< codec of the schedule's step, if there is a schedule
    bool in_place = false;
    bool feedback = false;
    bool compress = false;  ///< use the settings' codecs; else all exact
    /// All vectors are in memory of devices that read each other.
    bool on_devices = false;
    std::uint32_t elem_bytes = 0;
    std::int64_t count = 0;  ///< elements of the whole vector
    friend bool operator==(const CallKey&, const CallKey&) = default;
};

/// How a shape is done, and why; the same on every rank but for `in_place`.
Decision decision_for(const Tree& tree, const Settings& settings, const CallKey& key);

/// What one rank sends for a call: message by message what its executor counts.
struct SendingCost {
    std::uint64_t bytes = 0;        ///< headers included; a bound if `depends_on_data`
    std::uint64_t exact_bytes = 0;  ///< the same call with every codec exact
    std::uint64_t messages = 0;
    bool lossy = false;            ///< any message of any rank is lossy
    bool depends_on_data = false;  ///< some codec has a variable rate
};
/// Errors: what make_plan says.
Result<SendingCost> sending_cost_of(const Tree& tree, const Plan& plan);

}  // namespace gradcoll
