// collectives/predict/forecast.cpp - the longest way through the tree, the busiest link, the
// busiest core.
#include "collectives/predict/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/build/merge.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/cost.hpp"
#include "collectives/predict/links.hpp"

namespace gradcoll {
namespace {

std::size_t at(int vertex) {
    return static_cast<std::size_t>(vertex);
}

double wire_bytes(const PlanSpec& spec, CodecId codec, double elems) {
    const auto block = static_cast<double>(lossy_block_elems);
    return elems / block *
           static_cast<double>(encoded_bytes(codec, spec.elem_bytes, lossy_block_elems));
}

/// Microseconds for `elems` at GB/s of plain elements.
double work_us(const PlanSpec& spec, double elems, double gbytes_per_s) {
    return elems * spec.elem_bytes / (gbytes_per_s * 1e3);
}

double loss_of(const Tuning& tuning, const Tree& tree, int vertex, double senders) {
    if (!connects_hosts(tree, vertex)) return 1;
    return 1 + std::min(tuning.incast_loss_per_sender * std::max(senders - 1, 0.0),
                        tuning.most_incast_loss);
}

struct Parts {
    double link_us = 0;
    double core_us = 0;
    double latency_us = 0;

    double sum() const { return link_us + core_us + latency_us; }
    Parts operator+(const Parts& other) const {
        return {link_us + other.link_us, core_us + other.core_us, latency_us + other.latency_us};
    }
};

/// What is known of the subtree of a vertex.
struct Below {
    double most_share = 1;   ///< of the vector: what the leaf owns that owns most
    double least_share = 1;  ///< and least
    double drain = 0;        ///< us a byte that leaves the vertex, its uplink and all below it
    double latency_us = 0;   ///< from the farthest leaf through the uplink
    double holders = 1;      ///< ranks with all sums of an element, as holder_counts()
    bool framed = false;     ///< encodings travel down through the vertex
    bool copied = false;     ///< bytes between the branches are copied by the host's cores
    int host_ranks = 1;      ///< that share the cores with the ranks below
    Parts longest;           ///< way of one chunk from a leaf up through the vertex and back down
    double core_us = 0;      ///< the most that one rank works for one chunk, this vertex included
};

/// One chunk on its way through the tree. Children have higher numbers than their parents.
class TreeWalk {
  public:
    TreeWalk(const Tree& tree, const PlanSpec& spec, const Tuning& tuning, double elems)
        : tree_(tree),
          spec_(spec),
          tuning_(tuning),
          elems_(elems),
          below_(at(tree.vertex_count())),
          levels_(at(tree.height())) {
        mark();
        for (int id = tree.vertex_count() - 1; id >= 0; --id) {
            if (!tree.is_leaf(id)) pass(id);
            if (id != tree.root()) leave(id);
        }
        encode_at_root();
    }

    const Below& root() const { return below_.front(); }
    std::vector<LevelForecast> levels() && { return std::move(levels_); }
    double largest_working_set_bytes() const {
        int most = 1;
        for (const Below& below : below_) most = std::max(most, below.host_ranks);
        return working_set_bytes(most);
    }

  private:
    /// Input and output of all ranks of a host, in the whole call.
    double working_set_bytes(int ranks) const {
        return static_cast<double>(spec_.count_elems) * spec_.elem_bytes *
               (spec_.in_place ? 1 : 2) * ranks;
    }

    /// From the root down. Framed: as Level::framed_down.
    void mark() {
        for (int id = 0; id < tree_.vertex_count(); ++id) {
            const Vertex& vertex = tree_.vertex(id);
            Below& below = below_[at(id)];
            const bool outside = id == tree_.root() || connects_hosts(tree_, vertex.parent);
            if (!outside)
                below.host_ranks = below_[at(vertex.parent)].host_ranks;
            else if (!connects_hosts(tree_, id))
                below.host_ranks = vertex.leaf_count;
            if (tree_.is_leaf(id)) continue;
            const bool above = id == tree_.root() || below_[at(vertex.parent)].framed;
            below.framed = above && spec_.down_codec != CodecId::exact &&
                           spec_.choices.of(id).codec != CodecId::exact;
            below.copied = tuning_.cores > 0 && !connects_hosts(tree_, id) && !knows_links(id);
        }
    }

