// topology/sources/cluster/sources.hpp - the ways to learn how hosts are connected, and how to tell
// their files. For the table of sources alone.
#pragma once

#include "topology/files.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// All hosts below one vertex.
MakeTreeSource no_switches;

/// SLURM's addresses; where no host has one, SLURM's files, else an error.
MakeTreeSource slurm_source;
/// SLURM's addresses if they name switches, else as no_switches(). Nobody asked for them, so what
/// is wrong with them is a note.
MakeTreeSource automatic_source;

/// A file that fabric_from() reads.
MakeTreeSource fabric_source;
bool holds_fabric(const PathContent& content);

/// Measured, if the job has several hosts. The path of a cache file, which stands for the
/// measurement of a job that is not there, or nothing.
MakeTreeSource probe_source;
/// What a probe wrote down.
MakeTreeSource probe_cache_source;
bool holds_probe_cache(const PathContent& content);

}  // namespace gradcoll
