// From the settings of a communicator and the shape of a call to what is to be planned.
#include <algorithm>

#include "api/planned_call.hpp"

namespace gradcoll {
namespace {

CodecId codec_of_level(const Settings& settings, const CallKey& key, int level) {
    if (!key.compress) return CodecId::exact;
    const CodecId codec = settings.schedule.empty() ? settings.codec_of(level, 0) : key.phase;
    return codec_supports(codec, key.type) ? codec : CodecId::exact;
}

CodecId down_codec_of(const Settings& settings, const CallKey& key, const Tree& tree) {
    if (!key.compress) return CodecId::exact;
    if (settings.down_codec)
        return codec_supports(*settings.down_codec, key.type) ? *settings.down_codec
                                                              : CodecId::exact;
    for (int level = tree.height() - 1; level >= 0; --level)
        if (const CodecId codec = codec_of_level(settings, key, level); codec != CodecId::exact)
            return codec;
    return CodecId::exact;
}

/// A residual's layout must not change with the codecs, so nothing that depends on them may choose
/// the exchange.
Exchange exchange_of_level(const Settings& settings, const CallKey& key, int level) {
    if (key.feedback) return Exchange::direct;
    const std::size_t last = settings.exchange.size() - 1;
    const ExchangeChoice choice =
        settings.exchange[std::min(static_cast<std::size_t>(level), last)];
    return choice == ExchangeChoice::ring ? Exchange::ring : Exchange::direct;
}

std::int64_t chunk_elems_of(const Settings& settings, const CallKey& key, std::int64_t granule) {
    constexpr std::uint64_t automatic = std::uint64_t{256} << 10;
    const std::uint64_t wanted = settings.chunk_bytes.value_or(automatic);
    if (key.collective != Collective::allreduce || wanted == 0) return 0;
    const auto elems =
        static_cast<std::int64_t>(wanted / std::max<std::uint32_t>(key.elem_bytes, 1));
    return std::max<std::int64_t>(elems / granule, 1) * granule;
}

}  // namespace

PlanSpec spec_of(const Tree& tree, const Settings& settings, const CallKey& key) {
    PlanSpec spec;
    spec.collective = key.collective;
    spec.count_elems = key.count;
    spec.type = key.type;
    spec.elem_bytes = key.elem_bytes;
    spec.in_place = key.in_place;
    spec.granule_elems = key.lossy_granule ? static_cast<std::int64_t>(lossy_block_elems) : 1;
    spec.chunk_elems = chunk_elems_of(settings, key, spec.granule_elems);
    spec.choices.resize(static_cast<std::size_t>(tree.vertex_count()));
    for (int id = 0; id < tree.vertex_count(); ++id) {
        if (tree.is_leaf(id)) continue;
        const int level = tree.vertex(id).height - 1;
        spec.choices[static_cast<std::size_t>(id)] = {exchange_of_level(settings, key, level),
                                                      codec_of_level(settings, key, level)};
    }
    spec.down_codec = down_codec_of(settings, key, tree);
    spec.feedback = key.feedback;
    return spec;
}

}  // namespace gradcoll
