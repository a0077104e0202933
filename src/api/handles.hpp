// api/handles.hpp - what the opaque handles of the C API point to.
#pragma once

#include <memory>

#include "api/comm_context.hpp"
#include "api/residual.hpp"
#include "gradcoll/residual.h"

struct GC_Residual_s {
    std::shared_ptr<gradcoll::CommContext> context;
    gradcoll::Residual residual;
    bool owned_by_request = false;
};
