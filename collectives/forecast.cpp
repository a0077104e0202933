// collectives/forecast.cpp - the longest way through the tree, the busiest link, the busiest core.
#include "collectives/forecast.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/cost.hpp"
#include "collectives/exchange.hpp"
#include "collectives/links.hpp"

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

double loss_of(const SpeedFigures& speeds, const Tree& tree, int vertex, double senders) {
    if (!connects_hosts(tree, vertex)) return 1;
    return 1 + std::min(speeds.incast_loss_per_sender * std::max(senders - 1, 0.0),
                        speeds.most_incast_loss);
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
    bool framed = false;     ///< encodings travel down through the vertex
    Parts longest;           ///< way of one chunk from a leaf up through the vertex and back down
    double core_us = 0;      ///< the most that one rank works for one chunk, this vertex included
};

/// One chunk on its way through the tree. Children have higher numbers than their parents.
class TreeWalk {
  public:
    TreeWalk(const Tree& tree, const PlanSpec& spec, const SpeedFigures& speeds, double elems)
        : tree_(tree),
          spec_(spec),
          speeds_(speeds),
          elems_(elems),
          below_(at(tree.vertex_count())) {
        mark_framed();
        for (int id = tree.vertex_count() - 1; id >= 0; --id) {
            if (!tree.is_leaf(id)) pass(id);
            if (id != tree.root()) leave(id);
        }
        encode_at_root();
    }

    const Below& root() const { return below_.front(); }

  private:
    /// As Level::framed_down.
    void mark_framed() {
        for (const int id : tree_.inner_vertices()) {
            const bool above = id == tree_.root() || below_[at(tree_.vertex(id).parent)].framed;
            below_[at(id)].framed = above && spec_.down_codec != CodecId::exact &&
                                    spec_.choices.of(id).codec != CodecId::exact;
        }
    }

    void leave(int id) {
        Below& below = below_[at(id)];
        const LinkFigures link = uplink_figures(tree_, id);
        below.drain = std::max(below.drain, 1 / (link.gbytes_per_s * 1e3));
        below.latency_us += link.latency_us;
    }

    /// The exchanges of an inner vertex, up and down.
    void pass(int id) {
        Below all;
        all.most_share = 0;
        double second_latency_us = 0;
        for (const int child : tree_.children(id)) {
            const Below& branch = below_[at(child)];
            all.most_share = std::max(all.most_share, branch.most_share);
            all.least_share = std::min(all.least_share, branch.least_share);
            all.drain = std::max(all.drain, branch.drain);
            if (branch.longest.sum() > all.longest.sum()) all.longest = branch.longest;
            all.core_us = std::max(all.core_us, branch.core_us);
            second_latency_us =
                std::max(second_latency_us, std::min(all.latency_us, branch.latency_us));
            all.latency_us = std::max(all.latency_us, branch.latency_us);
        }
        const auto degree = static_cast<double>(tree_.children(id).size());
        const Parts here = exchange(id, all, all.latency_us + second_latency_us);
        Below& below = below_[at(id)];
        below.most_share = all.most_share / degree;
        below.least_share = all.least_share / degree;
        below.drain = all.drain / degree;
        below.latency_us = all.latency_us;
        below.longest = all.longest + here;
        below.core_us = all.core_us + here.core_us;
    }

    Parts exchange(int id, const Below& all, double message_latency_us) const {
        const VertexChoice choice = spec_.choices.of(id);
        const auto degree = static_cast<double>(tree_.children(id).size());
        const double part = (degree - 1) / degree;
        const int rounds = round_count(choice.exchange, static_cast<int>(degree));
        const CodecId down = below_[at(id)].framed ? spec_.down_codec : CodecId::exact;
        const double bytes =
            wire_bytes(spec_, choice.codec, elems_) + wire_bytes(spec_, down, elems_);
        Parts parts;
        parts.link_us = bytes * part * all.drain *
                        loss_of(speeds_, tree_, id, (degree - 1) / static_cast<double>(rounds));
        parts.latency_us = 2 * rounds * message_latency_us;
        const double moved = elems_ * all.most_share * part;
        const CodecSpeed& up = speeds_.of(choice.codec);
        parts.core_us =
            work_us(spec_, moved, up.decode_sum) + 4 * messages(id, all) * speeds_.message_us;
        if (choice.codec != CodecId::exact) parts.core_us += work_us(spec_, moved, up.encode);
        if (down != CodecId::exact) parts.core_us += work_us(spec_, moved, speeds_.of(down).decode);
        return parts;
    }

