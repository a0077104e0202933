#include "compress/lossless/packer.hpp"

#include <fmt/format.h>

namespace gradcoll {
namespace {

std::unique_ptr<Packer> made(Packing packing) {
    switch (packing) {
        case Packing::zstd:
            return make_zstd_packer();
        case Packing::lz4:
            return make_lz4_packer();
        case Packing::none:
            break;
    }
    return nullptr;
}

}  // namespace

Result<std::unique_ptr<Packer>> make_packer(Packing packing) {
    if (packing == Packing::none) return Status(Code::internal, "a packer for no packing");
    std::unique_ptr<Packer> packer = made(packing);
    if (packer == nullptr)
        return Status(Code::out_of_memory,
                      fmt::format("no memory for what {} works in", name_of(packing)));
    return packer;
}

}  // namespace gradcoll
