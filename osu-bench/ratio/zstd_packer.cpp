// osu-bench/ratio/zstd_packer.cpp - packs as `bound+zstd` does, at level 1.
#include <stdexcept>

#include "compress/lossless/packer.hpp"
#include "packers.hpp"

namespace gradcoll::bench {
namespace {

class BoundAndZstdPacker : public Packer {
  public:
    BoundAndZstdPacker() {
        if (zstd_ == nullptr) throw std::runtime_error("no memory for what zstd works in");
    }
    std::string_view name() const override { return "bound, zstd"; }

    std::span<const std::byte> pack(const std::vector<float>& values, double abs) override {
        const std::span<const std::byte> plain = bound_->pack(values, abs);
        plain_.assign(plain.begin(), plain.end());
        room_.resize(plain.size() + plain.size() / 64 + 1024);
        size_bytes_ = zstd_->pack(plain_, room_);
        if (size_bytes_ == 0) throw std::runtime_error("zstd does not pack");
        return {room_.data(), size_bytes_};
    }
    void unpack(std::vector<float>& values) override {
        if (!zstd_->unpack({room_.data(), size_bytes_}, plain_))
            throw std::runtime_error("zstd refuses what it has made");
        bound_->unpack(values);
    }

  private:
    std::unique_ptr<Packer> bound_ = bound_packer();
    std::unique_ptr<gradcoll::Packer> zstd_ = make_zstd_packer();
    std::vector<std::byte> plain_;
    std::vector<std::byte> room_;
    std::size_t size_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Packer> bound_and_zstd_packer() {
    return std::make_unique<BoundAndZstdPacker>();
}

}  // namespace gradcoll::bench