    /// Sent by one rank in one phase: one to every owner in another branch that it shares with.
    double messages(int id, const Below& all) const {
        double count = 0;
        for (const int child : tree_.children(id))
            count += std::clamp(all.most_share / below_[at(child)].least_share, 1.0,
                                static_cast<double>(tree_.vertex(child).leaf_count));
        return count - 1;
    }

    /// The owner encodes once and decodes its own.
    void encode_at_root() {
        Below& root = below_.front();
        if (!root.framed) return;
        const CodecSpeed& speed = speeds_.of(spec_.down_codec);
        const double owned = elems_ * root.most_share;
        const double us = work_us(spec_, owned, speed.encode) + work_us(spec_, owned, speed.decode);
        root.longest.core_us += us;
        root.core_us += us;
    }

    const Tree& tree_;
    const PlanSpec& spec_;
    const SpeedFigures& speeds_;
    double elems_;
    std::vector<Below> below_;
};

Bound largest_of(const Parts& parts) {
    if (parts.link_us >= parts.core_us && parts.link_us >= parts.latency_us) return Bound::link;
    return parts.core_us >= parts.latency_us ? Bound::core : Bound::latency;
}

void find_slowest_link(Forecast& forecast, const Tree& tree) {
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const double us =
            forecast.bytes_on_links[at(id)] / (uplink_figures(tree, id).gbytes_per_s * 1e3);
        if (us <= forecast.slowest_link_us) continue;
        forecast.slowest_link_us = us;
        forecast.slowest_link = id;
    }
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

Forecast forecast_tree(const Tree& tree, const PlanSpec& spec, const SpeedFigures& speeds) {
    Forecast forecast;
    forecast.bytes_on_links = expected_on_uplinks(tree, spec);
    if (spec.count_elems == 0 || tree.rank_count() == 1) return forecast;
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    forecast.chunks = (spec.count_elems + chunk - 1) / chunk;
    const double further = static_cast<double>(spec.count_elems) / static_cast<double>(chunk) - 1;
    const TreeWalk walk(tree, spec, speeds, static_cast<double>(chunk));
    take(forecast, walk.root().longest);
    find_slowest_link(forecast, tree);
    const double chunks = further + 1;
    forecast.core_total_us = walk.root().core_us * chunks;
    if (further <= 0) return forecast;
    const double link_us = forecast.slowest_link_us / chunks;
    const double waiting_us = walk.root().longest.sum() / speeds.chunks_in_flight;
    const double step_us = std::max({link_us, walk.root().core_us, waiting_us});
    forecast.total_us += further * step_us;
    if (further >= 1)
        forecast.bound = step_us == link_us               ? Bound::link
                         : step_us == walk.root().core_us ? Bound::core
                                                          : Bound::in_flight;
    return forecast;
}

FlatForecaster::FlatForecaster(const Tree& tree, const SpeedFigures& speeds)
    : tree_(tree), speeds_(speeds) {}

Forecast FlatForecaster::of_links(const std::vector<double>& bytes_up,
                                  const std::vector<double>& bytes_down) const {
    Forecast forecast;
    for (std::size_t id = 0; id < bytes_up.size(); ++id)
        forecast.bytes_on_links.push_back(std::max(bytes_up[id], bytes_down[id]));
    find_slowest_link(forecast, tree_);
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
            way_us += uplink_figures(tree_, lower).latency_us;
            lower = tree_.vertex(lower).parent;
        }
        latency_us = std::max(latency_us, way_us);
    }
    Forecast forecast = of_links(up, down);
    const CodecSpeed& speed = speeds_.of(codec);
    double core_us = work_us(call, elems, speed.decode_sum) + 4 * speeds_.message_us;
    if (codec != CodecId::exact)
        core_us += work_us(call, elems, speed.encode) + work_us(call, elems, speed.decode);
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
        to_rank[at(id)] += uplink_figures(tree_, id).latency_us;
        double& above = to_rank[at(tree_.vertex(id).parent)];
        above = std::max(above, to_rank[at(id)]);
    }
    Forecast forecast = of_links(links, links);
    const CodecSpeed& speed = speeds_.of(codec);
    const double moved = elems * (ranks - 1);
    double core_us = work_us(call, moved, speed.decode_sum) + 4 * (ranks - 1) * speeds_.message_us;
    if (codec != CodecId::exact)
        core_us += work_us(call, moved, speed.encode) + work_us(call, moved, speed.decode);
    const double loss = loss_of(speeds_, tree_, tree_.root(), ranks - 1);
    take(forecast, {forecast.slowest_link_us * loss, core_us, 4 * to_rank.front()});
    forecast.core_total_us = forecast.core_us;
    return forecast;
}

}  // namespace gradcoll
