// verify.hpp - checks how far a result is from the exact one, and whether all ranks hold the same
// bits.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "element.hpp"

namespace gradcoll::bench {

struct Claim {
    const Element& element;
    MPI_Op op;  ///< MPI's own op, which is computed in fp64
    std::size_t count;
    const void* input;   ///< this rank's vector
    const void* result;  ///< what the call left on this rank
    const double* mean;  ///< compared instead of `result` if not null: the mean of several results
    bool exact;          ///< the codec loses nothing, so the reduction-order bound must hold
};

struct Verdict {
    double max_abs_err = 0;  ///< the worst over elements and ranks
    double rel_l2_err = 0;   ///< |result - reference| / |reference|, the worst over ranks
    int wrong_ranks = 0;     ///< ranks whose result differs from rank 0's in any bit
    /// A verdict passes if no rank is wrong, and every error is within the bound: for exact sums 2
    /// n u sum(|x_i|) (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2: n
    /// ranks, unit roundoff u), for lossy codecs any finite number.
    bool passed = true;
};

/// Verifies a result. Collective; the same verdict on every rank. The reference is an fp64
/// MPI_Allreduce, block by block: memory does not grow with the count.
Verdict verify(const Claim& claim, MPI_Comm comm);

}  // namespace gradcoll::bench
