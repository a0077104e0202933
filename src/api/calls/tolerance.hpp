// api/calls/tolerance.hpp - how one compressed call keeps gc_tolerance: its ranks look at their
// inputs first, and agree.
#pragma once

#include "api/comm/comm_context.hpp"

namespace gradcoll {

/// What holds of a call.
struct KeptTolerance {
    Route route;               ///< an exact one if the tolerance leaves codecs too little
    double promised = 0;       ///< no element of the result is further off; 0: nothing is said
    double for_encodings = 0;  ///< Binding::tolerance
};

/// Of an allreduce or reduce-scatter that would take `route`. Collective, one short allreduce, if
/// it would be compressed and there is a gc_tolerance. `arguments`: buffers in host memory if
/// `on_host`. Errors: unsupported, on every rank, if that of some rank is not; transport.
Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host);

}  // namespace gradcoll
