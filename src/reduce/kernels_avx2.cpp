// Kernels for AVX2 with F16C; compiled with those flags, called only where the CPU has them.
#include "reduce/kernels_impl.hpp"
#include "reduce/vector_avx2.hpp"

namespace gradcoll {
namespace {

struct Avx2 : Avx2Vectors {
    using F16 = ConvertedF16<Avx2>;
};

constexpr KernelTable table = make_kernel_table<Avx2>();

}  // namespace

const KernelTable& avx2_kernels() {
    return table;
}

}  // namespace gradcoll
