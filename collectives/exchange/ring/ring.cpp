// collectives/exchange/ring/ring.cpp - ring exchange: degree - 1 rounds, always from a branch to
// the next one. Each round has one message in and one out: no branch is hit by several senders at
// once. Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009.
#include "collectives/exchange/exchange_row.hpp"

namespace gradcoll {
namespace ring {
namespace {

/// Returns the ring as `branch` sees it; `lead` is how far the parts are ahead of the allgather's.
std::vector<Round> rounds(int degree, int branch, int lead) {
    const auto wrap = [degree](int i) { return ((i % degree) + degree) % degree; };
    std::vector<Round> all;
    for (int step = 0; step + 1 < degree; ++step) {
        const int part = branch - step - lead;
        all.push_back({{{wrap(branch + 1), {wrap(part)}}}, {{wrap(branch - 1), {wrap(part - 1)}}}});
    }
    return all;
}

/// Returns the rounds. Part p starts at branch p + 1 and collects one contribution a round until it
/// reaches branch p.
std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    return rounds(degree, branch, 1);
}

/// Returns the rounds. Part p starts at branch p and is passed on until all have it.
std::vector<Round> allgather_rounds(int degree, int branch) {
    return rounds(degree, branch, 0);
}

int one_less(int degree) {
    return degree - 1;
}

}  // namespace
}  // namespace ring

const ExchangeRow& ring_exchange() {
    static constexpr ExchangeRow row{
        .number = Exchange{1},
        .name = "ring",
        .text = "branches pass parts to their neighbour: many rounds, one sender each",
        .up = ring::reduce_scatter_rounds,
        .down = ring::allgather_rounds,
        .rounds_up = ring::one_less,
        .to_next_only = true,
        .encodings_up = ring::one_less,
        .automatic = true};
    return row;
}

}  // namespace gradcoll
