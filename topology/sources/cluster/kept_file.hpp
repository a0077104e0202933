// topology/sources/cluster/kept_file.hpp - files with what a job measured, for later ones of this
// user: in $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradcoll {

/// One of what the jobs that `key` tells apart measured, with this MPI library. As good as none if
/// there is no folder for it.
class KeptFile {
  public:
    KeptFile(std::string_view what, std::uint64_t key);

    const std::string& path() const { return path_; }
    /// Nothing if it cannot be read.
    std::optional<std::string> text() const;
    /// At once or not at all. Nobody is told if it fails: the next job measures again.
    void write(const std::string& text) const;
    void remove() const;

  private:
    std::string path_;
};

}  // namespace gradcoll
