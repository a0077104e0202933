// device/cuda/context.hpp - the functions of the CUDA driver that the runtime has no equal for,
// looked up at run time, so that nothing needs the driver to be installed; and calls of the CUDA
// runtime on one device, whatever device the calling thread uses itself.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <mutex>

#include "base/status.hpp"

namespace gradcoll {

/// Returns ok for success, else transport with the call's name, CUDA's name for the error, and its
/// text. Clears the error, so that it does not come back from a later call.
Status from_cuda(cudaError_t error, const char* call);
Status from_cuda(CUresult result, const char* call);

/// A CurrentContext makes a context the thread's current one while it lives. The thread's own
/// device, and that it may have none yet, are as before afterwards: cudaSetDevice would make a
/// context on the device that it goes back to.
class CurrentContext {
  public:
    explicit CurrentContext(CUcontext context);
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
    ~CurrentContext();
    const Status& status() const { return status_; }

  private:
    Status status_;
};

/// A DeviceContext is the primary context of a device, which the runtime uses. It is made at the
/// first use and kept until the process ends. Thread safe.
class DeviceContext {
  public:
    explicit DeviceContext(int device) : device_(device) {}

    /// Returns the context. Errors: transport.
    Result<CUcontext> handle();
    /// Calls call(), which is one of the runtime and returns its cudaError_t; `name` is for
    /// messages.
    template <class Call>
    Status run(const char* name, Call call) {
        cudaError_t error = cudaSuccess;
        GRADCOLL_TRY(run_for_error(error, call));
        return from_cuda(error, name);
    }
    /// Does the same for callers that tell errors apart.
    template <class Call>
    Status run_for_error(cudaError_t& error, Call call) {
        const CUcontext context = GRADCOLL_VALUE(handle());
        const CurrentContext current(context);
        GRADCOLL_TRY(current.status());
        error = call();
        return {};
    }

  private:
    void retain();

    const int device_;
    std::once_flag once_;
    CUcontext context_ = nullptr;
    Status status_;
};

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
