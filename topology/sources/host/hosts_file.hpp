// topology/sources/host/hosts_file.hpp - says what describes which host: a file of lines
// `host-name-or-* synthetic-string-or-xml-path`, or a folder of HOSTNAME.xml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// A HostsFile looks a host up by its name, then without its domain; a name without domain also
/// finds the only description whose name without domain it is; then `*`, which stands for every
/// other host.
class HostsFile {
  public:
    /// Parses the lines. `#` starts a comment at the beginning of a line; empty lines are skipped.
    /// An XML path that is not absolute is relative to the folder of the hosts file. `path` is for
    /// messages and relative paths. Errors: invalid_argument with file and line.
    static Result<HostsFile> parse(std::string_view text, const std::string& path);

    /// Reads a file that parse() accepts, or a folder, in which every file that ends in .xml, but
    /// not in .diff.xml (which netloc writes), describes the host of its name. Errors: io; those of
    /// parse(); invalid_argument if the folder holds none.
    static Result<HostsFile> read(const std::string& path);

    /// Returns the host's description, as described_cores() accepts it; nothing if there is none.
    std::optional<std::string> description_of(const std::string& host_name) const;

    bool is_of_folder() const { return is_of_folder_; }

    /// Returns the hosts that have a description of their own, in no particular order.
    std::vector<std::string> host_names() const;

  private:
    static Result<HostsFile> read_folder(const std::string& path);
    Status add_line(std::string_view line, int number);
    /// Returns false if the host was added before.
    bool add(const std::string& host, std::string description);

    std::string path_;
    bool is_of_folder_ = false;
    std::unordered_map<std::string, std::string> description_of_;
    std::unordered_map<std::string, std::vector<std::string>> hosts_without_domain_;
};

}  // namespace gradcoll