    bool knows_links(int id) const {
        const auto children = tree_.children(id);
        return std::any_of(children.begin(), children.end(), [&](int child) {
            return tree_.vertex(child).uplink.bandwidth_gbytes_per_s > 0;
        });
    }

    /// How many ranks share a core.
    double crowd(const Below& below) const {
        if (tuning_.cores == 0) return 1;
        return std::max(1.0, static_cast<double>(below.host_ranks) / tuning_.cores);
    }

    void leave(int id) {
        Below& below = below_[at(id)];
        const LinkFigures link = uplink_figures(tree_, tuning_, id);
        below.drain = std::max(below.drain, 1 / (link.gbytes_per_s * 1e3));
        below.latency_us += link.latency_us;
    }

    /// The exchanges of an inner vertex, up and down.
    void pass(int id) {
        Below all = below_[at(id)];
        all.most_share = 0;
        double second_latency_us = 0;
        for (const int child : tree_.children(id)) {
            const Below& branch = below_[at(child)];
            all.most_share = std::max(all.most_share, branch.most_share);
            all.least_share = std::min(all.least_share, branch.least_share);
            all.drain = std::max(all.drain, branch.drain);
            if (branch.longest.sum() > all.longest.sum()) all.longest = branch.longest;
            all.core_us = std::max(all.core_us, branch.core_us);
            all.host_ranks = std::max(all.host_ranks, branch.host_ranks);
            second_latency_us =
                std::max(second_latency_us, std::min(all.latency_us, branch.latency_us));
            all.latency_us = std::max(all.latency_us, branch.latency_us);
        }
        const double message_latency_us = all.latency_us + second_latency_us;
        const bool single = spec_.choices.of(id).exchange == Exchange::single;
        const Parts here = single ? single_exchange(id, all, message_latency_us)
                                  : exchange(id, all, message_latency_us);
        Below& below = below_[at(id)];
        below.latency_us = all.latency_us;
        if (single)
            keep_all(id, all);
        else
            split(id, all);
        below.longest = all.longest + here;
        below.core_us = all.core_us + here.core_us + (all.copied ? here.link_us : 0);
        LevelForecast& level = levels_[at(tree_.vertex(id).height - 1)];
        if (level.vertex < 0 || here.sum() > level.sum_us())
            level = {id, here.link_us, here.core_us, here.latency_us};
    }

    /// Everybody keeps a part; what leaves the vertex leaves all branches alike.
    void split(int id, const Below& all) {
        const auto degree = static_cast<double>(tree_.children(id).size());
        Below& below = below_[at(id)];
        below.most_share = all.most_share / degree;
        below.least_share = all.least_share / degree;
        below.drain = all.drain / degree;
    }

    /// Everybody keeps everything.
    void keep_all(int id, const Below& all) {
        Below& below = below_[at(id)];
        below.most_share = all.most_share;
        below.least_share = all.least_share;
        below.holders = 0;
        for (const int child : tree_.children(id)) below.holders += below_[at(child)].holders;
        for (const int child : tree_.children(id)) {
            const Below& branch = below_[at(child)];
            below.drain = std::max(below.drain, branch.drain * branch.holders / below.holders);
        }
    }

