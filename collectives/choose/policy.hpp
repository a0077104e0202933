// collectives/choose/policy.hpp - how a call is done on a tree: exchange by vertex, codecs by
// level, granule, chunk. Decided only on what all ranks know alike, so that all ranks decide the
// same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "collectives/choose/codec_choice.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

enum class ExchangeWish : std::uint8_t { automatic, direct, ring, recursive, single };

/// What the user asked for. Lists go by level, nearest the ranks first; the last entry holds for
/// all levels above.
struct PolicyOptions {
    std::vector<CodecId> level_codecs;  ///< empty: exact
    std::optional<CodecId> down_codec;  ///< nothing: that of the highest lossy level
    std::vector<ExchangeWish>
        level_exchanges;  ///< empty: automatic. Single is direct where it cannot be: level with
                          ///< a lossy codec and all below, feedback, other collectives
    std::optional<std::int64_t> chunk_bytes;  ///< nothing: automatic; 0: no pipelining
    bool feedback = false;
    CompressIf compress_if = CompressIf::always;    ///< pays: codec_choice.hpp
    int chunks_in_flight = usual_chunks_in_flight;  ///< for the prediction
    const Tuning* tuning = &shipped_tuning();  ///< the same on all ranks; never null, not owned
};

/// "2:4" or "exact,2:4": codecs by level. Errors: invalid_argument naming the entry and what is
/// allowed.
Result<std::vector<CodecId>> level_codecs_from(std::string_view text);
/// "auto", "direct", "ring", "recursive", "single" or a list by level, in which only single follows
/// single. Errors: as above.
Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text);

/// Automatic chunks where the tree knows its links: as collectives/pipeline.hpp says. Elsewhere
/// they are the tuning's. With several levels, chunks keep all of them at work at once. With one
/// there is nothing to overlap: large chunks only bound the scratch memory (docs/benchmarks.md,
/// "Chunks"). A chunk has at least so many granules for each rank, or shares would be too unequal.
inline constexpr std::int64_t min_granules_per_rank = 4;
/// Exact ranges are cut at cache lines.
inline constexpr std::int64_t exact_granule_bytes = 64;

struct Decision {
    PlanSpec spec;
    double predicted_us = 0;
    std::string why;  ///< for people: one line a choice
};

/// Fills the rest of `call` (collective, count_elems, type, elem_bytes, in_place as given). The
/// answer is not yet checked against the type: make_plan does that.
Decision decide(const Tree& tree, const PlanSpec& call, const PolicyOptions& options);

}  // namespace gradcoll
