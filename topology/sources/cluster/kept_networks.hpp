// topology/sources/cluster/kept_networks.hpp - keeps what was measured between hosts for later
// communicators and jobs; and files in which a job keeps what it measured for later jobs of this
// user: in $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// Makes kept_network() of this process return the tree, which names hosts. With `in_file` later
/// processes of this user with the same hosts and MPI library find it, too: in a file in
/// $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll), which is replaced at once or not at all.
/// Thread safe.
void keep_network(const SwitchTree& tree, bool in_file);

/// Removes the tree again. Thread safe.
void forget_network(const SwitchTree& tree);

/// Returns the latest tree that covers all of these hosts, by name; nothing if names repeat. With
/// `in_file` those that earlier processes kept count, too; files that cannot be read or hold
/// something else are ignored. Thread safe.
std::optional<Switches> kept_network(std::span<const JobHost> hosts, bool in_file = true);

/// A KeptFile belongs to the jobs with one `key` and to this MPI library. If there is no folder for
/// it, it is always empty.
class KeptFile {
  public:
    KeptFile(std::string_view what, std::uint64_t key);

    const std::string& path() const { return path_; }
    /// Returns nothing if the file cannot be read.
    std::optional<std::string> text() const;
    /// Replaces the file at once or not at all. A failure is silent: the next job measures again.
    void write(const std::string& text) const;
    void remove() const;

  private:
    std::string path_;
};

}  // namespace gradcoll