    /// Every holder hears once from each other branch, and tells as many as they are more than
    /// those of its own.
    Parts single_exchange(int id, const Below& all, double message_latency_us) const {
        const auto others = static_cast<double>(tree_.children(id).size() - 1);
        const double bytes = wire_bytes(spec_, CodecId::exact, elems_);
        const double set = working_set_bytes(all.host_ranks);
        double holders = 0;
        for (const int child : tree_.children(id)) holders += below_[at(child)].holders;
        Parts parts;
        double most_told = 0;
        for (const int child : tree_.children(id)) {
            const Below& branch = below_[at(child)];
            const double told = holders - branch.holders;
            most_told = std::max(most_told, std::max(others, told / branch.holders));
            parts.link_us = std::max(
                parts.link_us, bytes * branch.drain * std::max(branch.holders * others, told));
        }
        const double moved = elems_ * all.most_share * others;
        if (all.copied)
            parts.link_us = work_us(spec_, moved, copy_gbytes_per_s(id, set));
        else
            parts.link_us *= loss_of(tuning_, tree_, id, others);
        parts.latency_us = message_latency_us;
        parts.core_us = (others + most_told) * tuning_.message_us +
                        work_us(spec_, moved, tuning_.of(CodecId::exact).decode_sum.at(set));
        return crowded(parts, all, 1);
    }

    Parts exchange(int id, const Below& all, double message_latency_us) const {
        const VertexChoice choice = spec_.choices.of(id);
        const auto degree = static_cast<double>(tree_.children(id).size());
        const double part = (degree - 1) / degree;
        const int rounds = round_count(choice.exchange, static_cast<int>(degree));
        const CodecId down = all.framed ? spec_.down_codec : CodecId::exact;
        const bool goes_up = spec_.collective != Collective::allgather;
        const bool goes_down = spec_.collective != Collective::reduce_scatter_block;
        const double bytes = (goes_up ? wire_bytes(spec_, choice.codec, elems_) : 0) +
                             (goes_down ? wire_bytes(spec_, down, elems_) : 0);
        const double phases = (goes_up ? 1 : 0) + (goes_down ? 1 : 0);
        const double set = working_set_bytes(all.host_ranks);
        const double moved = elems_ * all.most_share * part;
        Parts parts;
        parts.link_us =
            all.copied ? bytes * all.most_share * part / copy_gbytes_per_s(id, set) / 1e3
                       : bytes * part * all.drain *
                             loss_of(tuning_, tree_, id,
                                     senders_at_once(choice.exchange, static_cast<int>(degree)));
        parts.latency_us = phases * rounds * message_latency_us;
        parts.core_us =
            2 * phases * rounds * messages_a_round(id, all, choice.exchange) * tuning_.message_us;
        const CodecSpeed& up = tuning_.of(choice.codec);
        if (goes_up) parts.core_us += work_us(spec_, moved, up.decode_sum.at(set));
        if (goes_up && choice.codec != CodecId::exact)
            parts.core_us += work_us(spec_, moved, up.encode.at(set));
        if (goes_down && down != CodecId::exact)
            parts.core_us += work_us(spec_, moved, tuning_.of(down).decode.at(set));
        return crowded(parts, all, phases * rounds);
    }

    double copy_gbytes_per_s(int id, double set) const {
        return tuning_.link_below(tree_.vertex(id).kind).gbytes_per_s.at(set);
    }

    /// Ranks that share a core do their work one after another, and wait for their turns.
    Parts crowded(Parts parts, const Below& all, double rounds) const {
        const double ranks_a_core = crowd(all);
        parts.core_us *= ranks_a_core;
        if (all.copied) parts.link_us *= ranks_a_core;
        if (ranks_a_core > 1) parts.latency_us += rounds * tuning_.turn_us;
        return parts;
    }

    /// Sent by one rank: one to every owner that it shares with in another branch; a direct
    /// exchange has to do with all branches at once, others with one a round.
    double messages_a_round(int id, const Below& all, Exchange exchange) const {
        double count = 0;
        for (const int child : tree_.children(id))
            count += std::clamp(all.most_share / below_[at(child)].least_share, 1.0,
                                static_cast<double>(tree_.vertex(child).leaf_count));
        const auto degree = static_cast<double>(tree_.children(id).size());
        return exchange == Exchange::direct ? count - 1 : count / degree;
    }

