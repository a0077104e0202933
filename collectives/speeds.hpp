// collectives/speeds.hpp - how fast a rank works on its elements: figures that forecasts are made
// with. Data; whoever knows better puts in other figures.
#pragma once

#include <array>

#include "compress/codec_id.hpp"

namespace gradcoll {

/// GB/s of plain elements on one core.
struct CodecSpeed {
    double encode = 0;
    double decode = 0;
    double decode_sum = 0;  ///< decoding and adding; for exact: the plain sum
};

struct SpeedFigures {
    std::array<CodecSpeed, codec_count> codecs;  ///< index: CodecId
    double message_us = 0.5;  ///< of the rank's core for each message, besides the link's latency
    double incast_loss_per_sender = 0.03;  ///< as in cost.hpp, between hosts
    double most_incast_loss = 1;           ///< and together at most: 1 means twice the time
    int chunks_in_flight = 4;              ///< GC_CHUNKS_IN_FLIGHT

    const CodecSpeed& of(CodecId codec) const { return codecs[static_cast<std::size_t>(codec)]; }
};

/// docs/benchmarks.md, "Codec kernels": fp32, AVX-512, 64 MiB.
inline constexpr SpeedFigures measured_speeds{{{{9.2, 9.1, 11.5},
                                                {14.3, 12.5, 16.9},
                                                {14.0, 12.8, 14.5},
                                                {15.9, 15.7, 17.5},
                                                {6.4, 15.6, 13.3},
                                                {6.8, 13.9, 15.9},
                                                {15.3, 15.6, 17.6},
                                                {11.8, 13.8, 14.5}}}};

}  // namespace gradcoll
