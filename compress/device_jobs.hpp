// compress/device_jobs.hpp - the four works of a codec that goes block by block, as jobs for warps
// (warp/run_batch.hpp).
#pragma once

#include <cstddef>

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

// This is an entry of a table of blocks of variable rate; one lane writes it.
template <class Byte>
constexpr Byte* coded_block_at(Byte* table, std::size_t block) {
    return table + block * sizeof(CodedBlock);
}
template <class Warp>
constexpr CodedBlock load_coded_block(const std::byte* table, std::size_t block) {
    const std::byte* const at = coded_block_at(table, block);
    return {Warp::template load<std::uint64_t>(at), Warp::template load<std::uint32_t>(at + 8),
            Warp::template load<std::uint32_t>(at + 12)};
}
template <class Warp>
constexpr void store_coded_block(std::byte* table, std::size_t block, const CodedBlock& coded) {
    std::byte* const at = coded_block_at(table, block);
    Warp::store(at, coded.offset_bytes);
    Warp::store(at + 8, coded.size_bytes);
    Warp::store(at + 12, coded.is_plain);
}

/// Does the work; `Form` has encode<with_residual>(job, index) and decode<with_base>(job, index).
template <CodecWork work, class Form>
constexpr void do_work(const WarpJob& job, std::size_t index) {
    if constexpr (encodes(work))
        Form::template encode<work == CodecWork::encode_with_residual>(job, index);
    else
        Form::template decode<work == CodecWork::decode_sum>(job, index);
}

/// Returns the kernel that Launcher makes of Jobs::Job<work>.
template <class Launcher, class Jobs>
BatchKernel kernel_for_work(CodecWork work) {
    switch (work) {
        case CodecWork::encode:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::encode>>();
        case CodecWork::encode_with_residual:
            return Launcher::template kernel<
                typename Jobs::template Job<CodecWork::encode_with_residual>>();
        case CodecWork::decode:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::decode>>();
        case CodecWork::decode_sum:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::decode_sum>>();
    }
    return {};
}

}  // namespace gradcoll
