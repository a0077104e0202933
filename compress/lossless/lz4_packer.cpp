// compress/lossless/lz4_packer.cpp - packing with liblz4: one block, without a frame of its own.
#include <lz4.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compress/lossless/packer.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_bytes = std::numeric_limits<int>::max();  // liblz4 counts in these
constexpr int usual_acceleration = 1;

int as_int(std::size_t bytes) {
    return static_cast<int>(std::min(bytes, most_bytes));
}

class Lz4Packer : public Packer {
  public:
    Packing packing() const override { return Packing::lz4; }
    std::size_t pack(std::span<const std::byte> plain, std::span<std::byte> out) override {
        if (plain.size() > LZ4_MAX_INPUT_SIZE) return 0;
        const int size =
            LZ4_compress_fast_extState(room_.data(), reinterpret_cast<const char*>(plain.data()),
                                       reinterpret_cast<char*>(out.data()), as_int(plain.size()),
                                       as_int(out.size()), usual_acceleration);
        return static_cast<std::size_t>(std::max(size, 0));
    }
    bool unpack(std::span<const std::byte> packed, std::span<std::byte> plain) override {
        if (packed.size() > most_bytes || plain.size() > most_bytes) return false;
        return LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()),
                                   reinterpret_cast<char*>(plain.data()), as_int(packed.size()),
                                   as_int(plain.size())) == as_int(plain.size());
    }

  private:
    /// The words align it as liblz4 wants it.
    std::vector<std::uint64_t> room_ =
        std::vector<std::uint64_t>(static_cast<std::size_t>(LZ4_sizeofState()) / 8 + 1);
};

}  // namespace

std::unique_ptr<Packer> make_lz4_packer() {
    return std::make_unique<Lz4Packer>();
}

}  // namespace gradcoll
