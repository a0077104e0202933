// collectives/predict/tuning.cpp - the shipped figures.
#include "collectives/predict/tuning.hpp"

#include <algorithm>
#include <cmath>

#include "compress/packing.hpp"

namespace gradcoll {

double Speed::at(double bytes) const {
    const auto above = std::find_if(points_.begin(), points_.end(),
                                    [bytes](const Point& point) { return point.bytes >= bytes; });
    if (above == points_.end()) return in_memory();
    if (above == points_.begin()) return above->gbytes_per_s;
    const Point& low = above[-1];
    if (low.bytes <= 0) return above->gbytes_per_s;
    const double part = std::log(bytes / low.bytes) / std::log(above->bytes / low.bytes);
    return low.gbytes_per_s + part * (above->gbytes_per_s - low.gbytes_per_s);
}

Tuning::Tuning() : codecs_said(all_codec_forms().size()) {
    for (std::size_t form = 0; form < all_codec_forms().size(); ++form) {
        const CodecRates& rates = rates_of(all_codec_forms()[form]);
        codecs.at_form(form) = {rates.encode, rates.decode, rates.decode_sum};
    }
    for (std::size_t packing = 0; packing < packing_count; ++packing) {
        const PackingRates& rates = rates_of(static_cast<Packing>(packing));
        packings[packing] = {rates.pack, rates.unpack};
    }
    // Links inside a host are copies through shared memory; links between hosts are those of a
    // plain cluster network.
    for (std::size_t kind = 0; kind < links.size(); ++kind)
        links[kind] = connects_hosts(static_cast<VertexKind>(kind)) ? LinkSpeed{3.0, 5.0}
                                                                    : LinkSpeed{6.0, 0.6};
}

const Tuning& shipped_tuning() {
    static const Tuning tuning;
    return tuning;
}

double usual_plain_bytes(CodecId codec, std::size_t elem_bytes, std::int64_t count_elems) {
    return static_cast<double>(
               bound_bytes(codec, elem_bytes, static_cast<std::size_t>(count_elems))) *
           rates_of(codec).part_of_bound;
}

double usual_bytes(CodecId codec, std::size_t elem_bytes, std::int64_t count_elems) {
    return usual_plain_bytes(codec, elem_bytes, count_elems) * rates_of(packing_of(codec)).part;
}

}  // namespace gradcoll
