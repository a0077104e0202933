// tune/passes.cpp - combines several measurements of the same.
#include <algorithm>
#include <vector>

#include "measures.hpp"

namespace gradcoll::tune {
namespace {

/// Keeps the faster speed at each point. All passes measure at the same points.
void keep_faster(Speed& kept, const Speed& other) {
    std::vector<Speed::Point> points = kept.points();
    for (std::size_t i = 0; i < std::min(points.size(), other.points().size()); ++i)
        points[i].gbytes_per_s = std::max(points[i].gbytes_per_s, other.points()[i].gbytes_per_s);
    kept = Speed(std::move(points));
}

void keep_faster(LinkSpeed& kept, const LinkSpeed& other) {
    keep_faster(kept.gbytes_per_s, other.gbytes_per_s);
    kept.latency_us = std::min(kept.latency_us, other.latency_us);
}

void keep_fastest(Tuning& kept, const Tuning& other) {
    for (std::size_t form = 0; form < all_codec_forms().size(); ++form) {
        CodecSpeed& speed = kept.codecs.at_form(form);
        keep_faster(speed.encode, other.codecs.at_form(form).encode);
        keep_faster(speed.decode, other.codecs.at_form(form).decode);
        keep_faster(speed.decode_sum, other.codecs.at_form(form).decode_sum);
    }
    for (std::size_t packing = 0; packing < packing_count; ++packing) {
        PackingSpeed& speed = kept.packings[packing];
        speed.pack = std::max(speed.pack, other.packings[packing].pack);
        speed.unpack = std::max(speed.unpack, other.packings[packing].unpack);
    }
    for (std::size_t kind = 0; kind < kept.links.size(); ++kind)
        keep_faster(kept.links[kind], other.links[kind]);
    keep_faster(kept.host_pass, other.host_pass);
}

double middle_of(const std::vector<Tuning>& passes, double Tuning::*figure) {
    std::vector<double> values;
    for (const Tuning& pass : passes) values.push_back(pass.*figure);
    return median(std::move(values));
}

}  // namespace

Tuning together(const std::vector<Tuning>& passes) {
    Tuning kept = passes.front();
    for (const Tuning& pass : passes) keep_fastest(kept, pass);
    kept.message_us = middle_of(passes, &Tuning::message_us);
    kept.turn_us = middle_of(passes, &Tuning::turn_us);
    return kept;
}

}  // namespace gradcoll::tune
