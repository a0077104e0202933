// collectives/exchange/recursive/recursive.hpp - recursive halving on the way up, doubling on the
// way down: ceil(log2(degree)) rounds with one message in and one out, for every degree. Each
// branch sends and receives degree - 1 parts a phase, no more than a direct exchange or a ring.
//
// A power of two: partners at distance degree/2, degree/4 ... swap halves (Thakur, Rabenseifner,
// Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005). Any other
// degree: no branch is folded into another; the distances are ceil(degree/2), half of that rounded
// up and so on, and branches send round the circle instead of to a partner (Traeff, "Optimal,
// Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234, 2024).
#pragma once

#include <vector>

#include "collectives/exchange/round.hpp"

namespace gradcoll::recursive {

/// A branch sends what it does not need itself and never again touches it.
std::vector<Round> reduce_scatter_rounds(int degree, int branch);
/// The same backwards: parts return on the ways by which their contributions went.
std::vector<Round> allgather_rounds(int degree, int branch);
int round_count(int degree);

}  // namespace gradcoll::recursive
