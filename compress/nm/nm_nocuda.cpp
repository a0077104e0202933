// compress/nm/nm_nocuda.cpp - the face of nm_cuda.hpp in a build without CUDA.
#include "compress/nm/nm_cuda.hpp"

namespace gradcoll {
namespace {

Status not_built() {
    return {Code::unsupported,
            "N:M on the GPU: this library was built without CUDA (GRADCOLL_CUDA=OFF)"};
}

}  // namespace

bool nm_cuda_built() {
    return false;
}

Status nm_encode_cuda(const NmCudaCall&, const void*, std::byte*) {
    return not_built();
}

Status nm_decode_sum_cuda(const NmCudaCall&, const std::byte*, const void*, void*, std::uint32_t*) {
    return not_built();
}

}  // namespace gradcoll
