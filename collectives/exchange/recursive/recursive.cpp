// collectives/exchange/recursive/recursive.cpp - recursive halving on the way up, doubling on the
// way down: ceil(log2(degree)) rounds with one message in and one out, for every degree. Each
// branch sends and receives degree - 1 parts a phase, no more than a direct exchange or a ring.
//
// If the degree is a power of two, partners at distance degree/2, degree/4 ... swap halves (Thakur,
// Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
// 2005). For any other degree no branch is folded into another; the distances are ceil(degree/2),
// half of that rounded up and so on, and branches send round the circle instead of to a partner
// (Traeff, "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234,
// 2024).
#include <bit>

#include "collectives/exchange/exchange_row.hpp"

namespace gradcoll {
namespace recursive {
namespace {

bool is_power_of_two(int degree) {
    return std::has_single_bit(static_cast<unsigned>(degree));
}

/// Returns `count` parts from `first` on, round the circle.
std::vector<int> parts_from(int first, int count, int degree) {
    std::vector<int> parts;
    for (int i = 0; i < count; ++i) parts.push_back((first + i) % degree);
    return parts;
}

/// Makes a round of halving. Partners differ in one bit of their numbers: each keeps the half that
/// its own number is in.
Round halving(int degree, int branch, int half) {
    const int partner = branch ^ half;
    const auto half_of = [&](int one) { return parts_from(one / half * half, half, degree); };
    return {{{partner, half_of(partner)}}, {{partner, half_of(branch)}}};
}

/// Makes a round of the circle. The branch still adds up `held` parts from its own on; the last
/// ones go `half` branches further.
Round circle(int degree, int branch, int held, int half) {
    const int to = (branch + half) % degree;
    const int from = (branch + degree - half) % degree;
    return {{{to, parts_from(to, held - half, degree)}},
            {{from, parts_from(branch, held - half, degree)}}};
}

/// Returns the rounds. A branch sends what it does not need itself, and never touches it again.
std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    std::vector<Round> rounds;
    for (int held = degree; held > 1;) {
        const int half = (held + 1) / 2;
        rounds.push_back(is_power_of_two(degree) ? halving(degree, branch, half)
                                                 : circle(degree, branch, held, half));
        held = half;
    }
    return rounds;
}

int round_count(int degree) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(degree - 1)));
}

}  // namespace
}  // namespace recursive

const ExchangeRow& recursive_exchange() {
    static constexpr ExchangeRow row{
        .number = Exchange{2},
        .name = "recursive",
        .text = "branches swap halves, quarters and so on: few rounds, one sender each",
        .up = recursive::reduce_scatter_rounds,
        .rounds_up = recursive::round_count,
        .encodings_up = recursive::round_count,
        .automatic = true};
    return row;
}

}  // namespace gradcoll
