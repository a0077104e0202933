#include "compress/encode_block.hpp"

#include <fmt/format.h>

#include <cstring>

#include "compress/block_lengths.hpp"

namespace gradcoll {
namespace {

Status make_plain(const Codec& codec, std::byte* encoded, std::size_t size_bytes,
                  std::size_t count) {
    alignas(64) std::byte elements[lossy_block_elems * sizeof(double)];
    if (!codec.decode(encoded, size_bytes, count, elements))
        return {Code::internal,
                fmt::format("codec {} refuses what it wrote itself", name_of(codec.id))};
    std::memcpy(encoded, elements, count * element_bytes(codec.type));
    return {};
}

}  // namespace

Result<CodedBlock> encode_block(const Codec& codec, const BlockValues& block,
                                std::size_t most_bytes, std::byte* out) {
    const std::size_t size =
        block.residual ? codec.encode_with_residual(block.values, block.residual, block.count, out)
                       : codec.encode(block.values, block.count, out);
    if (size > most_bytes)
        return Status(Code::internal, fmt::format("codec {} wrote {} bytes, {} at most said",
                                                  name_of(codec.id), size, most_bytes));
    const std::size_t plain_bytes = block.count * element_bytes(codec.type);
    if (saves_bytes(size, plain_bytes)) return CodedBlock{0, static_cast<std::uint32_t>(size), 0};
    GRADCOLL_TRY(make_plain(codec, out, size, block.count));
    return CodedBlock{0, static_cast<std::uint32_t>(plain_bytes), 1};
}

}  // namespace gradcoll
