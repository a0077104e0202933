// tune/summary.cpp - prints what was found, for people.
#include <fmt/format.h>

#include <iterator>

#include "base/text.hpp"
#include "measures.hpp"

namespace gradcoll::tune {
namespace {

/// Returns a text such as "3.1 (256 KiB) 2.0 (64 MiB)".
std::string text_of(const Speed& speed) {
    std::string text;
    for (const Speed::Point& point : speed.points()) {
        text += fmt::format("{}{:.2f}", text.empty() ? "" : " ", point.gbytes_per_s);
        if (point.bytes > 0)
            text += fmt::format(" ({})", bytes_text(static_cast<std::uint64_t>(point.bytes)));
    }
    return text;
}

}  // namespace

std::string summary_of(const Tuning& tuning) {
    std::string text = fmt::format(
        "{} cores a host; a message costs a core {:.2f} us, a turn {:.1f} us\n"
        "GB/s (bytes at work on a host)\n",
        tuning.cores, tuning.message_us, tuning.turn_us);
    auto out = std::back_inserter(text);
    for (std::size_t kind = 1; kind < vertex_kind_count; ++kind)
        if (tuning.links_said[kind])
            fmt::format_to(out, "between branches of a {}: {:.2f} us and {}\n",
                           name_of(static_cast<VertexKind>(kind)), tuning.links[kind].latency_us,
                           text_of(tuning.links[kind].gbytes_per_s));
    fmt::format_to(out, "a pass through shared memory: {:.2f} us and {}\n",
                   tuning.host_pass.latency_us, text_of(tuning.host_pass.gbytes_per_s));
    for (std::size_t form = 0; form < all_codec_forms().size(); ++form) {
        const CodecSpeed& speed = tuning.codecs.at_form(form);
        const bool is_exact = all_codec_forms()[form].codec == CodecId::exact;
        fmt::format_to(out, "{:<10} {}: {}\n           {}: {}\n", all_codec_forms()[form].name,
                       is_exact ? "copy  " : "encode", text_of(speed.encode),
                       is_exact ? "sum   " : "decode and sum", text_of(speed.decode_sum));
    }
    for (std::size_t packing = 1; packing < packing_count; ++packing)
        fmt::format_to(out, "{:<10} pack: {:.2f}, unpack: {:.2f}\n",
                       name_of(static_cast<Packing>(packing)), tuning.packings[packing].pack,
                       tuning.packings[packing].unpack);
    return text;
}

}  // namespace gradcoll::tune
