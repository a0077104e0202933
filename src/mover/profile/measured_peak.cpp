// mover/profile/measured_peak.cpp - see measured_peak.hpp.
#include "mover/profile/measured_peak.hpp"

#include <algorithm>

#include "mover/input/fields.hpp"
#include "mover/profile/step_layers.hpp"

namespace gradcoll::mover {

Result<MeasuredPeak> measured_peak(const Trace& trace) {
    if (trace.memory.empty())
        return wrong_input(trace.origin, "/traceEvents",
                           "no \"[memory]\" events are there: allowed are traces with "
                           "profile_memory=True");
    const StepLayers last = layers_of_last_step(trace);
    const double step =
        last.layers.empty() ? trace.memory.front().at_us : last.layers.front().start_us;
    MeasuredPeak out;
    std::int64_t before = 0, most = 0;
    for (const TraceMemory& change : trace.memory) {
        if (change.at_us < step)
            before = change.total;
        else
            most = std::max(most, change.total);
        if (change.total <= out.bytes) continue;
        out.bytes = change.total;
        out.after_us = change.at_us - trace.memory.front().at_us;
    }
    out.of_step = std::max<std::int64_t>(0, most - before);
    return out;
}

}  // namespace gradcoll::mover