    /// The owner encodes once and decodes its own.
    void encode_at_root() {
        Below& root = below_.front();
        if (!root.framed || spec_.collective == Collective::reduce_scatter_block) return;
        const CodecSpeed& speed = tuning_.of(spec_.down_codec);
        const double owned = elems_ * root.most_share;
        const double set = largest_working_set_bytes();
        const double us = (work_us(spec_, owned, speed.encode.at(set)) +
                           work_us(spec_, owned, speed.decode.at(set))) *
                          crowd(root);
        root.longest.core_us += us;
        root.core_us += us;
        levels_.back().core_us += us;
    }

    const Tree& tree_;
    const PlanSpec& spec_;
    const Tuning& tuning_;
    double elems_;
    std::vector<Below> below_;
    std::vector<LevelForecast> levels_;
};

Bound largest_of(const Parts& parts) {
    if (parts.link_us >= parts.core_us && parts.link_us >= parts.latency_us) return Bound::link;
    return parts.core_us >= parts.latency_us ? Bound::core : Bound::latency;
}

void find_slowest_link(Forecast& forecast, const Tree& tree, const Tuning& tuning) {
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const double us =
            forecast.bytes_on_links[at(id)] / (uplink_figures(tree, tuning, id).gbytes_per_s * 1e3);
        if (us <= forecast.slowest_link_us) continue;
        forecast.slowest_link_us = us;
        forecast.slowest_link = id;
    }
}

/// Levels of a tree with merged vertices, as those of the tree that it was made of.
std::vector<LevelForecast> in_given_tree(const Tree& tree, const PlannedTree& planned,
                                         std::vector<LevelForecast> levels) {
    if (!planned.has_merged()) return levels;
    std::vector<LevelForecast> given(at(tree.height()));
    for (LevelForecast& level : levels) {
        level.vertex = planned.given_vertex(level.vertex);
        LevelForecast& known = given[at(tree.vertex(level.vertex).height - 1)];
        if (known.vertex < 0 || level.sum_us() > known.sum_us()) known = level;
    }
    return given;
}

void take(Forecast& forecast, const Parts& parts) {
    forecast.link_us = parts.link_us;
    forecast.core_us = parts.core_us;
    forecast.latency_us = parts.latency_us;
    forecast.total_us = parts.sum();
    forecast.bound = largest_of(parts);
}

}  // namespace

std::string_view name_of(Bound bound) {
    constexpr std::string_view names[] = {"link", "core", "latency", "chunks in flight"};
    return names[static_cast<std::size_t>(bound)];
}

Forecast forecast_tree(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                       int chunks_in_flight) {
    Forecast forecast;
    forecast.bytes_on_links = expected_on_uplinks(tree, spec);
    if (spec.count_elems == 0 || tree.rank_count() == 1) return forecast;
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    forecast.chunks = (spec.count_elems + chunk - 1) / chunk;
    const double further = static_cast<double>(spec.count_elems) / static_cast<double>(chunk) - 1;
    const PlannedTree planned(tree, spec);
    TreeWalk walk(planned.tree(), planned.spec(), tuning, static_cast<double>(chunk));
    take(forecast, walk.root().longest);
    forecast.working_set_bytes = walk.largest_working_set_bytes();
    find_slowest_link(forecast, tree, tuning);
    const double chunks = further + 1;
    const double core_us = walk.root().core_us;
    forecast.core_total_us = core_us * chunks;
    forecast.levels = in_given_tree(tree, planned, std::move(walk).levels());
    if (further <= 0) return forecast;
    const double link_us = forecast.slowest_link_us / chunks;
    const double waiting_us =
        (forecast.link_us + forecast.core_us + forecast.latency_us) / chunks_in_flight;
    const double step_us = std::max({link_us, core_us, waiting_us});
    forecast.total_us += further * step_us;
    if (further >= 1)
        forecast.bound = step_us == link_us   ? Bound::link
                         : step_us == core_us ? Bound::core
                                              : Bound::in_flight;
    return forecast;
}

