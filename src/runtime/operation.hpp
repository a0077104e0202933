// runtime/operation.hpp - what all chunks of the running operation share.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "collectives/plan/plan.hpp"
#include "compress/codec.hpp"
#include "runtime/binding.hpp"
#include "runtime/progress.hpp"
#include "runtime/tags.hpp"
#include "runtime/trace.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

class DeviceMessages;

struct Operation {
    const Plan& plan;
    Lane& lane;
    TagLayout tags;
    std::array<Codec, codec_count>
        codecs;              ///< by CodecId; those that the plan does not use are empty
    bool timed = false;      ///< local steps are measured: for the statistics or the trace
    Trace* trace = nullptr;  ///< gets spans; null: nobody looks
    Binding binding;
    Status error;  ///< the first one; from then on local steps are skipped
    std::uint64_t local_ns =
        0;  ///< in local steps, since the object was made; measured only when `timed`
    RunStats stats;
    DeviceMessages* device = nullptr;  ///< null: all data are the host's, of all ranks

    bool failed() const { return !error.ok(); }
    void fail(Status status) {
        if (error.ok()) error = std::move(status);
    }
    const Codec& codec(CodecId id) const { return codecs[static_cast<std::size_t>(id)]; }
};

}  // namespace gradcoll
