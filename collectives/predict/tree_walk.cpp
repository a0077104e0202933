// collectives/predict/tree_walk.cpp - finds the longest way through the tree, and the busiest core.
#include "collectives/predict/tree_walk.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {

struct TreeWalk::Branches {
    int vertex = 0;
    double degree = 0;
    Below worst;                   ///< the worst of all branches, in each respect
    double us_per_byte = 0;        ///< for a byte that leaves a branch, of the slowest
    double message_us = 0;         ///< latency up from the two farthest branches' farthest ranks
    double holders = 0;            ///< holders of an element, in all branches together
    bool copied = false;           ///< the host's cores copy the bytes between the branches
    double working_set_bytes = 0;  ///< working set of the host
};

/// Visits the vertices from the last to the first: children have higher numbers than their parents,
/// so each vertex comes after all that is below it.
TreeWalk::TreeWalk(const Tree& tree, const PlanSpec& spec, const Tuning& tuning, double chunk_elems)
    : tree_(tree),
      spec_(spec),
      tuning_(tuning),
      chunk_elems_(chunk_elems),
      framed_(framed_down(tree, spec)),
      holders_(holder_counts(tree, spec.choices)),
      climbs_us_(climb_latencies_us(tree, tuning)),
      outlets_(outlets_us_per_byte(tree, tuning, spec.choices)),
      below_(at(tree.vertex_count())),
      levels_(at(tree.height())) {
    count_host_ranks();
    for (int vertex = tree.vertex_count() - 1; vertex >= 0; --vertex)
        if (!tree.is_leaf(vertex)) exchange_at(vertex);
    encode_at_root();
}

double TreeWalk::largest_working_set_bytes() const {
    int most = 1;
    for (const Below& below : below_) most = std::max(most, below.host_ranks);
    return working_set_bytes(most);
}

/// Returns the bytes of input and output of all ranks of a host, in the whole call.
double TreeWalk::working_set_bytes(int host_ranks) const {
    return static_cast<double>(spec_.count_elems) * spec_.elem_bytes * (spec_.in_place ? 1 : 2) *
           host_ranks;
}

/// Counts the ranks of each host. A host is the highest vertex that connects none; all vertices
/// inside it share its cores.
void TreeWalk::count_host_ranks() {
    for (int id = 0; id < tree_.vertex_count(); ++id) {
        const Vertex& vertex = tree_.vertex(id);
        const bool outside = id == tree_.root() || connects_hosts(tree_, vertex.parent);
        if (!outside)
            below_[at(id)].host_ranks = below_[at(vertex.parent)].host_ranks;
        else if (!connects_hosts(tree_, id))
            below_[at(id)].host_ranks = vertex.leaf_count;
    }
}

TreeWalk::Branches TreeWalk::branches_of(int vertex) const {
    Branches all;
    all.vertex = vertex;
    all.degree = static_cast<double>(tree_.children(vertex).size());
    all.worst = below_[at(vertex)];
    all.worst.most_share = 0;
    double farthest_us = 0;
    double second_us = 0;
    for (const int child : tree_.children(vertex)) {
        const Below& branch = below_[at(child)];
        all.worst.most_share = std::max(all.worst.most_share, branch.most_share);
        all.worst.least_share = std::min(all.worst.least_share, branch.least_share);
        if (branch.longest.sum_us() > all.worst.longest.sum_us())
            all.worst.longest = branch.longest;
        all.worst.core_us = std::max(all.worst.core_us, branch.core_us);
        all.worst.host_ranks = std::max(all.worst.host_ranks, branch.host_ranks);
        all.us_per_byte = std::max(all.us_per_byte, outlets_[at(child)]);
        all.holders += holders_[at(child)];
        second_us = std::max(second_us, std::min(farthest_us, climbs_us_[at(child)]));
        farthest_us = std::max(farthest_us, climbs_us_[at(child)]);
    }
    all.message_us = farthest_us + second_us;
    all.copied =
        tuning_.cores > 0 && !connects_hosts(tree_, vertex) && !knows_links_below(tree_, vertex);
    all.working_set_bytes = working_set_bytes(all.worst.host_ranks);
    return all;
}

/// Adds both phases of a vertex to what its branches took. After a single exchange everybody keeps
/// everything, after any other a part.
void TreeWalk::exchange_at(int vertex) {
    const Branches all = branches_of(vertex);
    const bool single = spec_.choices.of(vertex).exchange == Exchange::single;
    const TimeParts here = single ? single_exchange(all) : split_exchange(all);
    Below& below = below_[at(vertex)];
    below.most_share = all.worst.most_share / (single ? 1 : all.degree);
    below.least_share = all.worst.least_share / (single ? 1 : all.degree);
    below.longest = all.worst.longest + here;
    below.core_us = all.worst.core_us + here.core_us + (all.copied ? here.link_us : 0);
    LevelForecast& level = levels_[at(tree_.vertex(vertex).height - 1)];
    if (level.vertex < 0 || here.sum_us() > level.sum_us()) level = {here, vertex};
}

