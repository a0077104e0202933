// device/cuda/driver.hpp - the functions of the CUDA driver that the runtime has no equal for.
// Looked up at run time, so that nothing needs the driver to be installed.
#pragma once

#include <cuda.h>

namespace gradcoll {

/// No function of a CudaDriver is null. Thread safe.
struct CudaDriver {
    CUresult (*get_error_name)(CUresult, const char**);
    CUresult (*get_error_string)(CUresult, const char**);
    CUresult (*device_get)(CUdevice*, int ordinal);
    CUresult (*device_get_uuid)(CUuuid*, CUdevice);
    CUresult (*primary_context_retain)(CUcontext*, CUdevice);
    CUresult (*context_push)(CUcontext);
    CUresult (*context_pop)(CUcontext*);
    CUresult (*context_get_device)(CUdevice*);
    CUresult (*stream_get_context)(CUstream, CUcontext*);
    CUresult (*pointer_get_attributes)(unsigned count, CUpointer_attribute*, void** values,
                                       CUdeviceptr);
};

/// Returns null where there is no driver, or one without these functions. Loads it at the first
/// call; it is not initialised by that, and stays loaded.
const CudaDriver* cuda_driver();

/// Returns whether libcuda.so.1 is there at all. It loads the driver, too.
bool has_cuda_driver();

/// Returns the version of CUDA that the driver is for, such as 13000; 0 if there is none or it does
/// not say.
int cuda_driver_version();

}  // namespace gradcoll
