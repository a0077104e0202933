// Kernels for any CPU: 16-byte vectors, which compilers lower to whatever is there. The reference
// for all others.
#include "reduce/kernels_impl.hpp"

namespace gradcoll {
namespace {

struct Scalar {
    static constexpr std::size_t vector_bytes = 16;

    template <class Floats, class Stored>
    [[gnu::always_inline]] static Floats f32_from_f16(Stored halves) {
        using Bits = Vector<std::uint32_t, sizeof(Floats) / 4>;
        return __builtin_bit_cast(
            Floats, f32_bits_from_f16_bits<Floats>(__builtin_convertvector(halves, Bits)));
    }
    template <class Stored, class Floats>
    [[gnu::always_inline]] static Stored f16_from_f32(Floats floats) {
        using Bits = Vector<std::uint32_t, sizeof(Floats) / 4>;
        const Bits rounded = f16_bits_from_f32_bits<Floats>(__builtin_bit_cast(Bits, floats));
        return __builtin_convertvector(rounded, Stored);
    }
};

constexpr KernelTable table = make_kernel_table<Scalar>();

}  // namespace

const KernelTable& scalar_kernels() {
    return table;
}

}  // namespace gradcoll
