// row.hpp - one measured size. The columns are explained in osu-bench/README.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "timing.hpp"
#include "verify.hpp"

namespace gradcoll::bench {

struct Row {
    std::string codec;
    std::string tree_used;  ///< the expression of the tree in force
    int ranks = 0;
    std::size_t size_bytes = 0;
    std::size_t count = 0;
    int iterations = 0;
    Latency ours;
    Latency peer;
    double ratio = 0;           ///< median over the repeats of peer time / our time
    double algbw_gbs = 0;       ///< size / time, 10^9 bytes a second
    double busbw_gbs = 0;       ///< algbw * 2(n-1)/n
    double wire_max_bytes = 0;  ///< sent a call by the rank that sends most
    double wire_sum_bytes = 0;  ///< sent a call by all ranks
    std::string path;           ///< "compressed", "tree" or "mpi" (passed to the MPI library)
    std::string pass_reason;
    std::optional<Verdict> verdict;  ///< with --check
};

}  // namespace gradcoll::bench
