// gc_tune/measures.hpp - what is measured, each into its place in the tuning; by ranks that measure
// together while the others are away from the cores, as medians of times that all of them need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"
#include "options.hpp"

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

/// Work that takes no time still has a speed.
inline double gbytes_per_s(double bytes, double us) {
    return bytes / 1e3 / std::max(us, 1e-3);
}

/// The median; 0 of nothing.
double median(std::vector<double> values);

/// Working sets to measure at, ascending, in powers of four, up to `most`.
std::vector<double> working_sets(std::size_t least, std::size_t most);

/// Of this rank's host.
struct HostPlace {
    int rank = 0;   ///< among the host's ranks
    int ranks = 1;  ///< of the largest host of the job
    int hosts = 1;
    int cores = 1;  ///< of the smallest host
};

/// Codecs, copies and sums, one core of every rank of `group` at a time. Collective over everybody.
/// Errors: those of codec_for.
gradcoll::Status measure_kernels(const Options& options, const Group& group,
                                 gradcoll::Tuning& tuning);

/// Packing without loss, of what a codec makes of usual values, likewise. Errors: those of
/// make_packer; internal.
gradcoll::Status measure_packings(const Options& options, const Group& group,
                                  gradcoll::Tuning& tuning);

/// Latency and bandwidth between the branches of every level of the tree that the ranks get, by
/// kind of vertex; message and turn costs. Collective. Errors: those of discover_tree.
gradcoll::Status measure_links(const Options& options, MPI_Comm everybody, const HostPlace& place,
                               gradcoll::Tuning& tuning);

/// Exact allreduces of the ranks of `group`, which are all of one host. Collective over everybody.
void measure_one_host(const Options& options, const Group& group, gradcoll::Tuning& tuning);

/// Of several measurements of everything: the fastest of each, as a disturbed machine is slower and
/// never faster; the median of figures that are differences of times.
gradcoll::Tuning together(const std::vector<gradcoll::Tuning>& passes);

/// What was found, for people.
std::string summary_of(const gradcoll::Tuning& tuning);

}  // namespace gc_tune
