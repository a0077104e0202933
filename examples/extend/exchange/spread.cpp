// spread - in round r every branch b sends to branch b + r, round the circle: each round has one
// message in and one out, and no partial sums travel.
#include "collectives/exchange/exchange_row.hpp"

namespace gradcoll {
namespace {

/// Returns the way up: what a branch has of another branch's part goes straight to that branch.
std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    std::vector<Round> rounds;
    for (int r = 1; r < degree; ++r) {
        const int to = (branch + r) % degree;
        const int from = (branch + degree - r) % degree;
        rounds.push_back({{{to, {to}}}, {{from, {branch}}}});
    }
    return rounds;
}

int one_less(int degree) {
    return degree - 1;
}
int once(int /*degree*/) {
    return 1;
}

}  // namespace

const ExchangeRow& spread_exchange() {
    static constexpr ExchangeRow row{
        .number = Exchange{first_outside_number},
        .name = "spread",
        .text =
            "branches send their parts to one branch after another: many rounds, one sender each",
        .up = reduce_scatter_rounds,
        .rounds_up = one_less,
        .encodings_up = once};
    return row;
}

}  // namespace gradcoll
