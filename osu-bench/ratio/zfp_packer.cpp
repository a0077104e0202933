// osu-bench/ratio/zfp_packer.cpp - uses one dimension and accuracy mode, since the fields that
// collectives sum have lost their shape.
#include <zfp.h>

#include <stdexcept>

#include "packers.hpp"

namespace gradcoll::bench {
namespace {

class ZfpPacker : public Packer {
  public:
    ZfpPacker() : stream_(zfp_stream_open(nullptr)) {}
    ~ZfpPacker() override { zfp_stream_close(stream_); }

    std::string_view name() const override { return "zfp"; }
    bool is_cautious() const override { return true; }

    std::span<const std::byte> pack(const std::vector<float>& values, double abs) override {
        count_ = values.size();
        zfp_stream_set_accuracy(stream_, abs);
        zfp_field* const field = zfp_field_1d(const_cast<float*>(values.data()), zfp_type_float,
                                              static_cast<unsigned>(count_));
        room_.resize(zfp_stream_maximum_size(stream_, field));
        open();
        const std::size_t size_bytes = zfp_compress(stream_, field);
        close(field);
        if (size_bytes == 0) throw std::runtime_error("zfp_compress failed");
        return {room_.data(), size_bytes};
    }
    void unpack(std::vector<float>& values) override {
        values.resize(count_);
        zfp_field* const field =
            zfp_field_1d(values.data(), zfp_type_float, static_cast<unsigned>(count_));
        open();
        const std::size_t size_bytes = zfp_decompress(stream_, field);
        close(field);
        if (size_bytes == 0) throw std::runtime_error("zfp_decompress failed");
    }

  private:
    void open() {
        bits_ = stream_open(room_.data(), room_.size());
        zfp_stream_set_bit_stream(stream_, bits_);
        zfp_stream_rewind(stream_);
    }
    void close(zfp_field* field) {
        zfp_field_free(field);
        stream_close(bits_);
    }

    zfp_stream* stream_;
    bitstream* bits_ = nullptr;
    std::vector<std::byte> room_;
    std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Packer> zfp_packer() {
    return std::make_unique<ZfpPacker>();
}

}  // namespace gradcoll::bench
