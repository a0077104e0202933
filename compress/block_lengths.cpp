#include "compress/block_lengths.hpp"

#include <cstdint>

namespace gradcoll {
namespace {

constexpr std::uint32_t plain_run_mark = 0x80000000;

}  // namespace

void BlockLengthsWriter::put(std::size_t value) {
    if (out_ == nullptr) return;
    std::byte* const at = out_ + (entries_ - 1) * block_length_bytes;
    for (std::size_t i = 0; i < block_length_bytes; ++i)
        at[i] = static_cast<std::byte>(value >> (8 * i));
}

void BlockLengthsWriter::add_encoded(std::size_t size_bytes) {
    plain_run_ = 0;
    has_encoded_ = true;
    ++entries_;
    put(size_bytes);
}

void BlockLengthsWriter::add_plain() {
    if (plain_run_++ == 0) ++entries_;
    put(plain_run_mark | plain_run_);
}

BlockEntry read_block_entry(const std::byte* in) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < block_length_bytes; ++i)
        value |= static_cast<std::uint32_t>(in[i]) << (8 * i);
    return {(value & plain_run_mark) != 0, value & ~plain_run_mark};
}

}  // namespace gradcoll
