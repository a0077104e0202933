// compress/lossless/zstd_packer.cpp - packing with libzstd.
// What makes a context in memory of ours is declared for those who say so. A context that libzstd
// allocates gets new memory when messages of another length come.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <cstdint>
#include <vector>

#include "compress/lossless/packer.hpp"

namespace gradcoll {
namespace {

/// Higher levels make what is left of encodings no shorter, as measured (README.md).
constexpr int level_of_messages = 1;
/// Such a level skips most places where a string could come again. libzstd leaves single bytes
/// alone at it unless it is told otherwise.
constexpr int level_of_bytes = -50;

class ZstdPacker : public Packer {
  public:
    explicit ZstdPacker(int level)
        : packing_room_(words(ZSTD_estimateCCtxSize(level))),
          unpacking_room_(words(ZSTD_estimateDCtxSize())),
          packing_(ZSTD_initStaticCCtx(packing_room_.data(), size_bytes(packing_room_))),
          unpacking_(ZSTD_initStaticDCtx(unpacking_room_.data(), size_bytes(unpacking_room_))) {
        if (packing_ == nullptr) return;
        // A context in memory of ours begins without the usual parameters.
        ZSTD_CCtx_setParameter(packing_, ZSTD_c_contentSizeFlag, 1);
        ZSTD_CCtx_setParameter(packing_, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(packing_, ZSTD_c_literalCompressionMode,
                               level < 0 ? ZSTD_ps_enable : ZSTD_ps_auto);
    }

    bool is_there() const { return packing_ != nullptr && unpacking_ != nullptr; }
    Packing packing() const override { return Packing::zstd; }
    std::size_t pack(std::span<const std::byte> plain, std::span<std::byte> out) override {
        const std::size_t size =
            ZSTD_compress2(packing_, out.data(), out.size(), plain.data(), plain.size());
        return ZSTD_isError(size) != 0 ? 0 : size;
    }
    /// Unpacks one frame of today's format: libzstd would also take several, and older formats.
    bool unpack(std::span<const std::byte> packed, std::span<std::byte> plain) override {
        return ZSTD_getFrameContentSize(packed.data(), packed.size()) == plain.size() &&
               ZSTD_findFrameCompressedSize(packed.data(), packed.size()) == packed.size() &&
               ZSTD_decompressDCtx(unpacking_, plain.data(), plain.size(), packed.data(),
                                   packed.size()) == plain.size();
    }

  private:
    using Room = std::vector<std::uint64_t>;  // libzstd wants it aligned for these
    static std::size_t words(std::size_t bytes) { return bytes / sizeof(std::uint64_t) + 1; }
    static std::size_t size_bytes(const Room& room) { return room.size() * sizeof(std::uint64_t); }

    Room packing_room_, unpacking_room_;
    ZSTD_CCtx* packing_;
    ZSTD_DCtx* unpacking_;
};

std::unique_ptr<Packer> made(int level) {
    auto packer = std::make_unique<ZstdPacker>(level);
    if (!packer->is_there()) return nullptr;
    return packer;
}

}  // namespace

std::unique_ptr<Packer> make_zstd_packer() {
    return made(level_of_messages);
}

std::unique_ptr<Packer> make_zstd_byte_packer() {
    return made(level_of_bytes);
}

}  // namespace gradcoll
