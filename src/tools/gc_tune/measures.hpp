// gc_tune/measures.hpp - what is measured, each into its place in the tuning.
#pragma once

#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"
#include "group.hpp"
#include "options.hpp"

namespace gc_tune {

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

/// Latency and bandwidth between the branches of every level of the tree that the ranks get, by
/// kind of vertex; message and turn costs. Collective. Errors: those of discover_tree.
gradcoll::Status measure_links(const Options& options, MPI_Comm everybody, const HostPlace& place,
                               gradcoll::Tuning& tuning);

/// Exact allreduces of the ranks of `group`, which are all of one host. Collective over everybody.
void measure_one_host(const Options& options, const Group& group, gradcoll::Tuning& tuning);

/// What was found, for people.
std::string summary_of(const gradcoll::Tuning& tuning);

}  // namespace gc_tune
