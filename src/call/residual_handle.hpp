// call/residual_handle.hpp - what a GC_Residual is, for the calls that take one.
#pragma once

#include <memory>

#include "gradcoll/residual.h"
#include "ways/comm_context.hpp"
#include "ways/tree/residual.hpp"

/// GC_Residual_s is what the opaque handle of the C API points to.
struct GC_Residual_s {
    std::shared_ptr<gradcoll::CommContext> context;
    std::shared_ptr<gradcoll::Residual> residual;
    /// It names the call that frees it with what it belongs to; null if it is the program's own.
    const char* freed_by = nullptr;
    /// It is the plan whose encodings the values were dropped by; null for those of engines.
    std::shared_ptr<const gradcoll::PlannedCall> plan = {};
};
