// row.hpp - one measured size. The columns are explained in osu-bench/README.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "summary.hpp"
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
    int batch = 0;
    Latency ours;
    Latency peer;
    Spread ratio;               ///< over the repeats, of peer time / our time
    double algbw_gbs = 0;       ///< size / time, 10^9 bytes a second
    double busbw_gbs = 0;       ///< algbw * 2(n-1)/n
    double wire_max_bytes = 0;  ///< bytes sent in a call by the rank that sends most
    double wire_sum_bytes = 0;  ///< bytes sent in a call by all ranks
    std::string path;           ///< "compressed", "tree" or "mpi" (passed to the MPI library)
    std::string pass_reason;
    std::optional<Verdict> verdict;       ///< with --check
    std::optional<Verdict> peer_verdict;  ///< with --check
    /// Counts, with --check and vectors on a device, the ranks whose result differs in any bit from
    /// the same call on vectors in host memory.
    std::optional<int> unlike_host_ranks;
};

/// Returns the ratio at each row's size.
inline std::vector<SizeRatio> ratios_of(const std::vector<Row>& rows) {
    std::vector<SizeRatio> ratios;
    for (const Row& row : rows) {
        ratios.push_back({row.size_bytes, row.ratio.median});
    }
    return ratios;
}

}  // namespace gradcoll::bench
