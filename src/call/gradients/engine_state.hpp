// call/gradients/engine_state.hpp - what one engine of the C API is made of, how it is made, and
// what it writes of itself at the end.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "call/device_allreduce.hpp"
#include "call/gradients/gradient_choice.hpp"
#include "call/gradients/gradient_hosts.hpp"
#include "call/gradients/gradient_packs.hpp"
#include "call/residual_handle.hpp"
#include "engine/engine.hpp"
#include "gradcoll/engine.h"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// CopyOfDevice holds host copies of what a gradient has on a device, for one sum after another.
struct CopyOfDevice {
    DeviceArea room;
    std::optional<HostTwin> twin;  ///< that of the last sum
};

}  // namespace gradcoll

/// GC_Engine_s is what the opaque handle of the C API points to. Members that refer to others come
/// after them.
struct GC_Engine_s {
    std::shared_ptr<gradcoll::CommContext> context;
    gradcoll::Settings settings;
    GC_Stats stats_before{};  ///< what it counted on earlier communicators
    /// It is null if sums do not go through the memory of each host.
    std::unique_ptr<gradcoll::GradientHosts> hosts;
    std::unique_ptr<gradcoll::GradientChoice> choice;
    std::unique_ptr<gradcoll::NumberedChannel> control;
    /// It carries sums that ranks begin by themselves, each with its gradient's number; if it is
    /// null all sums begin in one order.
    std::unique_ptr<gradcoll::NumberedChannel> own_sums;
    std::mutex submits;                          ///< held during a submit
    std::vector<gradcoll::Gradient*> gradients;  ///< in the order of their first submit
    std::unordered_map<std::string, GC_Residual_s> residuals;  ///< by the gradient's name
    /// It has an entry for each gradient that has been on a device.
    std::unordered_map<const gradcoll::Gradient*, gradcoll::CopyOfDevice> copies;
    std::unique_ptr<gradcoll::GradientPacks> packs;  ///< null: every gradient is summed by itself
    std::unique_ptr<gradcoll::Engine> engine;        ///< null: it has ended
};

namespace gradcoll {

/// Makes an engine. `complaint` is what this rank already knows to be wrong. Collective. Errors:
/// those of CommContext::make(), those of gc_engine_plan, and out_of_memory.
Result<std::unique_ptr<GC_Engine_s>> make_engine(MPI_Comm comm, MPI_Info info, Status complaint);

/// Lets the engine go on with the ranks of another communicator, with its settings, and with what
/// was dropped by name. Collective over `comm`. Errors: those of make_engine(); invalid_argument on
/// all ranks if one has handles that are not complete. After those of its context, which come
/// first, the engine is as it was; after others it has ended, until it is moved again.
Status move_engine(GC_Engine_s& engine, MPI_Comm comm);

/// Adds the counters of `more`.
void add_stats(const GC_Stats& more, GC_Stats& sum);

/// Tells the report what the engine did.
void report_engine(const GC_Engine_s& engine);

/// Writes how rank 0's gradients were summed, if gc_engine_plan_to names a file; other ranks write
/// nothing. Local. Errors: io.
Status write_plan(const GC_Engine_s& engine);

}  // namespace gradcoll
