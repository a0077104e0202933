// Kernels for AVX-512 F, BW, DQ and VL; compiled with those flags, called only where the CPU has
// them.
#include "reduce/kernels_impl.hpp"
#include "reduce/vector_avx512.hpp"

namespace gradcoll {
namespace {

struct Avx512 : Avx512Vectors {
    using F16 = ConvertedF16<Avx512>;
};

constexpr KernelTable table = make_kernel_table<Avx512>();

}  // namespace

const KernelTable& avx512_kernels() {
    return table;
}

}  // namespace gradcoll
