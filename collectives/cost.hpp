// collectives/cost.hpp - how long a plan should take, from bytes, links and numbers of messages.
// For choosing between ways to do the same thing, not for promises. Pure: figures come from the
// tree or are the defaults below.
#pragma once

#include "collectives/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What the branches of a vertex are connected with.
struct LinkFigures {
    double gbytes_per_s = 0;  ///< of one branch's uplink, each direction
    double latency_us = 0;    ///< of one message
};

/// Used where the tree does not know. Inside a host: copies through shared memory. Between hosts: a
/// plain cluster network.
inline constexpr LinkFigures default_inside_host{6.0, 0.6};
inline constexpr LinkFigures default_between_hosts{3.0, 5.0};

/// What each further sender that hits a branch at the same time costs on links between hosts, as a
/// part of the time that the bytes take: why a ring can beat direct exchange there for long
/// messages.
inline constexpr double incast_loss_per_sender = 0.03;

/// The link between a vertex (not the root) and its parent; the defaults where the tree does not
/// know.
LinkFigures uplink_figures(const Tree& tree, int vertex);

/// The slowest of the links between `vertex` and its children.
LinkFigures link_figures(const Tree& tree, int vertex);

/// Whether the branches of `vertex` are whole hosts or more.
bool connects_hosts(const Tree& tree, int vertex);

/// What one phase takes on the slowest link between `vertex` and its branches, without latencies
/// and losses.
double link_us(const Tree& tree, int vertex, double wire_bytes);

/// Time of one phase (reduce-scatter or allgather) at one vertex for a vector that takes
/// `wire_bytes` in the codec used. Each branch's uplink carries wire_bytes * (degree - 1) / degree.
/// Source: alpha-beta model; SPEC S3.
double phase_us(const Tree& tree, int vertex, Exchange exchange, double wire_bytes);

/// Time of the whole call. Levels work at the same time on different chunks: the first chunk takes
/// the sum over the levels, every further one what the slowest level takes.
double predicted_us(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
