#include "packers.hpp"

namespace gradcoll::bench {

std::unique_ptr<Packer> bound_and_zstd_packer() {
    return nullptr;
}

}  // namespace gradcoll::bench
