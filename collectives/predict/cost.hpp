// collectives/predict/cost.hpp - how long a plan should take, from bytes, links and numbers of
// messages. For choosing between ways to do the same thing, not for promises. Pure: figures come
// from the tree or, where it does not know, from the tuning.
#pragma once

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What the branches of a vertex are connected with.
struct LinkFigures {
    double gbytes_per_s = 0;  ///< of one branch's uplink, each direction
    double latency_us = 0;    ///< of one message
};

/// The link between a vertex (not the root) and its parent, for long vectors.
LinkFigures uplink_figures(const Tree& tree, const Tuning& tuning, int vertex);

/// The slowest of the links between `vertex` and its children.
LinkFigures link_figures(const Tree& tree, const Tuning& tuning, int vertex);

/// Whether the branches of `vertex` are whole hosts or more.
bool connects_hosts(const Tree& tree, int vertex);

/// What one phase takes on the slowest link between `vertex` and its branches, without latencies
/// and losses.
double link_us(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes);

/// Time of one phase (reduce-scatter or allgather) at one vertex for a vector that takes
/// `wire_bytes` in the codec used. Each branch's uplink carries wire_bytes * (degree - 1) / degree;
/// of a single exchange, whose one phase is both, degree times that.
/// Between hosts many senders at once cost more (Tuning::incast_loss_per_sender): why a ring can
/// beat direct exchange there for long messages. Source: alpha-beta model.
double phase_us(const Tree& tree, const Tuning& tuning, int vertex, Exchange exchange,
                double wire_bytes);

}  // namespace gradcoll
