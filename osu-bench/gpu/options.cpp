// options.cpp - the command line of gc_bench gpu.
#include "options.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "command_line/option_parser.hpp"
#include "sizes.hpp"

namespace gradcoll::bench {
namespace {

constexpr std::size_t granule_bytes = lossy_block_elems * sizeof(double);
// Smaller sizes would need thousands of buffers to rotate through an L2.
constexpr std::size_t least_bytes = std::size_t{1} << 20;

// Raw holds the options as typed, before the names are looked up.
struct Raw {
    std::string sizes = "8M,32M,256M";
    std::vector<std::string> kinds{"2:4/fp32", "2:4/bf16", "2:4/fp16",
                                   "2:4/fp64", "1:4/fp32", "bf16/fp32"};
    std::vector<std::string> works{"encode", "encode+residual", "decode", "decode+sum"};
};

void declare(OptionParser& app, GpuOptions& options, Raw& raw) {
    app.add_option("-m,--size", raw.sizes,
                   "bytes of plain values, with K, M, G: min:max (doubling) or a list a,b,c")
        ->capture_default_str();
    app.add_option("--codecs", raw.kinds, "CODEC/TYPE, comma separated")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--works", raw.works, "what is measured, comma separated")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--repeats", options.repeats,
                   "turns of kernel and copy, the order swapped each time; medians are printed")
        ->in_range(1, 1000000)
        ->capture_default_str();
    app.add_option("--device", options.device, "number of the CUDA device")
        ->in_range(0, 1023)
        ->capture_default_str();
    app.add_option("--seed", options.seed, "seed of the random values")->capture_default_str();
    app.add_option("--csv", options.csv_path, "append a row a measurement to this file");
}

std::optional<ElementType> find_type(std::string_view name) {
    for (const ElementType type :
         {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
        if (name == gradcoll::name_of(type)) {
            return type;
        }
    }
    return std::nullopt;
}

Problem resolve_kind(const std::string& text, GpuOptions& options) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string::npos) {
        return fmt::format("--codecs {}: must be CODEC/TYPE, as 2:4/fp32", text);
    }
    const Result<CodecId> codec = codec_from_name(text.substr(0, slash));
    if (!codec.ok()) {
        return fmt::format("--codecs {}: {}", text, codec.status().message());
    }
    const auto type = find_type(std::string_view(text).substr(slash + 1));
    if (!type) {
        return fmt::format("--codecs {}: the type must be fp16, bf16, fp32 or fp64", text);
    }
    if (*codec == CodecId::exact || !codec_supports(*codec, *type)) {
        return fmt::format("--codecs {}: there is no such kernel", text);
    }
    options.kinds.push_back({*codec, *type});
    return std::nullopt;
}

Problem resolve_work(const std::string& text, GpuOptions& options) {
    for (const CodecWork work : {CodecWork::encode, CodecWork::encode_with_residual,
                                 CodecWork::decode, CodecWork::decode_sum}) {
        if (text == name_of(work)) {
            options.works.push_back(work);
            return std::nullopt;
        }
    }
    return fmt::format("--works {}: must be encode, encode+residual, decode or decode+sum", text);
}

Problem resolve(const Raw& raw, GpuOptions& options) {
    const auto sizes = parse_sizes(raw.sizes, granule_bytes);
    if (!sizes) {
        return fmt::format(
            "--size {}: must be min:max with min <= max, or a list, in bytes "
            "with K, M or G",
            raw.sizes);
    }
    if (sizes->front() < least_bytes) {
        return fmt::format("--size {}: must be at least 1M; one size is min:max with both the same",
                           raw.sizes);
    }
    options.sizes_bytes = *sizes;
    for (const std::string& kind : raw.kinds) {
        if (auto problem = resolve_kind(kind, options)) {
            return problem;
        }
    }
    for (const std::string& work : raw.works) {
        if (auto problem = resolve_work(work, options)) {
            return problem;
        }
    }
    return std::nullopt;
}

}  // namespace

GpuCommandLine parse_gpu_command_line(int argc, const char* const* argv) {
    OptionParser app(
        "Codec kernels on a GPU beside a copy of as many bytes, in turns in one process",
        "gc_bench gpu");
    GpuCommandLine line;
    Raw raw;
    declare(app, line.options, raw);
    app.parse_into(line, argc, argv, [&] { return resolve(raw, line.options); });
    return line;
}

}  // namespace gradcoll::bench
