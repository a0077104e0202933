// tune/measures.hpp - the options of the command line; and the measurements, each of which fills
// its part of the tuning: ranks measure together while the others sleep, and results are medians of
// the slowest rank's times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"
#include "command_line/command_line.hpp"

namespace gradcoll::tune {

struct Options {
    std::string out;  ///< the tuning file; empty: only the summary
    bool quick = false;
    bool progress = false;  ///< shown even if stderr is no terminal
    /// Returns the most bytes at work on a host at a time: by then the end of the caches shows.
    std::size_t most_bytes() const { return std::size_t{quick ? 1U : 256U} << 20U; }
    /// Returns how often everything is measured, so that no disturbance meets all measurements of a
    /// figure.
    int passes() const { return quick ? 1 : 3; }
    double seconds_a_point() const { return quick ? 0.002 : 0.02; }
};

using CommandLine = gradcoll::CommandLine<Options>;

/// A Group is the members among the ranks of `everybody`, in their order. Owns a communicator.
class Group {
  public:
    /// Makes a group. Collective over `everybody`.
    Group(MPI_Comm everybody, bool member);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    bool member() const { return comm_ != MPI_COMM_NULL; }
    /// Returns the members' communicator; null for others.
    MPI_Comm comm() const { return comm_; }
    int size() const { return size_; }  ///< the same on every rank

    /// Runs `work` on the members, while the others sleep. Collective over everybody.
    void run(const std::function<void()>& work) const;

  private:
    MPI_Comm everybody_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int size_ = 0;
};

/// Returns the microseconds of one call of `work`, which all ranks of `comm` make together: the
/// median over repeats of the slowest rank's time. Runs for about `seconds`. The same on all ranks.
double median_us(MPI_Comm comm, double seconds, const std::function<void()>& work);

/// Returns a speed even if the work takes no time.
inline double gbytes_per_s(double bytes, double us) {
    return bytes / 1e3 / std::max(us, 1e-3);
}

/// Returns the median; 0 if there are no values.
double median(std::vector<double> values);

/// Returns working sets to measure at, ascending, in powers of four, up to `most`.
std::vector<double> working_sets(std::size_t least, std::size_t most);

/// HostPlace is about this rank's host.
struct HostPlace {
    int rank = 0;   ///< among the host's ranks
    int ranks = 1;  ///< ranks of the largest host of the job
    int hosts = 1;
    int cores = 1;  ///< cores of the smallest host
};

/// Measures codecs, copies and sums, one core of every rank of `group` at a time. Collective over
/// everybody. Errors: those of codec_for.
gradcoll::Status measure_kernels(const Options& options, const Group& group,
                                 gradcoll::Tuning& tuning);

/// Measures packing without loss of what a codec makes of usual values, as measure_kernels() does.
/// Errors: those of make_packer; internal.
gradcoll::Status measure_packings(const Options& options, const Group& group,
                                  gradcoll::Tuning& tuning);

/// Measures latency and bandwidth between the branches of every level of the tree that the ranks
/// get, by kind of vertex, and message and turn costs. Collective. Errors: those of discover_tree.
gradcoll::Status measure_links(const Options& options, MPI_Comm everybody, const HostPlace& place,
                               gradcoll::Tuning& tuning);

/// Measures exact allreduces of the ranks of `group`, which are all of one host. Collective over
/// everybody.
void measure_one_host(const Options& options, const Group& group, gradcoll::Tuning& tuning);

/// Combines several measurements of everything: the fastest of each, since a disturbed machine is
/// slower and never faster; the median of figures that are differences of times.
gradcoll::Tuning together(const std::vector<gradcoll::Tuning>& passes);

/// Returns what was found, for people.
std::string summary_of(const gradcoll::Tuning& tuning);

}  // namespace gradcoll::tune
