// collectives/predict/tuning.cpp - the shipped figures.
#include "collectives/predict/tuning.hpp"

#include <algorithm>
#include <cmath>

namespace gradcoll {
namespace {

/// docs/benchmarks.md, "Codec kernels": fp32, AVX-512, 64 MiB.
constexpr double codec_speeds[codec_count][3] = {
    {9.2, 9.1, 11.5},  {14.3, 12.5, 16.9}, {14.0, 12.8, 14.5}, {15.9, 15.7, 17.5},
    {6.4, 15.6, 13.3}, {6.8, 13.9, 15.9},  {15.3, 15.6, 17.6}, {11.8, 13.8, 14.5}};

}  // namespace

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

Tuning::Tuning() {
    for (std::size_t codec = 0; codec < codecs.size(); ++codec)
        codecs[codec] = {codec_speeds[codec][0], codec_speeds[codec][1], codec_speeds[codec][2]};
    // Inside a host: copies through shared memory. Between hosts: a plain cluster network.
    for (std::size_t kind = 0; kind < links.size(); ++kind)
        links[kind] = connects_hosts(static_cast<VertexKind>(kind)) ? LinkSpeed{3.0, 5.0}
                                                                    : LinkSpeed{6.0, 0.6};
}

const Tuning& shipped_tuning() {
    static const Tuning tuning;
    return tuning;
}

}  // namespace gradcoll
