// compress/nm/nm_kernels.hpp - the N:M codecs by instruction set. Wire format:
// compress/nm/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return the kernels that keep `keep` of every `group`; none if that is no codec or the type no
/// float. Calling a kernel needs a CPU with its instruction set.
Kernels nm_kernels_scalar(int keep, int group, ElementType type);
Kernels nm_kernels_avx2(int keep, int group, ElementType type);
Kernels nm_kernels_avx512(int keep, int group, ElementType type);

}  // namespace gradcoll
