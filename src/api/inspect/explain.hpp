// api/inspect/explain.hpp - from a call to its explanation. The answers are those of the code that
// serves calls: classify(), the route, decision_for(), make_plan().
#pragma once

#include <functional>

#include "api/comm/route.hpp"
#include "api/edge/request.hpp"
#include "api/inspect/explanation.hpp"
#include "api/settings/settings.hpp"
#include "topology/sources/job/discover.hpp"

namespace gradcoll {

/// What an explanation needs to know of a communicator that is there, or is only thought of.
struct ExplainFacts {
    const DiscoveredTree& tree;
    int rank = 0;
    const Settings& settings;
    const SettingsText& text;
};

/// Errors: invalid_op, invalid_type, invalid_count as for the call itself.
Status check_explained(const ReduceArguments& call);

/// `route_for(shape)`: where the communicator sends such a call. Errors: those of
/// check_explained(); what make_plan says.
Result<Explanation> explain(const ExplainFacts& facts, const ReduceArguments& call,
                            const std::function<Route(const CallShape&)>& route_for);
/// Of a call on an intercommunicator of `rank_count` ranks on this side.
Explanation explain_intercommunicator(const ReduceArguments& call, int rank, int rank_count);

}  // namespace gradcoll
