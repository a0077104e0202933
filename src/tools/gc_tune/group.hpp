// gc_tune/group.hpp - ranks that measure together while the others are away from the cores, and
// medians of times that all of them need.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/mpi/mpi.hpp"

namespace gc_tune {

/// The members among the ranks of `everybody`, in their order. Owns a communicator of its own.
class Group {
  public:
    /// Collective over `everybody`.
    Group(MPI_Comm everybody, bool member);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    bool member() const { return comm_ != MPI_COMM_NULL; }
    /// Of the members; null for others.
    MPI_Comm comm() const { return comm_; }
    int size() const { return size_; }  ///< on every rank

    /// Collective over everybody: members run it, the others sleep until all of them have.
    void run(const std::function<void()>& work) const;

  private:
    MPI_Comm everybody_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int size_ = 0;
};

/// Microseconds of one call of `work`, which all ranks of `comm` make together: the median over
/// repeats of the time that the slowest rank needs. Runs for about `seconds`. The same on all
/// ranks.
double median_us(MPI_Comm comm, double seconds, const std::function<void()>& work);

/// The median; 0 of nothing.
double median(std::vector<double> values);

/// Working sets to measure at, ascending, in powers of four, up to `most`.
std::vector<double> working_sets(std::size_t least, std::size_t most);

}  // namespace gc_tune
