// topology/sources/cluster/kept_file.hpp - files in which a job keeps what it measured for later
// jobs of this user: in $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradcoll {

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
