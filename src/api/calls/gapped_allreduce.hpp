// api/calls/gapped_allreduce.hpp - allreduces of elements with gaps between their data, where the
// program may keep something else: in a copy, of which the data alone are written back.
#pragma once

#include "api/calls/call.hpp"

namespace gradcoll {

/// From and to memory of the host, over one host; the datatype is marked. Allocates for vectors of
/// more than 2 KiB. Errors: those of OneHost::allreduce().
Status run_gapped_on_host(CommContext& context, const CallArguments& arguments,
                          const CallShape& shape);
/// The same of an admitted call, from and to any memory. Errors: those of devices, too.
Status run_gapped(const Call& call);

}  // namespace gradcoll