FlatForecaster::FlatForecaster(const Tree& tree, const Tuning& tuning)
    : tree_(tree), tuning_(tuning) {}

Forecast FlatForecaster::of_links(const std::vector<double>& bytes_up,
                                  const std::vector<double>& bytes_down) const {
    Forecast forecast;
    for (std::size_t id = 0; id < bytes_up.size(); ++id)
        forecast.bytes_on_links.push_back(std::max(bytes_up[id], bytes_down[id]));
    find_slowest_link(forecast, tree_, tuning_);
    return forecast;
}

Forecast FlatForecaster::ring(std::span<const int> order, const PlanSpec& call,
                              CodecId codec) const {
    const auto ranks = static_cast<double>(order.size());
    const double elems = static_cast<double>(call.count_elems) / ranks;
    const double rounds = ranks - 1;
    std::vector<double> up(at(tree_.vertex_count()), 0.0);
    std::vector<double> down = up;
    double latency_us = 0;
    const double bytes = 2 * rounds * wire_bytes(call, codec, elems);
    for (std::size_t i = 0; i < order.size(); ++i) {
        int from = tree_.leaf_of(order[i]);
        int to = tree_.leaf_of(order[(i + 1) % order.size()]);
        double way_us = 0;
        while (from != to) {
            int& lower = from > to ? from : to;
            (from > to ? up : down)[at(lower)] += bytes;
            way_us += uplink_figures(tree_, tuning_, lower).latency_us;
            lower = tree_.vertex(lower).parent;
        }
        latency_us = std::max(latency_us, way_us);
    }
    Forecast forecast = of_links(up, down);
    const CodecSpeed& speed = tuning_.of(codec);
    double core_us = work_us(call, elems, speed.decode_sum.in_memory()) + 4 * tuning_.message_us;
    if (codec != CodecId::exact)
        core_us += work_us(call, elems, speed.encode.in_memory()) +
                   work_us(call, elems, speed.decode.in_memory());
    take(forecast, {forecast.slowest_link_us, rounds * core_us, 2 * rounds * latency_us});
    forecast.core_total_us = forecast.core_us;
    return forecast;
}

Forecast FlatForecaster::direct(const PlanSpec& call, CodecId codec) const {
    const auto ranks = static_cast<double>(tree_.rank_count());
    const double elems = static_cast<double>(call.count_elems) / ranks;
    const double bytes = 2 * wire_bytes(call, codec, elems);
    std::vector<double> links(at(tree_.vertex_count()), 0.0);
    std::vector<double> to_rank(links.size(), 0.0);
    for (int id = tree_.vertex_count() - 1; id > 0; --id) {
        const auto leaves = static_cast<double>(tree_.vertex(id).leaf_count);
        links[at(id)] = leaves * (ranks - leaves) * bytes;
        to_rank[at(id)] += uplink_figures(tree_, tuning_, id).latency_us;
        double& above = to_rank[at(tree_.vertex(id).parent)];
        above = std::max(above, to_rank[at(id)]);
    }
    Forecast forecast = of_links(links, links);
    const CodecSpeed& speed = tuning_.of(codec);
    const double moved = elems * (ranks - 1);
    double core_us =
        work_us(call, moved, speed.decode_sum.in_memory()) + 4 * (ranks - 1) * tuning_.message_us;
    if (codec != CodecId::exact)
        core_us += work_us(call, moved, speed.encode.in_memory()) +
                   work_us(call, moved, speed.decode.in_memory());
    const double loss = loss_of(tuning_, tree_, tree_.root(), ranks - 1);
    take(forecast, {forecast.slowest_link_us * loss, core_us, 4 * to_rank.front()});
    forecast.core_total_us = forecast.core_us;
    return forecast;
}

}  // namespace gradcoll
