// Kernels for any CPU: 16-byte vectors, which compilers lower to whatever is there. The reference
// for all others.
#include "reduce/kernels_impl.hpp"

namespace gradcoll {
namespace {

struct Scalar {
    static constexpr std::size_t vector_bytes = 16;
    using F16 = PairedHalves<Scalar, F16Format>;

    template <class V>
    [[gnu::always_inline]] static void stream(unsigned char* to, V vector) {
        store_vector(to, vector);
    }
    static void fence() {}
};

constexpr KernelTable table = make_kernel_table<Scalar>();

}  // namespace

const KernelTable& scalar_kernels() {
    return table;
}

}  // namespace gradcoll
