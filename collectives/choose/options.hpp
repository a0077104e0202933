// collectives/choose/options.hpp - what the user asked for, as the policy reads it. Lists go by
// level, nearest the ranks first; the last entry holds for all levels above.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "collectives/choose/hop_codecs.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll {

/// An ExchangeWish is an exchange that the user named; nothing: automatic.
using ExchangeWish = std::optional<Exchange>;

/// CompressIf says when the codec that the user named is used.
enum class CompressIf : std::uint8_t { always, pays };

struct PolicyOptions {
    HopCodecs codecs;                   ///< empty: exact
    std::optional<CodecId> down_codec;  ///< nothing: that of the highest lossy level
    std::vector<ExchangeWish>
        level_exchanges;  ///< empty: automatic. Direct replaces single where that is impossible: at
                          ///< a level with a lossy codec and all below, with feedback, in other
                          ///< collectives
    std::optional<std::int64_t> chunk_bytes;  ///< nothing: automatic; 0: no pipelining
    bool feedback = false;
    CompressIf compress_if = CompressIf::always;  ///< pays: codec_choice.hpp
    /// This builder makes the plan, or flexreduce if it cannot.
    Builder builder = Builder::flexreduce;
    int chunks_in_flight = usual_chunks_in_flight;  ///< used for the prediction
    const Tuning* tuning = &shipped_tuning();  ///< the same on all ranks; never null, not owned

    ExchangeWish exchange_at(int level) const;
    /// Returns whether the user leaves the exchanges of a level to the policy.
    bool may_choose_exchange_at(int level) const { return !exchange_at(level).has_value(); }
    /// Returns the options with all codecs exact.
    PolicyOptions without_codecs() const;
};

/// Reads "auto", the name of an exchange, or a list of them by level, in which only single follows
/// single. Errors: invalid_argument naming the entry and what is allowed.
Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text);
/// Returns what each entry may be: "auto, direct, ring, ...".
std::string allowed_exchanges();

}  // namespace gradcoll
