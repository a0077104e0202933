// collectives/plan/overlay.cpp - counts the cuts of an overlay, shape by shape.
#include "collectives/plan/partition.hpp"

#include <algorithm>
#include <unordered_set>

namespace gradcoll {
namespace {

/// This bound keeps products with a number of branches within 64 bits.
constexpr std::int64_t most_counted = std::int64_t{1} << 32;

/// Counts says, by shape, how the overlay inside cuts the vector.
struct Counts {
    std::int64_t intervals = 1;
    std::int64_t pieces = 1;  ///< after the exchange, with pieces of one rank joined
    double most_share = 1;  ///< the largest part of the vector that one rank has after the exchange
    double most_cut = 0;    ///< like most_cut_pieces(), for the vertices of the subtree
};

class Counting {
  public:
    Counting(const Tree& tree, std::int64_t granules)
        : tree_(tree), most_(std::clamp<std::int64_t>(granules, 1, most_counted)) {
        const auto shapes = tree.vertex_of_shape();
        counts_.resize(shapes.size());
        for (std::size_t shape = 1; shape < shapes.size(); ++shape)
            counts_[shape] = of(tree.children(shapes[shape]));
    }

    const std::vector<Counts>& by_shape() const { return counts_; }

  private:
    const Counts& at(int vertex) const {
        return counts_[static_cast<std::size_t>(tree_.vertex(vertex).shape)];
    }

    Counts of(std::span<const int> branches) const {
        const auto degree = static_cast<std::int64_t>(branches.size());
        std::unordered_set<int> shapes;
        std::int64_t cuts = 0;
        for (const int branch : branches)
            if (shapes.insert(tree_.vertex(branch).shape).second) cuts += at(branch).pieces - 1;
        Counts all;
        all.intervals = std::min(most_, cuts + 1);
        const std::int64_t joined = shapes.size() > 1 ? cuts : 0;
        all.pieces = std::min(most_, (cuts + 1) * degree - joined);
        all.most_share = 0;
        for (const int branch : branches) {
            const Counts& below = at(branch);
            const double further =
                std::max(0.0, below.most_share * static_cast<double>(all.intervals) - 1);
            all.most_share =
                std::max(all.most_share, below.most_share / static_cast<double>(degree));
            all.most_cut =
                std::max(all.most_cut, below.most_cut + further * static_cast<double>(degree - 1));
        }
        return all;
    }

    const Tree& tree_;
    std::int64_t most_;
    std::vector<Counts> counts_;
};

}  // namespace

std::vector<char> dealt_shapes(const Tree& tree) {
    const Counting counting(tree, most_counted);
    std::vector<char> dealt;
    for (const Counts& counts : counting.by_shape())
        dealt.push_back(counts.intervals > most_overlay_intervals ? 1 : 0);
    return dealt;
}

double most_cut_pieces(const Tree& tree, std::int64_t granules) {
    return Counting(tree, granules).by_shape().back().most_cut;
}

}  // namespace gradcoll
