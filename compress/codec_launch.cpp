// compress/codec_launch.cpp - from jobs of a caller to batches of warps.
#include "compress/codec_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "compress/codec_spec.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view names_of_works[] = {"encode", "encode_with_residual", "decode",
                                               "decode_sum"};

std::string text_of(const CodecLaunch& launch) {
    return CodecSpec::of(number_of(launch.codec)).with(launch.parameters).text();
}

/// Buffer is one buffer of a job: where it is, and to what it must be aligned; 0 if it is not used.
struct Buffer {
    const char* name;
    const void* at;
    std::size_t alignment;

    bool aligned_to(std::size_t bytes) const {
        return alignment == 0 || reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
    }
};

class CodecCall {
  public:
    explicit CodecCall(const CodecLaunch& launch) : launch_(launch) {}

    Status check(const CodecJob& job, CodecForm form) const {
        if (job.count == 0) return {};
        for (const Buffer& buffer : buffers_of(job)) {
            if (buffer.alignment == 0) continue;
            if (buffer.at == nullptr) return refusal(buffer, "is null");
            if (!buffer.aligned_to(buffer.alignment))
                return refusal(buffer,
                               fmt::format("must be aligned to {} bytes", buffer.alignment));
            if (form == CodecForm::vector && !buffer.aligned_to(vector_alignment))
                return refusal(buffer,
                               fmt::format("must be aligned to {} bytes for the vector form",
                                           vector_alignment));
        }
        if (!decodes() || codec_block_elems(launch_.codec, launch_.parameters) == 1 ||
            launch_.invalid != nullptr)
            return {};
        return {Code::invalid_buffer, "codec on a device: decoding needs a word for `invalid`"};
    }

    /// Returns whether the vector form can do the job.
    bool is_tiled(const CodecJob& job, CodecForm form) const {
        const auto buffers = buffers_of(job);
        return form != CodecForm::warp &&
               std::all_of(buffers.begin(), buffers.end(),
                           [](const Buffer& b) { return b.aligned_to(vector_alignment); });
    }

    WarpJob work_of(const CodecJob& job) const {
        WarpJob work;
        work.in = static_cast<const std::byte*>(job.in);
        work.base = static_cast<const std::byte*>(job.base);
        work.residual = static_cast<std::byte*>(job.residual);
        work.out = static_cast<std::byte*>(job.out);
        work.invalid = launch_.invalid;
        work.count = job.count;
        work.seed = launch_.parameters.seed;
        work.abs = launch_.parameters.abs;
        work.rel = launch_.parameters.rel;
        work.blocks = reinterpret_cast<std::byte*>(job.blocks);
        work.blocks_at = job.blocks_at;
        return work;
    }

  private:
    static constexpr std::size_t vector_alignment = 16;

    bool decodes() const { return !encodes(launch_.work); }

    std::array<Buffer, 5> buffers_of(const CodecJob& job) const {
        const std::size_t value = element_bytes(launch_.type);
        const std::size_t payload = std::min<std::size_t>(value, 2);
        const bool has_residual =
            launch_.work == CodecWork::encode_with_residual && is_floating(launch_.type);
        const bool has_base = launch_.work == CodecWork::decode_sum;
        return {{{"in", job.in, decodes() ? payload : value},
                 {"out", job.out, decodes() ? value : payload},
                 {"residual", job.residual, has_residual ? std::max<std::size_t>(value, 4) : 0},
                 {"base", job.base, has_base ? value : 0},
                 {"blocks", job.blocks,
                  has_fixed_rate(launch_.codec, launch_.parameters) ? 0 : alignof(CodedBlock)}}};
    }

    Status refusal(const Buffer& buffer, std::string_view why) const {
        return {Code::invalid_buffer,
                fmt::format("codec on a device: `{}` of {} {} {}", buffer.name, text_of(launch_),
                            names_of_works[static_cast<std::size_t>(launch_.work)], why)};
    }

    const CodecLaunch& launch_;
};

bool is_known(const CodecLaunch& launch) {
    return launch.codec == plain(launch.codec) && is_registered(launch.codec) &&
           static_cast<std::size_t>(launch.work) < std::size(names_of_works) &&
           launch.type <= ElementType::opaque;
}

}  // namespace

bool has_kernels(CodecKernelOf kernel_of, CodecId codec, const CodecParameters& parameters,
                 ElementType type) {
    return codec == plain(codec) && is_registered(codec) && parameters.packing == Packing::none &&
           kernel_of(codec, parameters, type, CodecWork::encode).launch != nullptr;
}

Status launch_codec(CodecKernelOf kernel_of, CodecForm form, const CodecLaunch& launch,
                    std::span<const CodecJob> jobs) {
    if (!is_known(launch))
        return {Code::unsupported,
                fmt::format("codec on a device: codec {}, type {} and work {} are not known",
                            static_cast<int>(launch.codec), static_cast<int>(launch.type),
                            static_cast<int>(launch.work))};
    if (launch.parameters.call_parts != 0)
        return {Code::unsupported,
                fmt::format("codec on a device: {} without what the call says", text_of(launch))};
    if (!has_kernels(kernel_of, launch.codec, launch.parameters, launch.type))
        return {Code::unsupported, fmt::format("codec on a device: {} is not defined for {}",
                                               text_of(launch), name_of(launch.type))};
    const BatchKernel kernel = kernel_of(launch.codec, launch.parameters, launch.type, launch.work);
    const CodecCall call(launch);
    for (const CodecJob& job : jobs) GRADCOLL_TRY(call.check(job, form));

    BatchLauncher batches(kernel, launch.stream);
    for (const CodecJob& job : jobs)
        GRADCOLL_TRY(batches.add(cut_job(call.work_of(job), kernel, call.is_tiled(job, form))));
    return batches.flush();
}

Status launch_block_moves(const BatchKernel& kernel, void* stream,
                          std::span<const BlockMove> moves) {
    BatchLauncher batches(kernel, stream);
    for (const BlockMove& move : moves) {
        WarpJob work;
        work.in = move.in;
        work.out = move.out;
        work.blocks = reinterpret_cast<std::byte*>(const_cast<CodedBlock*>(move.from));
        work.to_blocks = reinterpret_cast<std::byte*>(move.to);
        work.count = move.count;
        GRADCOLL_TRY(batches.add(cut_job(work, kernel, false)));
    }
    return batches.flush();
}

}  // namespace gradcoll
