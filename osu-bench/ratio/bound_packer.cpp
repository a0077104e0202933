#include <stdexcept>

#include "compress/codec.hpp"
#include "packers.hpp"

namespace gradcoll::bench {
namespace {

class BoundPacker : public Packer {
  public:
    std::string_view name() const override { return "bound"; }

    std::span<const std::byte> pack(const std::vector<float>& values, double abs) override {
        Codec codec = *codec_for(CodecId::bound, ElementType::f32);
        codec.parameters.abs = abs;
        count_ = values.size();
        room_.resize(bound_bytes(CodecId::bound, sizeof(float), count_));
        size_bytes_ = codec.encode(values.data(), count_, room_.data());
        return {room_.data(), size_bytes_};
    }
    void unpack(std::vector<float>& values) override {
        values.resize(count_);
        const Codec codec = *codec_for(CodecId::bound, ElementType::f32);
        if (!codec.decode(room_.data(), size_bytes_, count_, values.data()))
            throw std::runtime_error("bound refuses what it has made");
    }

  private:
    std::vector<std::byte> room_;
    std::size_t size_bytes_ = 0;
    std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Packer> bound_packer() {
    return std::make_unique<BoundPacker>();
}

}  // namespace gradcoll::bench
