// collectives/exchange/ring/ring.cpp - ring exchange from branch to branch.
#include "collectives/exchange/ring/ring.hpp"

namespace gradcoll::ring {
namespace {

/// The ring seen from `branch`; `lead` is how far ahead of the allgather's the parts are that go
/// round.
std::vector<Round> rounds(int degree, int branch, int lead) {
    const auto wrap = [degree](int i) { return ((i % degree) + degree) % degree; };
    std::vector<Round> all;
    for (int step = 0; step + 1 < degree; ++step) {
        const int part = branch - step - lead;
        all.push_back({{{wrap(branch + 1), {wrap(part)}}}, {{wrap(branch - 1), {wrap(part - 1)}}}});
    }
    return all;
}

}  // namespace

std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    return rounds(degree, branch, 1);
}

std::vector<Round> allgather_rounds(int degree, int branch) {
    return rounds(degree, branch, 0);
}

}  // namespace gradcoll::ring
