// collectives/choose/exchange_choice.hpp - chooses the exchange of each vertex. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/choose/options.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns whether the branches are hosts between which no switch is known: the sources made the
/// vertex because they had none.
bool is_unknown_network(const Tree& tree, int vertex);

/// ExchangeCosts is what was compared at an inner vertex: one phase of the whole vector in the
/// codec of the vertex.
struct ExchangeCosts {
    struct Cost {
        Exchange exchange = Exchange::direct;
        double us = 0;
    };
    int vertex = -1;
    std::vector<Cost> costs;  ///< one for every exchange that may be chosen automatically
};

/// Returns, by vertex, for a vector (or chunk) of `count_elems`, the codecs and exchanges that the
/// options name, and the fastest exchange if they name none. Time: linear in vertices.
std::vector<VertexChoice> vertex_choices(const Tree& tree, const PlanSpec& call,
                                         const PolicyOptions& options, std::int64_t count_elems);

/// Returns the choices for a vector in chunks that the links cut: what a pipeline hides is no
/// reason for an exchange of many rounds.
std::vector<VertexChoice> vertex_choices_of_chunks(const Tree& tree, const PlanSpec& call,
                                                   const PolicyOptions& options,
                                                   std::int64_t chunk_elems);

/// Returns the costs at all inner vertices of `spec` that have an exchange of their own, ascending.
std::vector<ExchangeCosts> exchange_costs(const Tree& tree, const Tuning& tuning,
                                          const PlanSpec& spec);

}  // namespace gradcoll
