// plan/reports.hpp - reports on the plans: plans of some ranks and whether they are right, bytes on
// every link of the tree, and predicted times of the ways to do a call.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "collectives/predict/forecast.hpp"
#include "options.hpp"
#include "subject.hpp"

namespace gradcoll::plan {

/// Up to so many ranks all plans are proved together, too.
inline constexpr int most_verified_ranks = 512;

/// Reports what plans of some ranks cost and hold. Errors: those of Planner; internal for a plan
/// that is wrong.
gradcoll::Result<std::string> check_report(const Subject& subject, const Options& options);

/// Up to so many ranks all plans are made and counted; above, the formula answers, for the builders
/// that it knows.
inline constexpr int most_counted_ranks = 2048;

/// Returns one line or JSON object for each vertex with an uplink, in the tree's order. Errors:
/// those of make_plan().
gradcoll::Result<std::string> link_report(const Subject& subject, bool json);

struct Way {
    std::string algorithm;  ///< "auto", "tree, direct", "flat ring, ranks in order", ...
    std::string codecs;     ///< as for GC_CODEC: "2:4", "exact,2:4", "between=2:4"
    bool lossy = false;
    std::int64_t chunk_elems = 0;  ///< 0: the whole vector
    gradcoll::Forecast forecast;
    std::string why;  ///< what bounds it, in one sentence
};

/// Returns what the library would choose with the codecs of --codec, or exact; then every algorithm
/// with every codec that the type has and that needs no tolerance, or with exact and those of
/// --codec, each with its best chunk size: exact ones, then the others, ascending by time.
std::vector<Way> ways_of(const Subject& subject, const Options& options);

/// Returns the codecs that are left out because the user has not said what they may lose.
std::vector<gradcoll::CodecId> codecs_to_be_told(const Options& options);

std::string what_if_report(const Subject& subject, const Options& options);

}  // namespace gradcoll::plan
