// collectives/choose/codec_choice.hpp - decides level by level whether a codec pays: encoding and
// decoding take a core's time, fewer bytes save the link's. Pure.
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

/// A CodecVerdict says what was compared at one level; level 0 is nearest the ranks.
struct CodecVerdict {
    int level = 0;
    CodecId codec = CodecId::exact;  ///< the codec that was asked for, there or at some of its
                                     ///< vertices
    std::int64_t parts = 1;
    LevelForecast compressed;  ///< time of one part
    LevelForecast exact;       ///< time of one part
    double compressed_us = 0;  ///< time of all parts
    double exact_us = 0;
    // These are for a codec that packs its messages, for all parts, else 0. `compressed` is the
    // better of the two.
    double packed_us = 0;
    double unpacked_us = 0;
    bool pays() const { return compressed_us < exact_us; }
    bool packing_pays() const { return packed_us <= unpacked_us; }
};

/// Compares every level of `wished` (exchanges, chunks and codecs as they would be) that is lossy
/// at some of its vertices, which are compared together. It goes from the root down, because what
/// travels down stays encoded only below levels that are; so a level is compared with the result
/// for those above it. Time: levels times vertices.
std::vector<CodecVerdict> weigh_codecs(const Tree& tree, const Tuning& tuning, PlanSpec wished);

/// Returns `wished`, made exact at the levels where it does not pay, and unpacked where packing
/// does not.
HopCodecs codecs_that_pay(HopCodecs wished, const std::vector<CodecVerdict>& verdicts);

}  // namespace gradcoll