/// Returns the time of a single exchange. Every holder receives once from each other branch, and
/// sends as many messages as the other branches have holders for each of its own.
TimeParts TreeWalk::single_exchange(const Branches& all) const {
    const double others = all.degree - 1;
    const double bytes = wire_bytes(spec_, CodecId::exact, chunk_elems_);
    const double added_bytes = chunk_elems_ * all.worst.most_share * others * spec_.elem_bytes;
    TimeParts parts;
    double most_told = 0;
    for (const int child : tree_.children(all.vertex)) {
        const double own = holders_[at(child)];
        const double told = all.holders - own;
        most_told = std::max(most_told, std::max(others, told / own));
        parts.link_us =
            std::max(parts.link_us, bytes * outlets_[at(child)] * std::max(own * others, told));
    }
    if (all.copied)
        parts.link_us = added_bytes / (copy_gbytes_per_s(all) * 1e3);
    else
        parts.link_us *= bounded_senders_factor(tree_, tuning_, all.vertex, others);
    parts.latency_us = all.message_us;
    parts.core_us = (others + most_told) * tuning_.message_us +
                    add_us(tuning_, CodecId::exact, added_bytes, all.working_set_bytes);
    return with_crowded_cores(parts, all, 1);
}

/// Returns the time of an exchange of parts: every branch sends (degree - 1) / degree of what it
/// has, or a multiple of that, up and down alike; exchanges differ in rounds and in how many send
/// to one at a time.
TimeParts TreeWalk::split_exchange(const Branches& all) const {
    const VertexChoice choice = spec_.choices.of(all.vertex);
    const int degree = static_cast<int>(all.degree);
    const double part = (all.degree - 1) / all.degree * times_least_bytes(choice.exchange, degree);
    const CodecId down = framed_[at(all.vertex)] != 0 ? spec_.down_codec : CodecId::exact;
    const bool goes_up = spec_.collective != Collective::allgather;
    const bool goes_down = spec_.collective != Collective::reduce_scatter_block;
    const double rounds = (goes_up ? round_count(choice.exchange, degree) : 0) +
                          (goes_down ? rounds_down(choice.exchange, degree) : 0);
    const double bytes = (goes_up ? wire_bytes(spec_, choice.codec, chunk_elems_) : 0) +
                         (goes_down ? wire_bytes(spec_, down, chunk_elems_) : 0);
    const double moved_bytes = chunk_elems_ * all.worst.most_share * part * spec_.elem_bytes;
    const double set = all.working_set_bytes;
    TimeParts parts;
    if (all.copied)
        parts.link_us = bytes * all.worst.most_share * part / copy_gbytes_per_s(all) / 1e3;
    else
        parts.link_us = bytes * part * all.us_per_byte *
                        bounded_senders_factor(tree_, tuning_, all.vertex,
                                               senders_at_once(choice.exchange, degree));
    parts.latency_us = rounds * all.message_us;
    parts.core_us = 2 * rounds * messages_a_round(all, choice.exchange) * tuning_.message_us;
    if (goes_up)
        parts.core_us += add_us(tuning_, choice.codec, moved_bytes, set) +
                         encode_us(tuning_, choice.codec, moved_bytes, set);
    if (goes_down) parts.core_us += decode_us(tuning_, down, moved_bytes, set);
    return with_crowded_cores(parts, all, rounds);
}

double TreeWalk::copy_gbytes_per_s(const Branches& all) const {
    return tuning_.link_below(tree_.vertex(all.vertex).kind).gbytes_per_s.at(all.working_set_bytes);
}

/// Returns the time for ranks that share a core: they do their work one after another, and wait for
/// their turns.
TimeParts TreeWalk::with_crowded_cores(TimeParts parts, const Branches& all, double rounds) const {
    const double crowd = ranks_a_core(tuning_, all.worst.host_ranks);
    parts.core_us *= crowd;
    if (all.copied) parts.link_us *= crowd;
    if (crowd > 1) parts.latency_us += rounds * tuning_.turn_us;
    return parts;
}

/// Returns the messages that one rank sends in a round: one to every owner that it shares with in
/// another branch. Some exchanges deal with all branches at once, others with one a round, or a
/// few.
double TreeWalk::messages_a_round(const Branches& all, Exchange exchange) const {
    double count = 0;
    for (const int child : tree_.children(all.vertex))
        count += std::clamp(all.worst.most_share / below_[at(child)].least_share, 1.0,
                            static_cast<double>(tree_.vertex(child).leaf_count));
    return is_all_at_once(exchange)
               ? count - 1
               : count / all.degree * senders_at_once(exchange, static_cast<int>(all.degree));
}

/// Adds the root's encoding: if encodings travel down, its owners encode their final values once
/// and decode them.
void TreeWalk::encode_at_root() {
    if (framed_.front() == 0 || spec_.collective == Collective::reduce_scatter_block) return;
    Below& root = below_.front();
    const double owned_bytes = chunk_elems_ * root.most_share * spec_.elem_bytes;
    const double set = largest_working_set_bytes();
    const double us = (encode_us(tuning_, spec_.down_codec, owned_bytes, set) +
                       decode_us(tuning_, spec_.down_codec, owned_bytes, set)) *
                      ranks_a_core(tuning_, root.host_ranks);
    root.longest.core_us += us;
    root.core_us += us;
    levels_.back().core_us += us;
}

}  // namespace gradcoll
