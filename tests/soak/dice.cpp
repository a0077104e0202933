#include "soak/dice.hpp"

#include <algorithm>
#include <numeric>

namespace gradcoll::soak {
namespace {

/// Returns the ranks [first, last) of `order` as one vertex, cut into branches at random places.
std::string subtree(Dice& dice, const std::vector<int>& order, std::size_t first,
                    std::size_t last) {
    if (last - first == 1 && !dice.once_in(5)) return std::to_string(order[first]);
    std::string text = "(";
    while (first < last) {
        const std::size_t length = last - first == 1 ? 1 : 1 + dice.below(last - first);
        if (text.size() > 1) text += ' ';
        // A branch with all the rest would repeat the vertex.
        const bool whole = text.size() == 1 && length == last - first;
        if (length == 1 || whole) {
            text += std::to_string(order[first]);
            ++first;
        } else {
            text += subtree(dice, order, first, first + length);
            first += length;
        }
    }
    return text + ")";
}

}  // namespace

std::size_t rolled_bytes(Dice& dice) {
    const std::size_t die = dice.below(1000);
    if (die < 550) return dice.below(300);
    const std::size_t most = die < 800 ? 12 : die < 965 ? 16 : die < 997 ? 20 : 23;
    const std::size_t power = std::size_t{1} << (6 + dice.below(most - 5));
    return dice.once_in(3) ? power + dice.below(power) : power - 16 + dice.below(33);
}

std::string rolled_tree(Dice& dice, int rank_count) {
    if (dice.once_in(4)) return dice.once_in(2) ? "auto" : "flat";
    std::vector<int> order(static_cast<std::size_t>(rank_count));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1 && rank_count > 2; --i)
        std::swap(order[i - 1], order[dice.below(i)]);
    const std::string tree = subtree(dice, order, 0, order.size());
    return tree.front() == '(' ? tree : "(" + tree + ")";
}

}  // namespace gradcoll::soak
