// call/gradients/engine_state.hpp - what one engine of the C API is made of.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "call/device_allreduce.hpp"
#include "call/gradients/engine_choice.hpp"
#include "call/gradients/engine_hosts.hpp"
#include "call/gradients/engine_packs.hpp"
#include "engine/engine.hpp"
#include "gradcoll/engine.h"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Copies in host memory of what a gradient has on a device, for one sum after another.
struct CopyOfDevice {
    DeviceArea room;
    std::optional<HostTwin> twin;  ///< of the last sum
};

}  // namespace gradcoll

/// What the opaque handle of the C API points to. What refers to others comes after them.
struct GC_Engine_s {
    std::shared_ptr<gradcoll::CommContext> context;
    gradcoll::Settings settings;
    std::unique_ptr<gradcoll::EngineHosts> hosts;  ///< null: not through the memory of hosts
    std::unique_ptr<gradcoll::EngineChoice> choice;
    std::unique_ptr<gradcoll::NumberedChannel> control;
    /// Of sums that ranks begin by themselves, each with its gradient's number; null: all begin in
    /// one order.
    std::unique_ptr<gradcoll::NumberedChannel> own_sums;
    std::mutex submits;                          ///< one at a time
    std::vector<gradcoll::Gradient*> gradients;  ///< in the order of their first submit
    std::unordered_map<std::string, GC_Residual_s> residuals;  ///< by the gradient's name
    /// By gradient, of those that have been on a device.
    std::unordered_map<const gradcoll::Gradient*, gradcoll::CopyOfDevice> copies;
    std::unique_ptr<gradcoll::EnginePacks> packs;  ///< null: every gradient by itself
    std::unique_ptr<gradcoll::Engine> engine;
};
