// api/inspect/explain.hpp - from a call to its explanation. The answers are those of the code that
// serves calls: classify(), the route, decision_for(), make_plan().
#pragma once

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

/// `route_for(shape)`: where the communicator sends such a call. Errors: invalid_count,
/// invalid_type, invalid_op as for the call itself; what make_plan says.
template <class RouteFor>
Result<Explanation> explain(const ExplainFacts& facts, const ReduceArguments& call,
                            RouteFor&& route_for);
/// Of a call on an intercommunicator of `rank_count` ranks on this side.
Explanation explain_intercommunicator(const ReduceArguments& call, int rank, int rank_count);

// ---- parts of explain()

Status check_explained(const ReduceArguments& call);
Explanation begin_explanation(const ExplainFacts& facts, const ReduceArguments& call);
Status add_route(const ExplainFacts& facts, const Route& route, Explanation& out);

template <class RouteFor>
Result<Explanation> explain(const ExplainFacts& facts, const ReduceArguments& call,
                            RouteFor&& route_for) {
    GRADCOLL_TRY(check_explained(call));
    Explanation out = begin_explanation(facts, call);
    const Classified classified = classify(call.count, call.datatype, call.op);
    if (classified.passes()) {
        out.pass_reason = text_of(classified.pass_reason);
        return out;
    }
    if (out.rank_count == 1) {
        out.destination = Destination::local;
        out.exact_reason = "nothing is sent";
        return out;
    }
    GRADCOLL_TRY(add_route(facts, route_for(classified.shape), out));
    return out;
}

}  // namespace gradcoll
