// collectives/predict/model.hpp - what one link, one message, one codec and one core take: every
// prediction, coarse or fine, is made of these formulas. Figures come from the tree or, where it
// does not know, from the tuning. Pure. Source: alpha-beta model.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

// ---- links

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
/// Whether it is a whole host, a branch of what connects hosts.
bool is_host(const Tree& tree, int vertex);

/// Whether the tree says how fast any of its links is. Where it does not (inside one host, most
/// often), chunks and exchanges are chosen by what was measured on shared memory, and messages are
/// not paced.
bool knows_links(const Tree& tree);
/// The same of the links between `vertex` and its children.
bool knows_links_below(const Tree& tree, int vertex);

/// How many times as long the bytes take because `senders` hit a branch of `vertex` at once
/// (Tuning::incast_loss_per_sender): why a ring can beat direct exchange between hosts for long
/// messages. Inside a host 1.
double many_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders);
/// The same, at most Tuning::most_incast_loss more.
double bounded_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders);

/// What a message takes on its way up from the farthest rank below a vertex, through the vertex's
/// uplink (of the root: up to it). Index: vertex id.
std::vector<double> climb_latencies_us(const Tree& tree, const Tuning& tuning);

/// What a byte takes that all ranks below a vertex send out of it together, each its part: the
/// slowest of the vertex's uplink and the links below it. `choices` say how many ranks have a part
/// (all holders of an element send it). Nothing may be merged. Index: vertex id.
std::vector<double> outlets_us_per_byte(const Tree& tree, const Tuning& tuning,
                                        const VertexChoices& choices);

/// Of all uplinks the one that is busy longest.
struct BusiestLink {
    int vertex = -1;  ///< whose uplink; -1: nothing is sent
    double us = 0;
};
/// `bytes`: over each vertex's uplink, each direction.
BusiestLink busiest_link(const Tree& tree, const Tuning& tuning, const std::vector<double>& bytes);

// ---- codecs and cores

/// Bytes on the wire for `elems` in a codec, without headers and rounding.
double wire_bytes(const PlanSpec& spec, CodecId codec, double elems);

/// More memory than any cache holds.
inline constexpr double beyond_caches = std::numeric_limits<double>::infinity();

/// What a core takes to encode `plain_bytes` of elements while `working_set_bytes` are at work on
/// its host, and to pack what that gives, if the codec says so. Exact: 0, they are sent from where
/// they are.
double encode_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);
/// The same to decode.
double decode_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);
/// To decode and add. Exact: to add.
double add_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);

/// How many of a host's ranks share a core: 1 where the tuning does not know the cores.
double ranks_a_core(const Tuning& tuning, int host_ranks);

// ---- chunks

/// Chunks one behind another: the first goes through all levels, each further one takes what the
/// busiest link or core needs for it, or a part of a chunk's whole way where too few may be under
/// way at a time.
struct ChunkFlow {
    double first_us = 0;
    double link_us = 0;  ///< of each chunk on the busiest link
    double core_us = 0;  ///< of each chunk on the busiest core
    double in_flight = std::numeric_limits<double>::infinity();

    double further_us() const { return std::max({link_us, core_us, first_us / in_flight}); }
    /// `further` chunks after the first; the last one may be a part of a chunk.
    double total_us(double further) const { return first_us + further * further_us(); }
};

}  // namespace gradcoll
