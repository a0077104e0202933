// Level 1: higher ones are slower than the links that would need them.
#include <zstd.h>

#include <stdexcept>

#include "packers.hpp"

namespace gradcoll::bench {
namespace {

class BoundAndZstdPacker : public Packer {
  public:
    std::string_view name() const override { return "bound, zstd -1"; }

    std::span<const std::byte> pack(const std::vector<float>& values, double abs) override {
        const std::span<const std::byte> plain = bound_->pack(values, abs);
        plain_.assign(plain.begin(), plain.end());
        room_.resize(ZSTD_compressBound(plain.size()));
        size_bytes_ =
            checked(ZSTD_compress(room_.data(), room_.size(), plain.data(), plain.size(), 1));
        return {room_.data(), size_bytes_};
    }
    void unpack(std::vector<float>& values) override {
        checked(ZSTD_decompress(plain_.data(), plain_.size(), room_.data(), size_bytes_));
        bound_->unpack(values);
    }

  private:
    static std::size_t checked(std::size_t result) {
        if (ZSTD_isError(result) != 0) throw std::runtime_error(ZSTD_getErrorName(result));
        return result;
    }

    std::unique_ptr<Packer> bound_ = bound_packer();
    std::vector<std::byte> plain_;
    std::vector<std::byte> room_;
    std::size_t size_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Packer> bound_and_zstd_packer() {
    return std::make_unique<BoundAndZstdPacker>();
}

}  // namespace gradcoll::bench
