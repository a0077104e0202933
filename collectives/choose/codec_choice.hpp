// collectives/choose/codec_choice.hpp - whether a codec pays, level by level: encoding and decoding
// take a core's time, fewer bytes save the link's. Pure.
//
// A vector of m bytes that is cut in K parts takes at a level
//   exact       T_send(m/K)                                  and the sum,
//   compressed  T_send(r m/K) + T_enc(m/K) + T_dec(r m/K)    where decoding adds,
// for one part, r being what is left of the bytes; the times are those of a Forecast's level, so
// alpha, beta and gamma (how often each happens on the longest way) are what the exchange makes of
// them. Parts overlap: each further one takes what the link needs for it, or the core, whichever is
// more. Source: selective compression of HiPress (Bai et al., SOSP 2021), with the overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/choose/hop_codecs.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What was weighed at one level, nearest the ranks first.
struct CodecVerdict {
    int level = 0;
    CodecId codec = CodecId::exact;  ///< that was asked for, there or at some of its vertices
    std::int64_t parts = 1;
    LevelForecast compressed;  ///< of one part
    LevelForecast exact;       ///< of one part
    double compressed_us = 0;  ///< of all parts
    double exact_us = 0;
    // Of a codec that packs its messages, all parts; 0 of others. `compressed` is of the better.
    double packed_us = 0;
    double unpacked_us = 0;
    bool pays() const { return compressed_us < exact_us; }
    bool packing_pays() const { return packed_us <= unpacked_us; }
};

/// Of every level of `wished` (exchanges, chunks and codecs as they would be) that is lossy, at all
/// of its vertices or at some: these are weighed together.
/// From the root down, because what travels down stays encoded only below levels that are; so a
/// level is weighed with those above it as they turned out. Time: levels times vertices.
std::vector<CodecVerdict> weigh_codecs(const Tree& tree, const Tuning& tuning, PlanSpec wished);

/// `wished`, but exact at the levels at which it does not pay, and not packed where that does not.
HopCodecs codecs_that_pay(HopCodecs wished, const std::vector<CodecVerdict>& verdicts);

}  // namespace gradcoll
