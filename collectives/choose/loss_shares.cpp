// collectives/choose/loss_shares.cpp - decides which encodings get more of what a call may lose
// (gc_tolerance): those whose bytes cross the links that are busy longest.
//
// If each encoding had one of m parts with equal shares, one that gets k of n parts takes log2(k m
// / n) bits a value less. So the links that are busy longest are done sooner, and all others later:
// as long as those do not become the busiest, the call is done sooner. The way down crosses all of
// them in one encoding, however many the way up has: so it may get more than these.
#include "collectives/choose/policy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "collectives/build/merge.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

constexpr double bits_with_equal_shares = 8;    // bits a value, of usual data at usual tolerances
constexpr double nearly_busiest = 0.95;         // part of the busiest link's time
constexpr double least_gain_of_dealing = 0.03;  // a smaller gain is not worth another codec

/// SharedLoss computes what `spec` puts on links if encodings are as long as their shares allow.
class SharedLoss {
  public:
    SharedLoss(const Tree& tree, const Tuning& tuning, const PlanSpec& spec)
        : tree_(tree),
          tuning_(tuning),
          spec_(spec),
          loads_(expected_loads(tree, spec)),
          framed_(framed_down(tree, spec)),
          equal_parts_(loss_parts_of(tree, spec).together) {}

    /// Returns, by vertex, whether its exchange sends nearly as long as the one that sends longest.
    std::vector<char> busiest_exchanges() const {
        const std::vector<double> bytes = bytes_with(spec_);
        const double most_us = busiest_link(tree_, tuning_, bytes).us;
        std::vector<char> is_busy(bytes.size(), 0);
        for (int id = 1; id < tree_.vertex_count(); ++id) {
            const double bytes_a_us = uplink_figures(tree_, tuning_, id).gbytes_per_s * 1e3;
            if (bytes[at(id)] / bytes_a_us >= nearly_busiest * most_us)
                is_busy[at(loads_[at(id)].vertex)] = 1;
        }
        return is_busy;
    }

    /// Returns the time of the busiest link, if the codecs of the same plan have these parts.
    double busiest_us(const PlanSpec& dealt) const {
        return busiest_link(tree_, tuning_, bytes_with(dealt)).us;
    }

  private:
    double bits(CodecId codec, std::int64_t all_parts) const {
        const double share = static_cast<double>(loss_parts_of(codec) * equal_parts_) /
                             static_cast<double>(all_parts);
        return std::max(bits_with_equal_shares - std::log2(share), 0.0);
    }
    double usual_bits(CodecId codec) const {
        constexpr std::int64_t elems = 1 << 20;
        return 8 * usual_bytes(codec, spec_.elem_bytes, elems) / elems;
    }
    double bits_of(CodecId codec, std::int64_t all_parts) const {
        return shortens_with_tolerance(codec) ? bits(codec, all_parts) : usual_bits(codec);
    }

    /// Returns the bytes over each vertex's uplink.
    std::vector<double> bytes_with(const PlanSpec& dealt) const {
        const std::int64_t all_parts = loss_parts_of(tree_, dealt).together;
        std::vector<ExpectedLoad> loads = loads_;
        for (std::size_t id = 1; id < loads.size(); ++id) {
            ExpectedLoad& load = loads[id];
            const bool is_framed = framed_[at(load.vertex)] != 0;
            // A single exchange sends one way only.
            const auto both = [&](const PlanSpec& spec, auto bits_of_codec) {
                const VertexChoice choice = spec.choices.of(load.vertex);
                const double up = bits_of_codec(choice.codec);
                if (choice.exchange == Exchange::single) return up;
                return up + bits_of_codec(is_framed ? spec.down_codec : CodecId::exact);
            };
            const double counted = both(spec_, [&](CodecId codec) { return usual_bits(codec); });
            load.here *=
                both(dealt, [&](CodecId codec) { return bits_of(codec, all_parts); }) / counted;
        }
        return sums_of(loads);
    }

    const Tree& tree_;
    const Tuning& tuning_;
    const PlanSpec& spec_;
    std::vector<ExpectedLoad> loads_;
    std::vector<char> framed_;
    std::int64_t equal_parts_;
};

/// Returns the codec, which has one part, with these parts, or itself if it cannot have them.
CodecId with_parts(CodecId codec, int parts) {
    if (parts == 1 || !shortens_with_tolerance(codec)) return codec;
    const Result<CodecId> dealt = with_loss_parts(codec, parts);
    return dealt.ok() ? *dealt : codec;
}

/// Gives parts to the busiest exchanges, and to the way down, which crosses all links.
PlanSpec with_parts_at(const Tree& tree, PlanSpec spec, const std::vector<char>& busiest, int parts,
                       int parts_down) {
    spec.down_codec = with_parts(spec.down_codec, parts_down);
    std::vector<VertexChoice> choices(spec.choices.begin(), spec.choices.end());
    for (const int vertex : tree.inner_vertices()) {
        VertexChoice& choice = choices[at(vertex)];
        if (is_merged(tree, spec.choices, vertex))
            choice.codec = choices[at(tree.vertex(vertex).parent)].codec;
        else if (busiest[at(vertex)] != 0)
            choice.codec = with_parts(choice.codec, parts);
    }
    spec.choices = std::move(choices);
    return spec;
}

bool may_be_dealt(const Tree& tree, const PlanSpec& spec) {
    if (spec.collective != Collective::allreduce || spec.builder != Builder::flexreduce ||
        spec.count_elems == 0 || spec.choices.empty() || !knows_links(tree))
        return false;
    return std::any_of(
               spec.choices.begin(), spec.choices.end(),
               [](const VertexChoice& choice) { return shortens_with_tolerance(choice.codec); }) &&
           loss_parts_of(tree, spec).largest == 1;
}

}  // namespace

void deal_out_loss(const Tree& tree, const Tuning& tuning, PlanSpec& spec) {
    if (!may_be_dealt(tree, spec)) return;
    const SharedLoss loss(tree, tuning, spec);
    const std::vector<char> busiest = loss.busiest_exchanges();
    double least_us = (1 - least_gain_of_dealing) * loss.busiest_us(spec);
    PlanSpec best = spec;
    const auto consider = [&](int parts, int parts_down) {
        PlanSpec dealt = with_parts_at(tree, spec, busiest, parts, parts_down);
        const double us = loss.busiest_us(dealt);
        if (us >= least_us) return;
        least_us = us;
        best = std::move(dealt);
    };
    for (const int parts_down : loss_part_choices) {
        consider(1, parts_down);
        for (const int parts : loss_part_choices)
            if (parts <= parts_down) consider(parts, parts_down);
    }
    spec = std::move(best);
}

}  // namespace gradcoll
