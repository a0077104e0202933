// api/calls/handles.hpp - what the opaque handles of the C API point to.
#pragma once

#include <memory>

#include "api/calls/persistent_call.hpp"
#include "api/calls/residual.hpp"
#include "gradcoll/persistent.h"

struct GC_Request_s {
    std::unique_ptr<gradcoll::PersistentCall> call;
    GC_Residual_s residual;  ///< its `residual` is null if the request has none
};
