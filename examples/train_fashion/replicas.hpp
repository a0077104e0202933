// train_fashion/replicas.hpp - checks whether the sums are right, and all ranks hold the same bits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mlp.hpp"

namespace train {

/// Returns FNV-1a over the bits of the values; not for untrusted data.
std::uint64_t hash_values(std::span<const float> values,
                          std::uint64_t start = 0xcbf29ce484222325ULL);

/// Returns a hash over all parameters' values.
std::uint64_t hash_weights(const std::vector<Parameter>& parameters);

/// Returns whether `value` is the same on every rank. Collective.
bool same_on_all_ranks(std::uint64_t value, MPI_Comm comm);

/// A SumCheck compares one gradient of the first step with MPI_Allreduce.
struct SumCheck {
    std::string name;
    std::size_t elements = 0;
    /// This is sqrt(sum (ours - theirs)^2 / sum theirs^2); 0 if both are 0.
    double relative_l2 = 0;
    /// This is the largest |ours - theirs| in units of what a different order of additions can
    /// cause, 2 (ranks - 1) 2^-24 * sum over ranks of |addend|: at most 1 for an exact sum (Higham,
    /// section 4.2).
    double order_bounds = 0;
    bool identical_bits = false;
};

/// SumChecker keeps what this rank puts into the sums, and compares the sums with MPI_Allreduce
/// afterwards.
class SumChecker {
  public:
    explicit SumChecker(const std::vector<Parameter>& parameters) : addends_(parameters.size()) {}

    /// Keeps the addend; called before the sum of parameter `index` starts.
    void keep(const Parameter& parameter, std::size_t index) {
        addends_[index] = parameter.gradient;
    }
    /// Compares after all sums. Collective over `comm`; the results are the same on all ranks up to
    /// their own sums.
    std::vector<SumCheck> compare(const std::vector<Parameter>& parameters, MPI_Comm comm) const;

  private:
    std::vector<std::vector<float>> addends_;
};

}  // namespace train
