// collectives/choose/codec_choice.cpp - compares compressed with exact, from the root down.
#include "collectives/choose/codec_choice.hpp"

#include <algorithm>
#include <utility>

#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Returns the spec with direct for merged: codecs are compared before vertices are merged.
PlanSpec with_direct_for_merged(const Tree& tree, PlanSpec spec) {
    std::vector<VertexChoice> choices(spec.choices.begin(), spec.choices.end());
    choices.resize(static_cast<std::size_t>(tree.vertex_count()));
    for (VertexChoice& choice : choices)
        if (choice.exchange == Exchange::merged) choice.exchange = Exchange::direct;
    spec.choices = std::move(choices);
    return spec;
}

/// Returns the spec with the codecs of a level's vertices replaced.
template <class By>
PlanSpec replaced_at(const Tree& tree, PlanSpec spec, int level, const By& by) {
    std::vector<VertexChoice> choices(spec.choices.begin(), spec.choices.end());
    for (const int vertex : tree.inner_vertices())
        if (tree.vertex(vertex).height - 1 == level) {
            CodecId& codec = choices[static_cast<std::size_t>(vertex)].codec;
            codec = by(codec);
        }
    spec.choices = std::move(choices);
    return spec;
}

PlanSpec exact_at(const Tree& tree, PlanSpec spec, int level) {
    return replaced_at(tree, std::move(spec), level, [](CodecId) { return CodecId::exact; });
}

/// Returns the spec with a level unpacked. The way down has the codec of the highest lossy level.
PlanSpec unpacked_at(const Tree& tree, PlanSpec spec, int level, bool is_highest) {
    if (is_highest) spec.down_codec = without_packing(spec.down_codec);
    return replaced_at(tree, std::move(spec), level, without_packing);
}

/// Returns the codec of the first vertex of the level that is lossy.
CodecId lossy_codec_at(const Tree& tree, const PlanSpec& spec, int level) {
    for (const int vertex : tree.inner_vertices())
        if (const CodecId codec = spec.choices.of(vertex).codec;
            tree.vertex(vertex).height - 1 == level && codec != CodecId::exact)
            return codec;
    return CodecId::exact;
}

double all_parts_us(const LevelForecast& part, std::int64_t parts) {
    const ChunkFlow flow{part.sum_us(), part.link_us, part.core_us};
    return flow.total_us(static_cast<double>(parts - 1));
}

}  // namespace

namespace {

double level_us(const Tree& tree, const Tuning& tuning, const PlanSpec& spec, int level) {
    const Forecast forecast = forecast_tree(tree, tuning, spec);
    return forecast.levels.empty()
               ? 0
               : all_parts_us(forecast.levels[static_cast<std::size_t>(level)], forecast.chunks);
}

/// Returns the better of two specs for a level whose codec packs: as it is, or without packing.
PlanSpec better_packed(const Tree& tree, const Tuning& tuning, PlanSpec spec, bool is_highest,
                       CodecVerdict& verdict) {
    if (packing_of(verdict.codec) == Packing::none) return spec;
    PlanSpec unpacked = unpacked_at(tree, spec, verdict.level, is_highest);
    verdict.packed_us = level_us(tree, tuning, spec, verdict.level);
    verdict.unpacked_us = level_us(tree, tuning, unpacked, verdict.level);
    return verdict.packing_pays() ? spec : unpacked;
}

}  // namespace

std::vector<CodecVerdict> weigh_codecs(const Tree& tree, const Tuning& tuning, PlanSpec wished) {
    std::vector<CodecVerdict> verdicts;
    PlanSpec spec = with_direct_for_merged(tree, std::move(wished));
    for (int level = tree.height() - 1; level >= 0; --level) {
        CodecVerdict verdict;
        verdict.level = level;
        verdict.codec = lossy_codec_at(tree, spec, level);
        if (verdict.codec == CodecId::exact) continue;
        spec = better_packed(tree, tuning, std::move(spec), verdicts.empty(), verdict);
        const PlanSpec exact_here = exact_at(tree, spec, level);
        const Forecast compressed = forecast_tree(tree, tuning, spec);
        if (compressed.levels.empty()) break;  // nothing to send
        verdict.parts = compressed.chunks;
        verdict.compressed = compressed.levels[static_cast<std::size_t>(level)];
        verdict.exact =
            forecast_tree(tree, tuning, exact_here).levels[static_cast<std::size_t>(level)];
        verdict.compressed_us = all_parts_us(verdict.compressed, verdict.parts);
        verdict.exact_us = all_parts_us(verdict.exact, verdict.parts);
        if (!verdict.pays()) spec = exact_here;
        verdicts.push_back(verdict);
    }
    std::reverse(verdicts.begin(), verdicts.end());
    return verdicts;
}

HopCodecs codecs_that_pay(HopCodecs wished, const std::vector<CodecVerdict>& verdicts) {
    for (const CodecVerdict& verdict : verdicts) {
        if (!verdict.pays()) wished = wished.exact_at(verdict.level);
        if (!verdict.packing_pays()) wished = wished.unpacked_at(verdict.level);
    }
    return wished;
}

}  // namespace gradcoll
