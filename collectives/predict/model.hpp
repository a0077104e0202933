// collectives/predict/model.hpp - the time that one link, one message, one codec and one core take:
// every prediction, coarse or fine, uses these formulas. Figures come from the tree or, if it does
// not know, from the tuning. Pure. Source: alpha-beta model.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

// ---- links

/// LinkFigures describes the links between a vertex and its branches.
struct LinkFigures {
    double gbytes_per_s = 0;  ///< for one branch's uplink, in each direction
    double latency_us = 0;    ///< for one message
};

/// Returns the figures of the link between a vertex (not the root) and its parent, for long
/// vectors.
LinkFigures uplink_figures(const Tree& tree, const Tuning& tuning, int vertex);

/// Returns the figures of the slowest link between `vertex` and its children.
LinkFigures link_figures(const Tree& tree, const Tuning& tuning, int vertex);

/// Returns whether the branches of `vertex` are whole hosts or more.
bool connects_hosts(const Tree& tree, int vertex);
/// Returns whether it is a whole host, a branch of what connects hosts.
bool is_host(const Tree& tree, int vertex);

/// Returns whether the tree says how fast any of its links is. If it does not (inside one host,
/// most often), chunks and exchanges are chosen by what was measured on shared memory, and messages
/// are not paced.
bool knows_links(const Tree& tree);
/// Returns whether the tree knows a link between `vertex` and its children.
bool knows_links_below(const Tree& tree, int vertex);

/// Returns how many times as long the bytes take because `senders` hit a branch of `vertex` at once
/// (Tuning::incast_loss_per_sender): this is why a ring can beat direct exchange between hosts for
/// long messages. Inside a host it is 1.
double many_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders);
/// Returns many_senders_factor(), at most Tuning::most_incast_loss above 1.
double bounded_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders);

/// Returns the latency of a message on its way up from the farthest rank below a vertex, through
/// the vertex's uplink (for the root: up to it). Index: vertex id.
std::vector<double> climb_latencies_us(const Tree& tree, const Tuning& tuning);

/// Returns the time for a byte that all ranks below a vertex send out of it together, each its
/// part: that of the slowest of the vertex's uplink and the links below it. `choices` say how many
/// ranks have a part (all holders of an element send it). Nothing may be merged. Index: vertex id.
std::vector<double> outlets_us_per_byte(const Tree& tree, const Tuning& tuning,
                                        const VertexChoices& choices);

/// BusiestLink is the uplink that is busy longest.
struct BusiestLink {
    int vertex = -1;  ///< the vertex below the link; -1: nothing is sent
    double us = 0;
};
/// Returns the busiest link; `bytes` are those over each vertex's uplink, in each direction.
BusiestLink busiest_link(const Tree& tree, const Tuning& tuning, const std::vector<double>& bytes);

// ---- codecs and cores

/// Returns the bytes on the wire for `elems` in a codec, without headers and rounding.
double wire_bytes(const PlanSpec& spec, CodecId codec, double elems);

/// This is more memory than any cache holds.
inline constexpr double beyond_caches = std::numeric_limits<double>::infinity();

/// Returns the time of a core to encode `plain_bytes` of elements while `working_set_bytes` are at
/// work on its host, and to pack the result, if the codec says so. Exact: 0, since they are sent
/// from where they are.
double encode_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);
/// Returns the time of a core to decode.
double decode_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);
/// Returns the time of a core to decode and add; exact: to add.
double add_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes);

/// Returns how many of a host's ranks share a core: 1 if the tuning does not know the cores.
double ranks_a_core(const Tuning& tuning, int host_ranks);

// ---- chunks

/// ChunkFlow describes chunks one behind another: the first goes through all levels, each further
/// one takes what the busiest link or core needs for it, or a part of a chunk's whole way if too
/// few may be under way at a time.
struct ChunkFlow {
    double first_us = 0;
    double link_us = 0;  ///< time of each chunk on the busiest link
    double core_us = 0;  ///< time of each chunk on the busiest core
    double in_flight = std::numeric_limits<double>::infinity();

    double further_us() const { return std::max({link_us, core_us, first_us / in_flight}); }
    /// Returns the time of `further` chunks after the first; the last one may be a part of a chunk.
    double total_us(double further) const { return first_us + further * further_us(); }
};

}  // namespace gradcoll
