#include "packers.hpp"

namespace gradcoll::bench {

std::unique_ptr<Packer> zfp_packer() {
    return nullptr;
}

}  // namespace gradcoll::bench
