// api/calls/handles.hpp - what the opaque handles of the C API point to.
#pragma once

#include <memory>

#include "api/calls/persistent_call.hpp"
#include "api/calls/residual.hpp"
#include "api/comm/comm_context.hpp"
#include "gradcoll/persistent.h"
#include "gradcoll/residual.h"

struct GC_Residual_s {
    std::shared_ptr<gradcoll::CommContext> context;
    std::shared_ptr<gradcoll::Residual> residual;
    bool of_request = false;  ///< then it is freed with the request
};

struct GC_Request_s {
    std::unique_ptr<gradcoll::PersistentCall> call;
    GC_Residual_s residual;  ///< its `residual` is null if the request has none
};
